// What the driver and its worker tell each other: points, options, records, ceilings and what a
// plug-in declares, lossless.
#pragma once

#include <vector>

#include "common/document.hpp"
#include "plugins/declaration.hpp"
#include "point/ceilings.hpp"
#include "point/execute.hpp"

namespace reduce_bench {

Json to_wire(const Point& point);
/// Throws std::exception for what is no point of this build's catalog.
Point point_from_wire(const Json& json);

Json to_wire(const ExecuteOptions& options);
ExecuteOptions options_from_wire(const Json& json);

Json to_wire(const DeviceTraits& traits);
DeviceTraits traits_from_wire(const Json& json);

Json to_wire(const DeclaredPlugin& plugin);
DeclaredPlugin plugin_from_wire(const Json& json);

Json to_wire(const Ceilings& ceilings);
Ceilings ceilings_from_wire(const Json& json);

/// Everything but the point, which the receiver asked for and has.
Json to_wire(const Record& record);
Record record_from_wire(const Json& json, const Point& point);

}  // namespace reduce_bench
