#include "results/results.hpp"

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/fields.hpp"
#include "common/text.hpp"
#include "kernels/api/devices.hpp"
#include "plan/identity.hpp"
#include "plan/variants.hpp"
#include "point/measure.hpp"

namespace reduce_bench {
namespace {

/// A member as the document holds it: null where it is empty, or a number that JSON lacks.
template <class T>
Json member_json(const T& value) {
  if constexpr (std::same_as<T, Scalar>) return value.to_text();
  else if constexpr (std::same_as<T, std::string>) return value.empty() ? Json() : Json(value);
  else if constexpr (std::floating_point<T>) return std::isfinite(value) ? Json(value) : Json();
  else if constexpr (requires { value.has_value(); }) return value ? member_json(*value) : Json();
  else return value;
}

/// The members of a structure by their names; a structure among them is left out.
template <class T>
Json members_json(const T& value) {
  Json json = Json::object();
  const std::vector<std::string> names = field_names(value);
  std::size_t i = 0;
  const auto add = [&]<class Member>(const Member& member) {
    [[maybe_unused]] const std::string& name = names[i++];
    if constexpr (std::same_as<Member, Scalar> || !requires { fields(member); })
      json[name] = member_json(member);
  };
  std::apply([&](const auto&... member) { (add(member), ...); }, fields(value));
  return json;
}

Json to_json(const Verification& verification) {
  Json json = members_json(verification);
  json.update(members_json(verification.comparison));
  json.erase("passed");  // passed_before and passed_after say it
  json.erase("device");  // the reason names it
  return json;
}

Json to_json(const Measurement& measurement, bool keep_samples) {
  const Summary summary = summarise(measurement.samples_ns);
  const Shape shape = shape_of(measurement.samples_ns);
  Json clock = nullptr;
  if (!measurement.sm_clocks_mhz.empty()) {
    const Summary clocks_mhz = summarise(measurement.sm_clocks_mhz);
    clock = {{"median", clocks_mhz.median}, {"min", clocks_mhz.min}};
  }
  Json round_trip = nullptr;
  if (!measurement.round_trips_ns.empty()) {
    const Summary of_trips = summarise(measurement.round_trips_ns);
    round_trip = {
        {"median_ns", of_trips.median}, {"p25_ns", of_trips.p25}, {"p75_ns", of_trips.p75}};
  }
  Json json{{"median_ns", summary.median},
            {"min_ns", summary.min},
            {"max_ns", summary.max},
            {"p25_ns", summary.p25},
            {"p75_ns", summary.p75},
            {"p95_ns", summary.p95},
            {"mean_ns", summary.mean},
            {"stddev_ns", summary.stddev},
            {"ci_low_ns", summary.ci_low},
            {"ci_high_ns", summary.ci_high},
            {"samples", measurement.samples_ns.size()},
            {"outliers", shape.outliers},
            {"two_modes", shape.two_modes},
            {"discarded", measurement.discarded},
            {"throttled", measurement.throttled},
            {"stopped_by", kStoppedByNames[index_of(measurement.stopped_by)]},
            {"sm_clock_mhz", std::move(clock)},
            {"round_trip", std::move(round_trip)}};
  if (keep_samples) json["samples_ns"] = measurement.samples_ns;
  return json;
}

Json to_json(const Energy& energy, const Traffic& traffic) {
  Json json = members_json(energy);
  const auto bytes = static_cast<double>(traffic.read_bytes + traffic.written_bytes);
  json["pj_per_byte"] =
      energy.joules_per_call && bytes > 0 ? Json(*energy.joules_per_call / bytes * 1e12) : Json();
  return json;
}

Json to_json(const MachineCode& code) {
  return {{"hash", code.hash ? Json(fmt::format("{:016x}", *code.hash)) : Json()},
          {"kernels", code.kernels},
          {"unavailable", member_json(code.unavailable)}};
}

Json to_json(const std::vector<Counter>& counters) {
  if (counters.empty()) return nullptr;
  Json json = Json::object();
  for (const Counter& counter : counters) {
    json[counter.name] = members_json(counter);
    json[counter.name].erase("name");
  }
  return json;
}

Json to_json(const Ceilings::Read& read) {
  return {{"bytes", read.size_bytes},
          {"median_ns", read.median_ns},
          {"gb_per_s", read.gb_per_s()},
          {"shape", read.shape}};
}

/// Rates as nccl-tests define them: of the results' bytes, by the time of the whole.
Json to_json(const Spread& spread, const Point& point, double median_ns) {
  Json json = members_json(spread);
  const auto devices = static_cast<double>(spread.devices);
  const double algorithm_gb_per_s = static_cast<double>(point.arrays().output_bytes()) / median_ns;
  const bool known = median_ns > 0 && spread.devices > 1;
  json["algorithm_gb_per_s"] = known ? Json(algorithm_gb_per_s) : Json();
  json["bus_gb_per_s"] =
      known ? Json(algorithm_gb_per_s *
                   (results_on_all(point.params) ? 2 * (devices - 1) / devices : 1))
            : Json();
  return json;
}

}  // namespace

Json to_json(const Ceilings& ceilings) {
  Json reads = Json::array();
  for (const Ceilings::Read& read : ceilings.reads) reads.push_back(to_json(read));
  Json copy = nullptr;
  if (ceilings.copy_bytes > 0)
    copy = {{"bytes", ceilings.copy_bytes},
            {"median_ns", ceilings.copy_median_ns},
            {"gb_per_s", ceilings.copy_gb_per_s()}};
  Json json{{"read", reads},
            {"copy", copy},
            {"empty_launch_ns", ceilings.empty_launch_ns},
            {"further_launch_ns", ceilings.further_launch_ns}};
  if (ceilings.between)
    json["between_devices"] = {{"read", to_json(ceilings.between->read)},
                               {"word_ns", ceilings.between->word_ns}};
  return json;
}

Ceilings read_ceilings(const Node& node) {
  const auto bytes = [](const Node& of) {
    return of.integer(0, std::numeric_limits<std::size_t>::max());
  };
  Ceilings ceilings;
  const auto read_of = [&](const Node& read) {
    return Ceilings::Read{.size_bytes = bytes(read.at("bytes")),
                          .median_ns = read.at("median_ns").positive_ns(),
                          .shape = read.at("shape").string()};
  };
  for (const Node& read : node.at("read").elements(0)) ceilings.reads.push_back(read_of(read));
  if (const Node copy = node.at("copy"); !copy.is_null()) {
    ceilings.copy_bytes = bytes(copy.at("bytes"));
    ceilings.copy_median_ns = copy.at("median_ns").positive_ns();
  }
  ceilings.empty_launch_ns = node.at("empty_launch_ns").number(0, kMostNs, false);
  if (node.has("further_launch_ns"))
    ceilings.further_launch_ns = node.at("further_launch_ns").number(0, kMostNs, false);
  if (node.has("between_devices")) {
    const Node between = node.at("between_devices");
    ceilings.between = {.read = read_of(between.at("read")),
                        .word_ns = between.at("word_ns").positive_ns()};
  }
  return ceilings;
}

Rates rates_of(const Record& record, const Ceilings& ceilings,
               std::optional<double> peak_gb_per_s) {
  const Point& point = record.point;
  const Mode primary = point.measurement.modes.front();
  const auto timed = record.timing.find(primary);
  if (timed == record.timing.end()) return {};
  const double median_ns = median(timed->second.samples_ns);
  const double gb_per_s =
      static_cast<double>(record.traffic.read_bytes + record.traffic.written_bytes) / median_ns;
  Rates rates{.gb_per_s = gb_per_s, .items_per_s = static_cast<double>(point.n) / median_ns * 1e9};
  if (point.n > 0) rates.ns_per_item = median_ns / static_cast<double>(point.n);
  // Against the input's bytes, not the variant's traffic: moving more must not look better. Of several
  // devices each reads its share.
  const unsigned devices = record.spread ? record.spread->devices : 1;
  const Arrays share =
      arrays_of(point.operation(), share_of(point.n, devices, 0), point.buckets, point.type);
  if (const auto ceiling_ns = ceilings.read_ns(share.input_bytes());
      ceiling_ns && primary == Mode::kCold)
    rates.ceiling_share = *ceiling_ns / median_ns;
  if (peak_gb_per_s) rates.peak_share = gb_per_s / (devices * *peak_gb_per_s);
  return rates;
}

std::string impossible_time(const Record& record, const Ceilings& ceilings) {
  constexpr std::size_t kLeastBytes = std::size_t{1} << 16;
  const std::size_t bytes = record.traffic.read_bytes;
  const auto cold = record.timing.find(Mode::kCold);
  if (record.point.entry->plugin == nullptr || cold == record.timing.end() || bytes < kLeastBytes)
    return {};
  const auto ceiling_ns = ceilings.read_ns(bytes);
  const double ns = median(cold->second.samples_ns);
  if (!ceiling_ns || ns >= *ceiling_ns / 2) return {};
  return fmt::format("took {}, in which {} bytes cannot be read: the fastest stream takes {}",
                     duration_text(ns), bytes, duration_text(*ceiling_ns));
}

Json to_json(const Record& record, const Rates& rates, bool keep_samples) {
  const Point& point = record.point;
  const Variant& variant = point.entry->variant;
  const bool ran = record.verification.has_value();
  const auto if_ran = [&](std::size_t bytes) { return ran ? Json(bytes) : Json(nullptr); };
  Json timing = Json::object();
  for (const Mode mode : point.measurement.modes)
    if (const auto timed = record.timing.find(mode); timed != record.timing.end())
      timing[std::string(name_of(mode))] = to_json(timed->second, keep_samples);
  const auto primary = record.timing.find(point.measurement.modes.front());
  const double primary_ns = primary == record.timing.end() ? 0 : median(primary->second.samples_ns);
  Json json{{"index", point.index}};
  json.update(to_json(identity_of(point)));
  json.update(
      {{"title", variant.title},
       {"paper", variant.source},
       {"plugin", point.entry->plugin == nullptr ? Json() : to_json(*point.entry->plugin)},
       {"fidelity", point.params.has("form") ? Json(point.params.text("form"))
                                             : Json(name_of(variant.fidelity))},
       {"seed", point.seed},
       {"input_checksum",
        record.input_checksum ? Json(fmt::format("{:016x}", *record.input_checksum)) : Json()},
       {"launch", record.launch ? members_json(*record.launch) : Json()},
       {"workspace_bytes", if_ran(record.workspace_bytes)},
       {"count_bits", record.count_bits ? Json(*record.count_bits) : Json()},
       {"finish", variant.finish == Finish::kHost ? "host" : "device"},
       {"synchronous", variant.synchronous},
       {"primary_mode", name_of(point.measurement.modes.front())},
       {"status", name_of(record.status)},
       {"known_wrong", record.known_wrong},
       {"reason", member_json(record.reason)},
       {"verification", record.verification ? to_json(*record.verification) : Json()},
       {"timing", std::move(timing)},
       {"library", member_json(record.library)},
       {"spread", record.spread ? to_json(*record.spread, point, primary_ns) : Json()},
       {"pages", record.pages ? members_json(*record.pages) : Json()},
       {"counters", to_json(record.counters)},
       {"code", record.code ? to_json(*record.code) : Json()},
       {"energy", record.energy ? to_json(*record.energy, record.traffic) : Json()},
       {"bytes", if_ran(record.traffic.read_bytes + record.traffic.written_bytes)},
       {"bytes_read", if_ran(record.traffic.read_bytes)},
       {"bytes_written", if_ran(record.traffic.written_bytes)}});
  json.update(members_json(rates));
  return json;
}

}  // namespace reduce_bench
