// Which change of a variant's time counts (configs/schema/thresholds.schema.json).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plan/config.hpp"

namespace reduce_bench {

struct Thresholds {
  struct Limit {
    std::vector<std::string> variants;  ///< globs
    double threshold = 0;
  };
  double threshold = 0.03;  ///< of what no limit matches; 0.03 is 3 %
  std::vector<Limit> limits;

  /// The first limit that matches decides.
  double of(const std::string& variant) const;
};

/// Reads and checks a threshold file. Throws UsageError that names the file, the JSON pointer, what
/// was found and what is allowed.
Thresholds read_thresholds(const std::filesystem::path& file);

/// The same from parsed JSON; `name` stands for the file in messages.
Thresholds parse_thresholds(const Json& document, const std::string& name);

}  // namespace reduce_bench
