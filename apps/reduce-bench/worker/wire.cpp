#include "worker/wire.hpp"

#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>

#include "common/fields.hpp"
#include "plan/variants.hpp"

// A structure travels as an array of its members (common/fields.hpp), an enumerator as its number,
// an optional that is empty as null, and a map as an array of pairs.

namespace reduce_bench {

FIELDS(MeasurementSettings, modes, min_samples, max_samples, max_time_ms, relative_ci, interleave,
       clock_floor, counters, energy, point_timeout_s);
FIELDS(Distribution, kind, condition, file, path, array);
FIELDS(LabelDistribution, kind, exponent, length, file, path, image, array);
FIELDS(DeviceTraits, sm_count, max_threads_per_sm, max_blocks_per_sm, max_shared_bytes_per_block,
       max_blocks_per_cluster, overlapping_launches, devices);

namespace {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class K, class V>
inline constexpr bool kIsMap<std::map<K, V>> = true;
/// A vector whose elements must be encoded one by one.
template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = !std::is_arithmetic_v<T>;

/// What the receiver reads from a file itself.
template <class T>
inline constexpr bool kIsRead = std::same_as<T, std::shared_ptr<const Image>> ||
                                std::same_as<T, std::shared_ptr<const NpyArray>>;

/// A file is read once, however many points have their inputs from it.
template <class T>
std::shared_ptr<const T> read_once(const std::string& path, auto&& read) {
  static std::map<std::string, std::shared_ptr<const T>> kept;
  auto& held = kept[path];
  if (!held) held = read(path);
  return held;
}
std::shared_ptr<const Image> image_of(const std::string& path) {
  return read_once<Image>(path, [](const std::string& file) {
    return std::make_shared<const Image>(read_image(file));
  });
}
std::shared_ptr<const NpyArray> array_of(const std::string& path) {
  return read_once<NpyArray>(
      path, [](const std::string& file) { return std::make_shared<const NpyArray>(file); });
}

template <class T>
Json encode(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return static_cast<unsigned>(value);
  } else if constexpr (kIsOptional<T>) {
    return value ? encode(*value) : Json(nullptr);
  } else if constexpr (kIsMap<T> || kIsList<T>) {
    Json list = Json::array();
    for (const auto& entry : value) list.push_back(encode(entry));
    return list;
  } else if constexpr (std::same_as<T, const CatalogEntry*>) {
    return value->variant.id;
  } else if constexpr (std::same_as<T, Params>) {
    Json list = Json::array();
    for (const Params::Entry& entry : value.entries())
      list.push_back(Json::array({entry.name, entry.value}));
    return list;
  } else if constexpr (kIsRead<T>) {
    return nullptr;
  } else if constexpr (requires { value.first; }) {
    return Json::array({encode(value.first), encode(value.second)});
  } else if constexpr (requires { fields(value); }) {
    return std::apply([](const auto&... member) { return Json::array({encode(member)...}); },
                      fields(value));
  } else {
    return value;
  }
}

template <class T>
void decode(const Json& json, T& value) {
  if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(json.get<unsigned>());
  } else if constexpr (kIsOptional<T>) {
    value.reset();
    if (!json.is_null()) decode(json, value.emplace());
  } else if constexpr (kIsMap<T>) {
    value.clear();
    for (const Json& entry : json) {
      typename T::key_type key{};
      decode(entry.at(0), key);
      decode(entry.at(1), value[key]);
    }
  } else if constexpr (kIsList<T>) {
    value.clear();
    for (const Json& entry : json) decode(entry, value.emplace_back());
  } else if constexpr (std::same_as<T, const CatalogEntry*>) {
    value = &find_variant(json);
  } else if constexpr (std::same_as<T, Params>) {
    for (const Json& entry : json) value.set(entry.at(0), entry.at(1));
  } else if constexpr (kIsRead<T>) {
    value = nullptr;
  } else if constexpr (requires { fields(value); }) {
    std::size_t i = 0;
    std::apply([&](auto&... member) { (decode(json.at(i++), member), ...); }, fields(value));
  } else {
    json.get_to(value);
  }
}

template <class T>
T decoded(const Json& json) {
  T value;
  decode(json, value);
  return value;
}

}  // namespace

Json to_wire(const Point& point) { return encode(point); }
Point point_from_wire(const Json& json) {
  auto point = decoded<Point>(json);
  Distribution& values = point.distribution;
  LabelDistribution& labels = point.labels;
  if (values.kind == Distribution::Kind::kFile) values.array = array_of(values.path);
  if (labels.kind == LabelDistribution::Kind::kImage) labels.image = image_of(labels.path);
  if (labels.kind == LabelDistribution::Kind::kFile) labels.array = array_of(labels.path);
  return point;
}

Json to_wire(const ExecuteOptions& options) { return encode(options); }
ExecuteOptions options_from_wire(const Json& json) { return decoded<ExecuteOptions>(json); }

Json to_wire(const DeviceTraits& traits) { return encode(traits); }
DeviceTraits traits_from_wire(const Json& json) { return decoded<DeviceTraits>(json); }

Json to_wire(const DeclaredPlugin& plugin) { return encode(plugin); }
DeclaredPlugin plugin_from_wire(const Json& json) { return decoded<DeclaredPlugin>(json); }

Json to_wire(const Ceilings& ceilings) { return encode(ceilings); }
Ceilings ceilings_from_wire(const Json& json) { return decoded<Ceilings>(json); }

Json to_wire(const Record& record) {
  return std::apply(
      [](const Point&, const auto&... member) { return Json::array({encode(member)...}); },
      fields(record));
}
Record record_from_wire(const Json& json, const Point& point) {
  Record record{.point = point};
  std::size_t i = 0;
  std::apply([&](Point&, auto&... member) { (decode(json.at(i++), member), ...); }, fields(record));
  return record;
}

}  // namespace reduce_bench
