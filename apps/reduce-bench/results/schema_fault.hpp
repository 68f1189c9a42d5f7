// The schema of results (configs/schema/results.schema.json), as far as a reader must know it.
#pragma once

#include "common/document.hpp"

namespace reduce_bench {

/// Throws UsageError where a results document breaks its schema, in the words of
/// scripts/reduce_bench_report/schema_fault.py.
void check_results_schema(const Node& document);

/// The same of one entry of a document's `points`.
void check_point_schema(const Node& point);

/// The schema's text, which the build puts into the program.
const char* results_schema();

}  // namespace reduce_bench
