// The tables that a run shows at its end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/outcome.hpp"

namespace reduce_bench {

/// One block per backend, operation, operator, type and distributions: a row per variant and
/// parameters, a column per size, or per number of buckets (at most six), cells GB/s and the share
/// of the read ceiling. Blocks of floats have one column more: the largest error of the row's points
/// that are right, in units of the last place, each that of its result nearest to its bound. Rows are
/// sorted by the time at the largest size; a result with a documented defect comes last, unranked.
/// Points that are not done are left out.
std::string results_table(const std::vector<std::optional<FinishedPoint>>& points);

/// Why points are not ok: every status and reason once, with its count and one example.
std::string problems_text(const std::vector<std::optional<FinishedPoint>>& points);

}  // namespace reduce_bench
