// The parts of the results document (configs/schema/results.schema.json) as JSON.
#pragma once

#include <optional>

#include "common/document.hpp"
#include "point/ceilings.hpp"
#include "point/record.hpp"

namespace reduce_bench {

Json to_json(const Ceilings& ceilings);
/// Throws UsageError where it is not as `to_json` writes it.
Ceilings ceilings_from_json(const Json& json);

/// One entry of the document's `points`. `peak_gb_per_s` is the datasheet bandwidth, if known.
Json to_json(const Record& record, const Ceilings& ceilings, std::optional<double> peak_gb_per_s,
             bool keep_samples);

}  // namespace reduce_bench
