// From a configuration to the points it asks for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/fields.hpp"
#include "kernels/api/catalog.hpp"
#include "plan/config.hpp"

namespace reduce_bench {

/// One thing to measure: everything that identifies it, by value.
struct Point {
  std::size_t index = 0;
  const CatalogEntry* entry = nullptr;
  Backend backend = Backend::kCpu;
  std::size_t n = 0;
  std::size_t buckets = 0;  ///< 0 where the operation has no labels
  Type type = Type::kI32;
  Op op = Op::kSum;
  Distribution distribution;
  LabelDistribution labels;
  Params params;
  std::uint64_t seed = 1;
  MeasurementSettings measurement;
  std::size_t group = 0;            ///< the problem: points of one take turns where interleaved
  std::vector<std::size_t> sweeps;  ///< of the configuration that ask for it, ascending

  Operation operation() const { return entry->variant.operation; }
  Arrays arrays() const { return arrays_of(operation(), n, buckets, type); }
  InputKey input_key() const {
    return {.distribution = distribution,
            .type = type,
            .op = op,
            .n = arrays().values.count,
            .seed = seed};
  }
  LabelKey label_key() const {
    const Extent extent = arrays().labels;
    return {.distribution = labels,
            .type = extent.type,
            .n = extent.count,
            .buckets = buckets,
            .seed = seed};
  }
  /// The problem on a device; refers to this point's parameters.
  Problem problem(const DeviceTraits& device) const {
    return {.operation = operation(),
            .n = n,
            .buckets = buckets,
            .type = type,
            .op = op,
            .distribution = distribution.name(),
            .params = params,
            .device = device};
  }
};

FIELDS(Point, index, entry, backend, n, buckets, type, op, distribution, labels, params, seed,
       measurement, group, sweeps);

/// `harris/3 n=1024 i32 sum uniform block=128 on cuda` (PointIdentity::line).
std::string describe(const Point& point);

/// The default value of every parameter of a variant.
Params default_params(const Variant& variant);

/// What `run` narrows a configuration to.
struct PlanOptions {
  std::vector<Backend> automatic;   ///< the backends that a sweep without `backends` runs on
  std::vector<std::string> filter;  ///< globs; empty keeps all
  std::uint64_t seed = 1;
};

struct Plan {
  std::vector<Point> points;
  /// Why points that the configuration asks for are not among them: a clause for each reason.
  std::vector<std::string> left_out;
};

/// Every point of the configuration, in an order that reuses inputs: variants innermost. Throws
/// UsageError for a glob that matches nothing, for a parameter that no variant of its sweep has,
/// for a value that none of them allows, and for a plan beyond any that could be measured.
Plan make_plan(const Config& config, const PlanOptions& options);

}  // namespace reduce_bench
