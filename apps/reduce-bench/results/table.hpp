// The terminal table of a run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plan/config.hpp"

namespace reduce_bench {

/// One block per backend, operation, operator, type and distributions: a row per variant and
/// parameters, a column per size, or per number of buckets (at most six), cells GB/s and the share
/// of the read ceiling. Rows are sorted by the time at the largest size; a result with a documented
/// defect comes last, unranked. `points` are entries of the results document.
std::string results_table(const std::vector<Json>& points);

/// Why points are not ok: each distinct status and reason with its count and one example.
std::string problems_text(const std::vector<Json>& points);

}  // namespace reduce_bench
