// The parts of the results document (configs/schema/results.schema.json) as JSON.
#pragma once

#include <optional>

#include "common/document.hpp"
#include "common/fields.hpp"
#include "point/ceilings.hpp"
#include "point/record.hpp"

namespace reduce_bench {

Json to_json(const Ceilings& ceilings);
/// Throws UsageError where it is not as `to_json` writes it.
Ceilings read_ceilings(const Node& node);

/// What the time of a point's primary mode comes to; nothing where that mode was not timed.
struct Rates {
  std::optional<double> gb_per_s, items_per_s;
  std::optional<double> ns_per_item;    ///< nothing for no items
  std::optional<double> ceiling_share;  ///< of a cold time whose size the ceilings cover
  std::optional<double> peak_share;     ///< where the datasheet's bandwidth is known
};
FIELDS(Rates, gb_per_s, items_per_s, ns_per_item, ceiling_share, peak_share);
Rates rates_of(const Record& record, const Ceilings& ceilings, std::optional<double> peak_gb_per_s);

/// Why a plug-in's cold time is none in which its inputs could be read; empty where it may be. Nothing
/// is said of small inputs, whose ceiling is mostly latency.
std::string impossible_time(const Record& record, const Ceilings& ceilings);

/// One entry of the document's `points`.
Json to_json(const Record& record, const Rates& rates, bool keep_samples);

}  // namespace reduce_bench
