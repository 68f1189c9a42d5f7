#include "common/cpu_model.hpp"

#include <fstream>
#include <string_view>
#include <utility>

namespace reduce_bench {

std::string cpu_model_in(std::istream& cpuinfo) {
  std::string implementer, part;
  for (std::string line; std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string_view before = std::string_view(line).substr(0, colon);
    const std::string_view key = before.substr(0, before.find_last_not_of(" \t") + 1);
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    if (start == std::string::npos) continue;
    std::string value = line.substr(start);
    if (key == "model name") return value;
    // The first core's: others may be of another design.
    if (key == "CPU implementer" && implementer.empty()) implementer = std::move(value);
    else if (key == "CPU part" && part.empty()) part = std::move(value);
  }
  if (implementer.empty() || part.empty()) return "unknown";
  return "ARM " + implementer + " " + part;
}

std::string cpu_model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  return cpu_model_in(cpuinfo);
}

}  // namespace reduce_bench
