// The results document of a run (configs/schema/results.schema.json).
#pragma once

#include <string_view>
#include <vector>

#include "common/document.hpp"
#include "plan/config.hpp"
#include "plan/plan.hpp"
#include "results/run_plan.hpp"

namespace reduce_bench {

inline constexpr std::string_view kResultsKind = "reduce-bench-results";

/// Takes the points' entries out of the results: with samples a copy would be hundreds of megabytes.
Json take_document(RunResults& results, const std::vector<Point>& plan, const Config& config,
                   const Json& environment);

}  // namespace reduce_bench
