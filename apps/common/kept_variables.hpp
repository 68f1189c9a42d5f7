// Variables of the environment that a foreign library may spoil.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace reduce_bench {

/// Puts the variables back, when it is left, as they were when it was made. Those that were not set
/// stay as they are.
class KeptVariables {
 public:
  KeptVariables(std::initializer_list<const char*> names) {
    for (const char* const name : names)
      if (const char* const value = std::getenv(name)) kept_.emplace_back(name, value);
  }
  ~KeptVariables() {
    for (const auto& [name, value] : kept_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  KeptVariables(const KeptVariables&) = delete;
  KeptVariables& operator=(const KeptVariables&) = delete;

 private:
  std::vector<std::pair<std::string, std::string>> kept_;
};

}  // namespace reduce_bench
