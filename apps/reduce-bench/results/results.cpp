#include "results/results.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "plan/config.hpp"
#include "point/measure.hpp"

namespace reduce_bench {
namespace {

/// JSON has no infinities: an error that is not finite is told by `actual` alone.
Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json finite(const std::optional<double>& value) { return value ? finite(*value) : Json(nullptr); }

Json to_json(const Verification& v) {
  return {{"expected", v.expected.to_text()},
          {"actual", v.actual.to_text()},
          {"error_abs", finite(v.comparison.error_abs)},
          {"error_relative", finite(v.comparison.error_relative)},
          {"error_ulp", finite(v.comparison.error_ulp)},
          {"bound_abs", finite(v.bound_abs)},
          {"condition", finite(v.condition)},
          {"passed_before", v.passed_before},
          {"passed_after", v.passed_after ? Json(*v.passed_after) : Json(nullptr)},
          {"deterministic", v.deterministic ? Json(*v.deterministic) : Json(nullptr)},
          {"array", v.array},
          {"index", v.index},
          {"elements", v.elements},
          {"mismatches", v.mismatches}};
}

Json to_json(const Measurement& m, const Summary& s, bool keep_samples) {
  Json json{{"median_ns", s.median_ns},
            {"min_ns", s.min_ns},
            {"max_ns", s.max_ns},
            {"p25_ns", s.p25_ns},
            {"p75_ns", s.p75_ns},
            {"p95_ns", s.p95_ns},
            {"mean_ns", s.mean_ns},
            {"stddev_ns", s.stddev_ns},
            {"ci_low_ns", s.ci_low_ns},
            {"ci_high_ns", s.ci_high_ns},
            {"samples", m.samples_ns.size()},
            {"discarded", m.discarded},
            {"throttled", m.throttled},
            {"stopped_by", kStoppedByNames[index_of(m.stopped_by)]}};
  if (keep_samples) json["samples_ns"] = m.samples_ns;
  if (m.sm_clocks_mhz.empty()) {
    json["sm_clock_mhz"] = nullptr;
  } else {
    const Summary clocks = summarise(m.sm_clocks_mhz);
    json["sm_clock_mhz"] = {{"median", clocks.median_ns}, {"min", clocks.min_ns}};
  }
  return json;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const std::vector<Counter>& counters) {
  if (counters.empty()) return nullptr;
  Json json = Json::object();
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const std::string& why = counters[i].unavailable;
    json[std::string(kCounterNames.at(i))] = {
        {"count", or_null(counters[i].count)},
        {"unavailable", why.empty() ? Json(nullptr) : Json(why)}};
  }
  return json;
}

}  // namespace

Json to_json(const Ceilings& ceilings) {
  Json reads = Json::array();
  for (const Ceilings::Read& read : ceilings.reads)
    reads.push_back({{"bytes", read.size_bytes},
                     {"median_ns", read.median_ns},
                     {"gb_per_s", static_cast<double>(read.size_bytes) / read.median_ns},
                     {"shape", read.shape}});
  Json copy = nullptr;
  if (ceilings.copy_bytes > 0)
    copy = {{"bytes", ceilings.copy_bytes},
            {"median_ns", ceilings.copy_median_ns},
            {"gb_per_s", static_cast<double>(ceilings.copy_bytes) / ceilings.copy_median_ns}};
  return {{"read", reads}, {"copy", copy}, {"empty_launch_ns", ceilings.empty_launch_ns}};
}

Ceilings ceilings_from_json(const Json& json) {
  static const std::string name = "the ceilings";
  const Node root{json, "", name};
  const auto bytes = [](const Node& node) {
    return node.integer(0, std::numeric_limits<std::size_t>::max());
  };
  Ceilings ceilings;
  for (const Node& read : root.at("read").elements(0))
    ceilings.reads.push_back({.size_bytes = bytes(read.at("bytes")),
                              .median_ns = read.at("median_ns").positive_ns(),
                              .shape = read.at("shape").string()});
  if (const Node copy = root.at("copy"); !copy.is_null()) {
    ceilings.copy_bytes = bytes(copy.at("bytes"));
    ceilings.copy_median_ns = copy.at("median_ns").positive_ns();
  }
  ceilings.empty_launch_ns = root.at("empty_launch_ns").number(0, kMostNs, false);
  return ceilings;
}

Json to_json(const Record& record, const Ceilings& ceilings, std::optional<double> peak_gb_per_s,
             bool keep_samples) {
  const Point& point = record.point;
  const Variant& variant = point.entry->variant;
  Json json{{"index", point.index},
            {"variant", variant.id},
            {"title", variant.title},
            {"paper", variant.source},
            {"fidelity", point.params.has("form") ? Json(point.params.text("form"))
                                                  : Json(name_of(variant.fidelity))},
            {"operation", name_of(variant.operation)},
            {"backend", name_of(point.backend)},
            {"n", point.n},
            {"buckets", has_labels(point.operation()) ? Json(point.buckets) : Json(nullptr)},
            {"type", name_of(point.type)},
            {"op", name_of(point.op)},
            {"distribution", to_json(point.distribution)},
            {"labels", has_labels(point.operation()) ? to_json(point.labels) : Json(nullptr)},
            {"seed", point.seed},
            {"input_checksum", nullptr},
            {"params", Json::object()},
            {"launch", nullptr},
            {"finish", variant.finish == Finish::kHost ? "host" : "device"},
            {"synchronous", variant.synchronous},
            {"primary_mode", name_of(point.measurement.modes.front())},
            {"status", name_of(record.status)},
            {"known_wrong", record.known_wrong},
            {"reason", record.reason.empty() ? Json(nullptr) : Json(record.reason)},
            {"verification", nullptr},
            {"timing", Json::object()},
            {"pages", nullptr},
            {"counters", to_json(record.counters)}};
  if (record.pages)
    json["pages"] = {{"bytes", record.pages->bytes},
                     {"huge_bytes", or_null(record.pages->huge_bytes)}};
  if (record.input_checksum)
    json["input_checksum"] = fmt::format("{:016x}", *record.input_checksum);
  for (const auto& entry : point.params.entries()) json["params"][entry.name] = entry.value;
  if (record.launch)
    json["launch"] = {{"kernels", record.launch->kernels},
                      {"grid", record.launch->grid},
                      {"block", record.launch->block},
                      {"shared_bytes", record.launch->shared_bytes},
                      {"registers", record.launch->registers}};
  if (record.verification) json["verification"] = to_json(*record.verification);

  const bool ran = record.verification.has_value();
  const std::size_t moved = record.traffic.read_bytes + record.traffic.written_bytes;
  json["bytes"] = ran ? Json(moved) : Json(nullptr);
  json["bytes_read"] = ran ? Json(record.traffic.read_bytes) : Json(nullptr);
  json["bytes_written"] = ran ? Json(record.traffic.written_bytes) : Json(nullptr);
  for (const char* key : {"gb_per_s", "items_per_s", "ns_per_item", "ceiling_share", "peak_share"})
    json[key] = nullptr;

  for (const Mode mode : point.measurement.modes) {
    const auto found = record.timing.find(mode);
    if (found == record.timing.end()) continue;
    const Summary summary = summarise(found->second.samples_ns);
    json["timing"][std::string(name_of(mode))] = to_json(found->second, summary, keep_samples);
    if (mode != point.measurement.modes.front()) continue;
    const double gb_per_s = static_cast<double>(moved) / summary.median_ns;
    json["gb_per_s"] = gb_per_s;
    json["items_per_s"] = static_cast<double>(point.n) / summary.median_ns * 1e9;
    if (point.n > 0) json["ns_per_item"] = summary.median_ns / static_cast<double>(point.n);
    const std::size_t input_bytes = point.arrays().input_bytes();
    // Against the input's bytes, not the variant's traffic: moving more must not look better.
    if (const auto ceiling_ns = ceilings.read_ns(input_bytes); ceiling_ns && mode == Mode::kCold)
      json["ceiling_share"] = *ceiling_ns / summary.median_ns;
    if (peak_gb_per_s) json["peak_share"] = gb_per_s / *peak_gb_per_s;
  }
  return json;
}

}  // namespace reduce_bench
