// Points as a run records them, one of every kind, from made-up variants on a made-up clock.
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "fake_device.hpp"
#include "point/execute.hpp"
#include "results/outcome.hpp"
#include "results/results.hpp"

namespace reduce_bench {

enum PointKind {
  kRight,
  kWrong,
  kWrongNan,
  kKnownWrong,
  kFailed,
  kSkipped,
  kEmpty,
  kWithoutPrimaryMode
};

inline Ceilings made_up_ceilings() {
  Ceilings ceilings;
  ceilings.reads = {{.size_bytes = 4000, .median_ns = 1000, .shape = "one thread"}};
  ceilings.copy_bytes = 8000;
  ceilings.copy_median_ns = 3000;
  ceilings.empty_launch_ns = 20;
  return ceilings;
}

inline void write_sum(const Call& call, float extra) {
  float sum = extra;
  for (std::size_t i = 0; i < call.problem.n; ++i) sum += static_cast<const float*>(call.values)[i];
  std::memcpy(call.results, &sum, sizeof(sum));
}

/// The points in the order of PointKind.
inline std::vector<Json> points_of_every_kind(bool keep_samples = false) {
  const Enqueue right = [](const Call& call) { write_sum(call, 0); };
  const Enqueue wrong = [](const Call& call) { write_sum(call, 100); };
  const Enqueue nan = [](const Call& call) { write_sum(call, std::nanf("")); };
  const Enqueue failing = [](const Call&) { throw std::runtime_error("fell over"); };

  auto owned = std::make_unique<FakeDevice>();
  owned->script = [](std::size_t) { return Sample{.ns = 2000, .sm_clock_mhz = 1980}; };
  owned->modes = {Mode::kCold};
  Session session(std::move(owned));
  std::vector<Json> points;
  const auto add = [&](Enqueue enqueue, auto&& alter) {
    CatalogEntry entry{.variant = {.id = "made-up/sum", .title = "a loop", .source = "section 1"}};
    entry.variant.params = {{"block", "128", {"128"}, "threads"}};
    entry.variant.enqueue[index_of(Type::kF32)][index_of(Op::kSum)] = enqueue;
    entry.built[index_of(Backend::kCpu)] = &entry.variant;
    Point point{.index = points.size(), .entry = &entry, .n = 1000, .type = Type::kF32};
    point.params = default_params(entry.variant);
    alter(point, entry.variant);
    points.push_back(
        finish(point, session.execute(point), made_up_ceilings(), 100.0, keep_samples).entry);
  };
  const auto as_it_is = [](Point&, Variant&) {};
  add(right, as_it_is);
  add(wrong, as_it_is);
  add(nan, as_it_is);
  add(wrong, [](Point&, Variant& v) {
    v.defect = [](const Problem&) -> std::optional<Defect> { return Defect{"misses the tail"}; };
  });
  add(failing, as_it_is);
  add(right, [](Point& p, Variant&) { p.op = Op::kMin; });
  add(right, [](Point& p, Variant&) { p.n = 0; });
  add(right, [](Point& p, Variant&) { p.measurement.modes = {Mode::kGraph, Mode::kCold}; });
  add(right, [](Point&, Variant& v) { v.count_bits = [](const Problem&) { return 32u; }; });
  return points;
}

}  // namespace reduce_bench
