#include "results/run_document.hpp"

#include <string>
#include <utility>

#include "plan/identity.hpp"
#include "results/results.hpp"

namespace reduce_bench {
namespace {

Json noise_json(const RunResults& results) {
  Json pairs = Json::array();
  for (const NoisePair& pair : results.noise)
    pairs.push_back({{"variant", pair.point->entry->variant.id},
                     {"backend", name_of(pair.point->backend)},
                     {"n", pair.point->n},
                     {"type", name_of(pair.point->type)},
                     {"op", name_of(pair.point->op)},
                     {"mode", name_of(pair.mode)},
                     {"median_a_ns", pair.median_a_ns},
                     {"median_b_ns", pair.median_b_ns},
                     {"ratio", pair.ratio()}});
  const auto floor = results.noise_floor();
  return {{"aa", pairs}, {"relative", floor ? Json(*floor) : Json(nullptr)}};
}

/// What the run was asked for: which points each sweep has, and those that are not done.
Json planned_json(const RunResults& results, const std::vector<Point>& plan, std::size_t sweeps) {
  std::vector<std::vector<std::size_t>> points_of(sweeps);
  Json missing = Json::array();
  for (const Point& point : plan) {
    for (const std::size_t sweep : point.sweeps) points_of.at(sweep).push_back(point.index);
    if (results.points[point.index]) continue;
    Json entry{{"index", point.index}};
    entry.update(to_json(identity_of(point)));
    missing.push_back(std::move(entry));
  }
  return {{"points", plan.size()}, {"sweeps", points_of}, {"missing", std::move(missing)}};
}

}  // namespace

Json take_document(RunResults& results, const std::vector<Point>& plan, const Config& config,
                   const Json& environment) {
  Json ceilings = Json::object();
  for (const auto& [backend, measured] : results.ceilings)
    if (!measured.reads.empty()) ceilings[std::string(name_of(backend))] = to_json(measured);
  Json points = Json::array();
  for (auto& point : results.points)
    if (point) points.push_back(std::move(point->entry));
  return {{"schema", 1},
          {"kind", kResultsKind},
          {"config", to_json(config)},
          {"environment", environment},
          {"ceilings", std::move(ceilings)},
          {"noise_floor", noise_json(results)},
          {"interrupted", results.interrupted},
          {"planned", planned_json(results, plan, config.sweeps.size())},
          {"points", std::move(points)}};
}

}  // namespace reduce_bench
