#include "worker/wire.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>

#include "plan/variants.hpp"

// Structures are taken apart by structured bindings, so that a new member does not compile until it
// travels too.

namespace reduce_bench {
namespace {

template <class Enum>
Json number(Enum value) {
  return static_cast<unsigned>(value);
}
template <class Enum>
Enum enumerator(const Json& json) {
  return static_cast<Enum>(json.get<unsigned>());
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
template <class T>
std::optional<T> optional(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<T>(json.get<T>());
}

Json to_wire(const MeasurementSettings& settings) {
  const auto& [modes, min_samples, max_samples, max_time_ms, relative_ci, interleave, clock_floor,
               point_timeout_s] = settings;
  Json mode_numbers = Json::array();
  for (const Mode mode : modes) mode_numbers.push_back(number(mode));
  return {mode_numbers, min_samples, max_samples, max_time_ms,
          relative_ci,  interleave,  clock_floor, or_null(point_timeout_s)};
}
MeasurementSettings settings_from_wire(const Json& json) {
  MeasurementSettings settings;
  settings.modes.clear();
  for (const Json& mode : json.at(0)) settings.modes.push_back(enumerator<Mode>(mode));
  json.at(1).get_to(settings.min_samples);
  json.at(2).get_to(settings.max_samples);
  json.at(3).get_to(settings.max_time_ms);
  json.at(4).get_to(settings.relative_ci);
  json.at(5).get_to(settings.interleave);
  json.at(6).get_to(settings.clock_floor);
  settings.point_timeout_s = optional<double>(json.at(7));
  return settings;
}

Json to_wire(const Scalar& scalar) {
  const auto& [type, bits] = scalar;
  return {number(type), bits};
}
Scalar scalar_from_wire(const Json& json) {
  return {.type = enumerator<Type>(json.at(0)), .bits = json.at(1)};
}

Json to_wire(const Verification& verification) {
  const auto& [array, index, elements, mismatches, expected, actual, comparison, bound_abs,
               condition, passed_before, passed_after, deterministic] = verification;
  const auto& [passed, error_abs, error_relative, error_ulp] = comparison;
  return {to_wire(expected),
          to_wire(actual),
          {passed, error_abs, or_null(error_relative), or_null(error_ulp)},
          bound_abs,
          or_null(condition),
          passed_before,
          or_null(passed_after),
          or_null(deterministic),
          array,
          index,
          elements,
          mismatches};
}
Verification verification_from_wire(const Json& json) {
  const Json& comparison = json.at(2);
  return {.array = json.at(8),
          .index = json.at(9),
          .elements = json.at(10),
          .mismatches = json.at(11),
          .expected = scalar_from_wire(json.at(0)),
          .actual = scalar_from_wire(json.at(1)),
          .comparison = {.passed = comparison.at(0),
                         .error_abs = comparison.at(1),
                         .error_relative = optional<double>(comparison.at(2)),
                         .error_ulp = optional<double>(comparison.at(3))},
          .bound_abs = json.at(3),
          .condition = optional<double>(json.at(4)),
          .passed_before = json.at(5),
          .passed_after = optional<bool>(json.at(6)),
          .deterministic = optional<bool>(json.at(7))};
}

Json to_wire(const Measurement& measurement) {
  const auto& [samples_ns, sm_clocks_mhz, discarded, throttled, stopped_by] = measurement;
  return {samples_ns, sm_clocks_mhz, discarded, throttled, number(stopped_by)};
}
Measurement measurement_from_wire(const Json& json) {
  return {.samples_ns = json.at(0),
          .sm_clocks_mhz = json.at(1),
          .discarded = json.at(2),
          .throttled = json.at(3),
          .stopped_by = enumerator<StoppedBy>(json.at(4))};
}

Json to_wire(const GrantedPages& pages) {
  const auto& [bytes, huge_bytes] = pages;
  return {bytes, or_null(huge_bytes)};
}
GrantedPages pages_from_wire(const Json& json) {
  return {.bytes = json.at(0), .huge_bytes = optional<std::size_t>(json.at(1))};
}

Json to_wire(const Counter& counter) {
  const auto& [count, unavailable] = counter;
  return {or_null(count), unavailable};
}
Counter counter_from_wire(const Json& json) {
  return {.count = optional<std::uint64_t>(json.at(0)), .unavailable = json.at(1)};
}

Json to_wire(const LaunchLog& log) {
  const auto& [kernels, grid, block, shared_bytes, registers] = log;
  return {kernels, grid, block, shared_bytes, registers};
}
LaunchLog launch_from_wire(const Json& json) {
  return {.kernels = json.at(0),
          .grid = json.at(1),
          .block = json.at(2),
          .shared_bytes = json.at(3),
          .registers = json.at(4)};
}

}  // namespace

Json to_wire(const Point& point) {
  const auto& [index, entry, backend, n, buckets, type, op, distribution, labels, params, seed,
               measurement, group] = point;
  const auto& [kind, condition] = distribution;
  const auto& [label_kind, exponent, length, file, image] = labels;
  Json settings = Json::array();
  for (const auto& [name, value, unused] : params.entries()) settings.push_back({name, value});
  return {index,
          entry->variant.id,
          number(backend),
          n,
          buckets,
          number(type),
          number(op),
          {number(kind), condition},
          {number(label_kind), exponent, length, file},
          settings,
          seed,
          to_wire(measurement),
          group};
}

namespace {

/// The worker reads an image once, however many points have their labels from it.
std::shared_ptr<const Image> image_of(const std::string& file) {
  static std::map<std::string, std::shared_ptr<const Image>> images;
  auto& image = images[file];
  if (!image) image = std::make_shared<const Image>(read_image(file));
  return image;
}

}  // namespace

Point point_from_wire(const Json& json) {
  const Json& distribution = json.at(7);
  const Json& labels = json.at(8);
  Point point{.index = json.at(0),
              .entry = &find_variant(json.at(1)),
              .backend = enumerator<Backend>(json.at(2)),
              .n = json.at(3),
              .buckets = json.at(4),
              .type = enumerator<Type>(json.at(5)),
              .op = enumerator<Op>(json.at(6)),
              .distribution = {.kind = enumerator<Distribution::Kind>(distribution.at(0)),
                               .condition = distribution.at(1)},
              .labels = {.kind = enumerator<LabelDistribution::Kind>(labels.at(0)),
                         .exponent = labels.at(1),
                         .length = labels.at(2),
                         .file = labels.at(3)},
              .seed = json.at(10),
              .measurement = settings_from_wire(json.at(11)),
              .group = json.at(12)};
  if (!point.labels.file.empty()) point.labels.image = image_of(point.labels.file);
  for (const Json& setting : json.at(9)) point.params.set(setting.at(0), setting.at(1));
  return point;
}

Json to_wire(const ExecuteOptions& options) {
  const auto& [timed, budget_share, lead, check_determinism, emu_seed] = options;
  return {timed, budget_share, lead, check_determinism, or_null(emu_seed)};
}
ExecuteOptions options_from_wire(const Json& json) {
  return {.timed = json.at(0),
          .budget_share = json.at(1),
          .lead = json.at(2),
          .check_determinism = json.at(3),
          .emu_seed = optional<std::uint64_t>(json.at(4))};
}

Json to_wire(const DeviceTraits& traits) {
  const auto& [sm_count, max_threads_per_sm, max_blocks_per_sm, max_shared_bytes_per_block,
               max_blocks_per_cluster] = traits;
  return {sm_count, max_threads_per_sm, max_blocks_per_sm, max_shared_bytes_per_block,
          max_blocks_per_cluster};
}
DeviceTraits traits_from_wire(const Json& json) {
  return {.sm_count = json.at(0),
          .max_threads_per_sm = json.at(1),
          .max_blocks_per_sm = json.at(2),
          .max_shared_bytes_per_block = json.at(3),
          .max_blocks_per_cluster = json.at(4)};
}

Json to_wire(const Record& record) {
  const auto& [point, status, known_wrong, reason, input_checksum, launch, traffic, verification,
               timing, pages, counters] = record;
  const auto& [read_bytes, written_bytes] = traffic;
  Json modes = Json::array();
  for (const auto& [mode, measurement] : timing)
    modes.push_back({number(mode), to_wire(measurement)});
  Json counted = Json::array();
  for (const Counter& counter : counters) counted.push_back(to_wire(counter));
  return {number(status),
          known_wrong,
          reason,
          or_null(input_checksum),
          launch ? to_wire(*launch) : Json(nullptr),
          {read_bytes, written_bytes},
          verification ? to_wire(*verification) : Json(nullptr),
          modes,
          pages ? to_wire(*pages) : Json(nullptr),
          counted};
}

Record record_from_wire(const Json& json, const Point& point) {
  Record record{.point = point,
                .status = enumerator<Status>(json.at(0)),
                .known_wrong = json.at(1),
                .reason = json.at(2),
                .input_checksum = optional<std::uint64_t>(json.at(3)),
                .traffic = {.read_bytes = json.at(5).at(0), .written_bytes = json.at(5).at(1)}};
  if (!json.at(4).is_null()) record.launch = launch_from_wire(json.at(4));
  if (!json.at(6).is_null()) record.verification = verification_from_wire(json.at(6));
  for (const Json& mode : json.at(7))
    record.timing.emplace(enumerator<Mode>(mode.at(0)), measurement_from_wire(mode.at(1)));
  if (!json.at(8).is_null()) record.pages = pages_from_wire(json.at(8));
  for (const Json& counter : json.at(9)) record.counters.push_back(counter_from_wire(counter));
  return record;
}

}  // namespace reduce_bench
