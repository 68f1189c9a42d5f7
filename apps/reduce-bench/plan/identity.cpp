#include "plan/identity.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/names.hpp"
#include "common/text.hpp"
#include "plan/plan.hpp"

namespace reduce_bench {
namespace {

Json setting_json(const DistributionIdentity::Setting& setting) {
  return std::visit([](const auto& value) { return Json(value); }, setting);
}

DistributionIdentity::Setting read_setting(const Json& json) {
  if (json.is_number_unsigned()) return json.get<std::uint64_t>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  return json.dump();
}

DistributionIdentity read_distribution(const Node& node) {
  DistributionIdentity identity{.name = node.at("name").string(), .settings = {}};
  for (const auto& [name, value] : node.members())
    if (name != "name") identity.settings.emplace(name, read_setting(value.json()));
  return identity;
}

/// The identity of a `Distribution` or a `LabelDistribution`.
DistributionIdentity distribution_identity(const auto& distribution) {
  static const std::string no_file;
  return read_distribution(Node{reduce_bench::to_json(distribution), "", no_file});
}

Json to_json(const DistributionIdentity& distribution) {
  Json json{{"name", distribution.name}};
  for (const auto& [name, setting] : distribution.settings) json[name] = setting_json(setting);
  return json;
}

/// `zipf(1.5)`.
std::string brief(const DistributionIdentity& distribution) {
  std::string text = distribution.name;
  for (const auto& [name, setting] : distribution.settings)
    text += std::visit([](const auto& value) { return fmt::format("({})", value); }, setting);
  return text;
}

/// An operation that this build does not know is shown as one that has values.
bool shows_values(const std::string& operation) {
  const auto known = find_name(kOperationNames, operation);
  return !known || has_values(static_cast<Operation>(*known));
}

std::vector<std::pair<std::string, std::string>> sorted(const ParamsIdentity& params) {
  auto entries = params.entries;
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::string text_of(const std::vector<std::pair<std::string, std::string>>& params) {
  std::string text;
  for (const auto& [name, value] : params) text += fmt::format(" {}={}", name, value);
  return text;
}

}  // namespace

std::string DistributionIdentity::text() const {
  std::string text = name;
  for (const auto& [setting_name, setting] : settings)
    text += fmt::format(" {}={}", setting_name, setting_json(setting).dump());
  return text;
}

std::strong_ordering ParamsIdentity::operator<=>(const ParamsIdentity& other) const {
  return sorted(*this) <=> sorted(other);
}

std::string PointIdentity::text() const {
  const std::string keyed = buckets ? fmt::format(" into {} by {}", size_text(*buckets),
                                                  labels ? labels->text() : std::string{})
                                    : std::string{};
  return fmt::format("{}{}, {}{} {} {} {} on {}", variant, text_of(sorted(params)), size_text(n),
                     keyed, type, op, distribution.text(), backend);
}

std::string PointIdentity::line() const {
  std::string text = fmt::format("{} n={}", variant, n);
  if (buckets) text += fmt::format(" m={}", *buckets);
  text += fmt::format(" {}", type);
  if (op != name_of(Op::kNone)) text += fmt::format(" {}", op);
  if (shows_values(operation)) text += fmt::format(" {}", brief(distribution));
  if (labels) text += fmt::format(" {}", brief(*labels));
  return text + text_of(params.entries) + fmt::format(" on {}", backend);
}

PointIdentity identity_of(const Point& point) {
  PointIdentity identity{.variant = std::string(point.entry->variant.id),
                         .operation = std::string(name_of(point.operation())),
                         .backend = std::string(name_of(point.backend)),
                         .n = point.n,
                         .type = std::string(name_of(point.type)),
                         .op = std::string(name_of(point.op)),
                         .distribution = distribution_identity(point.distribution)};
  if (has_labels(point.operation())) {
    identity.buckets = point.buckets;
    identity.labels = distribution_identity(point.labels);
  }
  for (const Params::Entry& entry : point.params.entries())
    identity.params.entries.emplace_back(entry.name, entry.value);
  return identity;
}

PointIdentity read_identity(const Node& point) {
  PointIdentity identity{
      .variant = point.at("variant").string(),
      .operation = point.at("operation").string(),
      .backend = point.at("backend").string(),
      .n = point.at("n").integer(0, kMostCount),
      .type = point.at("type").string(),
      .op = point.at("op").string(),
      .distribution = read_distribution(point.at("distribution")),
  };
  if (point.has("labels") && !point.at("labels").is_null())  // older files leave them out
    identity.labels = read_distribution(point.at("labels"));
  if (const Node buckets = point.at("buckets"); !buckets.is_null())
    identity.buckets = buckets.integer(1, kMostCount);
  for (const auto& [name, value] : point.at("params").members())
    identity.params.entries.emplace_back(name, value.string());
  return identity;
}

Json to_json(const PointIdentity& identity) {
  Json params = Json::object();
  for (const auto& [name, value] : identity.params.entries) params[name] = value;
  return {{"variant", identity.variant},
          {"operation", identity.operation},
          {"backend", identity.backend},
          {"n", identity.n},
          {"buckets", identity.buckets ? Json(*identity.buckets) : Json(nullptr)},
          {"type", identity.type},
          {"op", identity.op},
          {"distribution", to_json(identity.distribution)},
          {"labels", identity.labels ? to_json(*identity.labels) : Json(nullptr)},
          {"params", params}};
}

}  // namespace reduce_bench
