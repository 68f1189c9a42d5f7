// Whether tests can expect huge pages of this machine.
#pragma once

#include <algorithm>
#include <fstream>
#include <string>

namespace reduce_bench {

/// Why the system gives no huge pages to memory that asks for them and is touched; empty where it
/// does.
inline std::string why_no_huge_pages() {
  const std::string folder = "/sys/kernel/mm/transparent_hugepage/";
  for (const std::string name : {"enabled", "defrag"}) {
    std::ifstream file(folder + name);
    std::string line;
    if (!std::getline(file, line)) return "this system has no " + folder + name;
    // The setting in force stands in brackets.
    const std::string chosen = line.substr(std::min(line.find('['), line.size()));
    if (chosen.starts_with("[never]") || chosen.starts_with("[defer]"))
      return folder + name + " is " + chosen.substr(0, chosen.find(']') + 1);
  }
  return {};
}

}  // namespace reduce_bench
