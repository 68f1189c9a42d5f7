// The results file that lies where a run is to write its own.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "common/document.hpp"
#include "plan/plan.hpp"

namespace reduce_bench {

struct OlderResult {
  std::size_t points = 0;
  /// Whether it is of the same configuration, and all of its points are planned again.
  bool of_this_plan = false;
};

/// Nothing where the file does not exist or is empty.
std::optional<OlderResult> older_result(const std::filesystem::path& file, const Config& config,
                                        const std::vector<Point>& plan);

/// Whether the document may take the place of the file without a loss: it holds every point of it
/// as it is there, as a resumed run holds what was measured before.
bool holds_all_of(const Json& document, const std::filesystem::path& file);

}  // namespace reduce_bench
