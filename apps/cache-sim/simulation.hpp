// A simulation and its result. Published schema: configs/schema/simulation.schema.json.
#pragma once

#include "algorithms.hpp"
#include "common/document.hpp"
#include "hierarchy.hpp"

namespace reduce_bench {

/// Runs the algorithm on a memory of its own, empty at the start.
Json simulate(const Hierarchy& hierarchy, const Pages& pages, const Algorithm& algorithm,
              const Workload& workload);

}  // namespace reduce_bench
