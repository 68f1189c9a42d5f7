#include "plan/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "common/error.hpp"
#include "common/names.hpp"
#include "common/text.hpp"
#include "kernels/api/variant.hpp"

namespace reduce_bench {
namespace {

template <class Enum, std::size_t N>
std::vector<Enum> read_enums(const Node& node, const std::array<std::string_view, N>& names,
                             std::size_t count = N) {
  return node.list([&](const Node& element) {
    return static_cast<Enum>(element.name(Names{names}.first(count)));
  });
}

constexpr double kNoLimit = 1e18;
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 40;

void read_measurement(const Node& node, MeasurementSettings& out) {
  static constexpr std::array kKeys{
      std::string_view{"modes"},       std::string_view{"min_samples"},
      std::string_view{"max_samples"}, std::string_view{"max_time_ms"},
      std::string_view{"relative_ci"}, std::string_view{"interleave"},
      std::string_view{"clock_floor"}, std::string_view{"counters"},
      std::string_view{"energy"},      std::string_view{"point_timeout_s"}};
  node.check_keys(kKeys);
  if (node.has("modes")) out.modes = read_enums<Mode>(node.at("modes"), kModeNames);
  if (node.has("min_samples"))
    out.min_samples = static_cast<unsigned>(node.at("min_samples").integer(10, 1000000));
  if (node.has("max_samples"))
    out.max_samples = static_cast<unsigned>(node.at("max_samples").integer(10, 1000000));
  if (node.has("max_time_ms")) out.max_time_ms = node.at("max_time_ms").number(0, 1e9, true);
  if (node.has("relative_ci")) out.relative_ci = node.at("relative_ci").number(0, 1, true);
  if (node.has("interleave"))
    out.interleave = static_cast<unsigned>(node.at("interleave").integer(1, 1000));
  if (node.has("clock_floor")) out.clock_floor = node.at("clock_floor").number(0, 1, false);
  if (node.has("counters")) out.counters = node.at("counters").boolean();
  if (node.has("energy")) out.energy = node.at("energy").boolean();
  if (node.has("point_timeout_s"))
    out.point_timeout_s = node.at("point_timeout_s").number(0, 1e6, true);
  if (out.max_samples < out.min_samples)
    node.fail(fmt::format("max_samples ({}) is below min_samples ({})", out.max_samples,
                          out.min_samples));
}

/// Where a file of inputs is, of a distribution of values or labels. A configuration means the same
/// wherever it is read from, so a path in it begins at its own folder.
void find_file(const Node& file, const std::filesystem::path& folder, const char* whose,
               auto& out) {
  out.file = file.string();
  out.path = (folder / out.file).lexically_normal().string();
  std::error_code unknown;
  if (!std::filesystem::exists(out.path, unknown))
    file.fail(fmt::format("there is no '{}': {} path begins at the configuration's folder",
                          out.path, whose));
}

constexpr const char* kArrayAlone =
    R"(an array needs its file: {"name": "file", "file": "array.npy"})";

Distribution read_distribution(const Node& node, const std::filesystem::path& folder) {
  using Kind = Distribution::Kind;
  Distribution out;
  const Names names{Distribution::kNames};
  if (node.is_string()) {
    out.kind = static_cast<Kind>(node.name(names));
    if (out.kind == Kind::kFile) node.fail(kArrayAlone);
    return out;
  }
  if (!node.is_object()) node.expected("a distribution's name, or an object with its name");
  out.kind = static_cast<Kind>(node.at("name").name(names));
  std::vector<std::string_view> keys{"name"};
  if (out.kind == Kind::kCancelling) keys.push_back("condition");
  if (out.kind == Kind::kFile) keys.push_back("file");
  node.check_keys(keys);
  if (out.kind == Kind::kCancelling && node.has("condition"))
    out.condition = node.at("condition").number(1, kNoLimit, false);
  if (out.kind == Kind::kFile) {
    find_file(node.at("file"), folder, "an array's", out);
    out.array = std::make_shared<const NpyArray>(out.path);
  }
  return out;
}

constexpr std::size_t kDefaultBuckets = 256;
constexpr std::uint64_t kMostBuckets = std::uint64_t{1} << 32;

LabelDistribution read_label_distribution(const Node& node, const std::filesystem::path& folder) {
  using Kind = LabelDistribution::Kind;
  LabelDistribution out;
  const Names names{LabelDistribution::kNames};
  if (node.is_string()) {
    out.kind = static_cast<Kind>(node.name(names));
    if (out.kind == Kind::kImage)
      node.fail(R"(an image needs its file: {"name": "image", "file": "picture.pgm"})");
    if (out.kind == Kind::kFile) node.fail(kArrayAlone);
    return out;
  }
  if (!node.is_object()) node.expected("a label distribution's name, or an object with its name");
  out.kind = static_cast<Kind>(node.at("name").name(names));
  std::vector<std::string_view> keys{"name"};
  if (out.kind == Kind::kZipf) keys.push_back("exponent");
  if (out.kind == Kind::kRuns) keys.push_back("length");
  if (out.kind == Kind::kImage || out.kind == Kind::kFile) keys.push_back("file");
  node.check_keys(keys);
  if (out.kind == Kind::kZipf && node.has("exponent"))
    out.exponent = node.at("exponent").number(0, 10, true);
  if (out.kind == Kind::kRuns && node.has("length"))
    out.length = node.at("length").integer(1, kMostElements);
  if (out.kind == Kind::kImage || out.kind == Kind::kFile)
    find_file(node.at("file"), folder, out.kind == Kind::kImage ? "an image's" : "an array's", out);
  if (out.kind == Kind::kImage) out.image = std::make_shared<const Image>(read_image(out.path));
  if (out.kind == Kind::kFile) out.array = std::make_shared<const NpyArray>(out.path);
  return out;
}

/// Fails where no point of the sweep can have its inputs from the array: those that cannot alone are
/// skipped.
void check_array(const Node& node, const NpyArray& array, const std::vector<Type>& types,
                 const std::vector<std::size_t>& counts) {
  const auto fewest = *std::min_element(counts.begin(), counts.end());
  if (std::find(types.begin(), types.end(), array.type()) == types.end())
    node.fail(fmt::format("the array holds {}, not {}: save it as that, or change 'type'",
                          name_of(array.type()), name_of(types.front())));
  if (array.count() < fewest)
    node.fail(fmt::format("the array has {} elements, fewer than {}: ask for fewer", array.count(),
                          fewest));
}
/// The arrays that the sweep's values or labels come from.
void check_arrays(const Node& sweep, const Sweep& out) {
  const Extent any_values = arrays_of(out.operation, 1, 0, Type::kI32).values;
  const auto places = [&](const char* key) {
    return sweep.has(key) ? sweep.at(key).elements() : std::vector<Node>{};
  };
  const std::vector<Node> values = places("distribution"), labels = places("labels");
  for (std::size_t i = 0; i < values.size(); ++i)
    if (out.distributions[i].array != nullptr)
      check_array(values[i], *out.distributions[i].array, out.types,
                  any_values.count > 0 ? out.n : out.buckets);
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (out.labels[i].array != nullptr)
      check_array(labels[i], *out.labels[i].array,
                  has_values(out.operation) ? std::vector{kTypeOf<Label>} : out.types, out.n);
}

void read_size(const Node& node, std::uint64_t least, std::uint64_t most,
               std::vector<std::size_t>& out) {
  if (node.is_string()) {
    const auto size = whole_number(node.string());
    if (!size || *size < least || *size > most || !node.string().starts_with("2^"))
      node.expected(
          fmt::format("an integer from {} to {} or a power of two as \"2^20\"", least, most));
    out.push_back(*size);
    return;
  }
  if (!node.is_object()) {
    out.push_back(node.integer(least, most));
    return;
  }
  static constexpr std::array kKeys{std::string_view{"pow2"}};
  node.check_keys(kKeys);
  const Node range = node.at("pow2");
  const std::vector<Node> ends = range.elements(2);
  if (ends.size() > 3) range.expected("[first, last] or [first, last, step]");
  const std::uint64_t first = ends[0].integer(0, log2_ceil(most)),
                      last = ends[1].integer(0, log2_ceil(most));
  const std::uint64_t step = ends.size() == 3 ? ends[2].integer(1, 40) : 1;
  if (first > last)
    range.fail(fmt::format("the first exponent {} is above the last {}", first, last));
  for (std::uint64_t e = first; e <= last; e += step) out.push_back(std::size_t{1} << e);
}

void read_params(const Node& node, const Node* zip, Sweep& out) {
  for (const auto& [name, values] : node.members())
    out.params[name] = values.list([](const Node& value) { return value.scalar_text(); });
  if (zip == nullptr) return;
  std::set<std::string> zipped;
  for (const Node& group : zip->elements()) {
    std::vector<std::string> names;
    for (const Node& element : group.elements(2)) {
      const std::string name = element.string();
      if (!out.params.contains(name))
        element.fail(fmt::format("'{}' is not a key of 'params'", name));
      if (!zipped.insert(name).second) element.fail(fmt::format("'{}' is zipped twice", name));
      if (!names.empty() && out.params[name].size() != out.params[names[0]].size())
        element.fail(
            fmt::format("'{}' has {} values but '{}' has {}; parameters that vary together "
                        "need lists of one length",
                        name, out.params[name].size(), names[0], out.params[names[0]].size()));
      names.push_back(name);
    }
    out.zip.push_back(std::move(names));
  }
}

Sweep read_sweep(const Node& node, const MeasurementSettings& defaults,
                 const std::filesystem::path& folder) {
  static constexpr std::array kKeys{
      std::string_view{"variants"},     std::string_view{"operation"},
      std::string_view{"backends"},     std::string_view{"n"},
      std::string_view{"type"},         std::string_view{"op"},
      std::string_view{"distribution"}, std::string_view{"params"},
      std::string_view{"zip"},          std::string_view{"measurement"},
      std::string_view{"buckets"},      std::string_view{"labels"}};
  node.check_keys(kKeys);
  Sweep out;
  out.where = node.where();
  out.measurement = defaults;
  out.variants = node.at("variants").list([](const Node& glob) { return glob.string(); });
  if (node.has("operation"))
    out.operation = static_cast<Operation>(node.at("operation").name(kOperationNames));
  if (node.has("backends")) {
    for (const Node& element : node.at("backends").elements())
      if (element.is_string() && element.string() == "emu")
        element.fail("the emu backend verifies and is never timed; use 'reduce-bench verify'");
    out.backends = read_enums<Backend>(node.at("backends"), kBackendNames, kTimedBackendCount);
  }
  for (const Node& size : node.at("n").elements()) read_size(size, 0, kMostElements, out.n);
  for (const char* key : {"buckets", "labels"})
    if (node.has(key) && !has_labels(out.operation))
      node.at(key).fail(
          fmt::format("the operation '{}' has no labels: leave it out, or name a keyed operation "
                      "with 'operation'",
                      name_of(out.operation)));
  if (node.has("distribution") && !has_values(out.operation))
    node.at("distribution")
        .fail(fmt::format("the operation '{}' reads labels alone: leave it out, 'labels' says how "
                          "they are distributed",
                          name_of(out.operation)));
  if (has_labels(out.operation)) out.buckets = {kDefaultBuckets};
  if (node.has("buckets")) {
    out.buckets.clear();
    for (const Node& size : node.at("buckets").elements())
      read_size(size, 1, kMostBuckets, out.buckets);
  }
  if (node.has("labels"))
    out.labels = node.at("labels").list(
        [&](const Node& labels) { return read_label_distribution(labels, folder); });
  out.types = {default_type(out.operation)};
  out.ops = {default_op(out.operation)};
  if (node.has("type")) out.types = read_enums<Type>(node.at("type"), kTypeNames);
  if (node.has("op")) out.ops = read_enums<Op>(node.at("op"), kOpNames);
  if (node.has("distribution"))
    out.distributions = node.at("distribution").list([&](const Node& distribution) {
      return read_distribution(distribution, folder);
    });
  check_arrays(node, out);
  if (node.has("zip") && !node.has("params"))
    node.fail("'zip' names parameters, but there is no 'params'");
  if (node.has("params")) {
    if (node.has("zip")) {
      const Node zip = node.at("zip");
      read_params(node.at("params"), &zip, out);
    } else {
      read_params(node.at("params"), nullptr, out);
    }
  }
  if (node.has("measurement")) read_measurement(node.at("measurement"), out.measurement);
  return out;
}

/// `text` as a number where it is one as the program writes it, as JSON where it is JSON, else as a
/// string.
Json value_of(const std::string& text) {
  if (const auto number = whole_number(text)) return *number;
  const Json::parser_callback_t shallow = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kMostNesting)
      throw UsageError(fmt::format("--set: nests deeper than {} levels", kMostNesting));
    return true;
  };
  try {
    return Json::parse(text, shallow);
  } catch (const Json::exception&) {
    return text;
  }
}

/// The parts between commas that stand in no brackets and in no string.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts{{}};
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    if (!quoted && std::string_view("([{").find(c) != std::string_view::npos) ++depth;
    if (!quoted && std::string_view(")]}").find(c) != std::string_view::npos) --depth;
    if (c == ',' && !quoted && depth == 0) parts.emplace_back();
    else if (c != ' ' || !parts.back().empty()) parts.back() += c;
  }
  return parts;
}

/// The setting that a distribution of values or labels may have.
std::string_view setting_of(std::string_view distribution) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kSettings{
      {{"cancelling", "condition"},
       {"zipf", "exponent"},
       {"runs", "length"},
       {"image", "file"},
       {"file", "file"}}};
  for (const auto& [name, setting] : kSettings)
    if (name == distribution) return setting;
  return {};
}

/// A distribution as the program writes it, `zipf(1.2)`, `zipf exponent=1.2` or `uniform`, as a
/// configuration has it.
Json distribution_of(const std::string& text, Names known) {
  const std::size_t end = text.find_first_of("( ");
  const bool in_brackets = end != std::string::npos && text[end] == '(';
  if (end == std::string::npos || (in_brackets && !text.ends_with(')'))) return text;
  const std::string name = text.substr(0, end), setting(setting_of(name));
  if (!find_name(known, name)) return name;  // reading the distribution reports it
  if (setting.empty())
    throw UsageError(
        fmt::format("--set: '{}' takes no value, as 'zipf(1.2)' does: write '{}'", text, name));
  std::string value = text.substr(end + 1);
  if (in_brackets) value.pop_back();
  if (value.starts_with(setting + "=")) value.erase(0, setting.size() + 1);
  return {{"name", name}, {setting, setting == "file" ? Json(value) : value_of(value)}};
}

void apply_override(Json& document, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError(
        fmt::format("--set {}: expected key=value, such as n=1024,4096, "
                    "params.block=256 or measurement.max_time_ms=50",
                    setting));
  try {
    (void)Json(setting).dump();
  } catch (const Json::exception&) {
    throw UsageError(fmt::format("--set {}: this is not UTF-8; write it in UTF-8", setting));
  }
  const std::string key = setting.substr(0, equals), text = setting.substr(equals + 1);
  const std::size_t dot = key.find('.');
  const std::string section = key.substr(0, dot);
  static constexpr std::array kKeys{std::string_view{"backends"}, std::string_view{"n"},
                                    std::string_view{"type"},     std::string_view{"op"},
                                    std::string_view{"variants"}, std::string_view{"distribution"},
                                    std::string_view{"params"},   std::string_view{"measurement"},
                                    std::string_view{"buckets"},  std::string_view{"labels"}};
  const bool sectioned = section == "params" || section == "measurement";
  if (!find_name(kKeys, section) || sectioned != (dot != std::string::npos)) {
    throw UsageError(fmt::format(
        "--set {}: unknown key '{}'{}, allowed are n, buckets, type, op, distribution, labels, "
        "variants, backends, params.NAME and measurement.NAME",
        setting, key, sectioned ? "" : suggestion(section, kKeys)));
  }
  Json value = value_of(text);
  if (section != "measurement" || key == "measurement.modes") {
    if (value.is_object()) value = Json::array({value});
    if (!value.is_array()) {
      value = Json::array();
      // A list in brackets may hold what is no JSON, as 2^20.
      const bool in_brackets = text.starts_with('[') && text.ends_with(']');
      const std::string_view parts =
          in_brackets ? std::string_view(text).substr(1, text.size() - 2) : text;
      for (const std::string& part : parts_of(parts)) value.push_back(value_of(part));
    }
    if (section == "distribution" || section == "labels")
      for (Json& element : value)
        if (element.is_string())
          element = distribution_of(element, section == "labels" ? Names{LabelDistribution::kNames}
                                                                 : Names{Distribution::kNames});
  }
  if (!document.is_object() || !document.contains("sweeps") || !document["sweeps"].is_array())
    return;  // reading the document reports this
  for (Json& sweep : document["sweeps"]) {
    if (!sweep.is_object()) continue;
    if (sectioned) sweep[section][key.substr(dot + 1)] = value;
    else sweep[section] = value;
  }
}

}  // namespace

namespace {

Config read_root(const Json& document, const std::string& name,
                 const std::filesystem::path& folder) {
  const Node root{document, "", name};
  static constexpr std::array kKeys{std::string_view{"$schema"}, std::string_view{"schema"},
                                    std::string_view{"description"},
                                    std::string_view{"measurement"}, std::string_view{"sweeps"}};
  root.check_keys(kKeys);
  root.at("schema").integer(1, 1);
  Config config;
  if (root.has("$schema")) root.at("$schema").string();
  if (root.has("description")) config.description = root.at("description").string();
  MeasurementSettings defaults;
  if (root.has("measurement")) read_measurement(root.at("measurement"), defaults);
  for (const Node& sweep : root.at("sweeps").elements())
    config.sweeps.push_back(read_sweep(sweep, defaults, folder));
  return config;
}

}  // namespace

Config parse_config(Json document, const std::string& name,
                    const std::vector<std::string>& overrides,
                    const std::filesystem::path& folder) {
  Config config = read_root(document, name, folder);
  if (overrides.empty()) return config;
  // The file is good: what fails from here on is the command line's fault.
  for (const std::string& setting : overrides) apply_override(document, setting);
  Config overridden =
      read_root(document, fmt::format("--set {}", fmt::join(overrides, " --set ")), folder);
  // Variants and parameters are checked later: they are the file's unless they were replaced.
  if (std::none_of(overrides.begin(), overrides.end(), [](const std::string& setting) {
        return setting.starts_with("variants=") || setting.starts_with("params.");
      }))
    for (std::size_t i = 0; i < config.sweeps.size(); ++i)
      overridden.sweeps[i].where = config.sweeps[i].where;
  return overridden;
}

Config read_config(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  return parse_config(read_document(file, "the configuration", "name a file with --config"),
                      file.string(), overrides, file.parent_path());
}

Json to_json(const Distribution& distribution) {
  Json json{{"name", distribution.name()}};
  if (distribution.kind == Distribution::Kind::kCancelling)
    json["condition"] = distribution.condition;
  if (distribution.kind == Distribution::Kind::kFile) json["file"] = distribution.file;
  return json;
}

Json to_json(const LabelDistribution& distribution) {
  Json json{{"name", distribution.name()}};
  if (distribution.kind == LabelDistribution::Kind::kZipf) json["exponent"] = distribution.exponent;
  if (distribution.kind == LabelDistribution::Kind::kRuns) json["length"] = distribution.length;
  if (!distribution.file.empty()) json["file"] = distribution.file;
  return json;
}

Json to_json(const Config& config) {
  Json json{{"schema", 1}};
  if (!config.description.empty()) json["description"] = config.description;
  json["sweeps"] = Json::array();
  for (const Sweep& sweep : config.sweeps) {
    Json out{{"variants", sweep.variants}, {"operation", name_of(sweep.operation)}};
    const auto names = [](const auto& enumerators) {
      Json list = Json::array();
      for (const auto e : enumerators) list.push_back(name_of(e));
      return list;
    };
    if (!sweep.backends.empty()) out["backends"] = names(sweep.backends);
    out["n"] = sweep.n;
    out["type"] = names(sweep.types);
    out["op"] = names(sweep.ops);
    if (has_values(sweep.operation))
      for (const Distribution& d : sweep.distributions) out["distribution"].push_back(to_json(d));
    if (has_labels(sweep.operation)) {
      out["buckets"] = sweep.buckets;
      for (const LabelDistribution& d : sweep.labels) out["labels"].push_back(to_json(d));
    }
    if (!sweep.params.empty()) out["params"] = sweep.params;
    if (!sweep.zip.empty()) out["zip"] = sweep.zip;
    const MeasurementSettings& m = sweep.measurement;
    out["measurement"] = {{"modes", names(m.modes)},
                          {"min_samples", m.min_samples},
                          {"max_samples", m.max_samples},
                          {"max_time_ms", m.max_time_ms},
                          {"relative_ci", m.relative_ci},
                          {"interleave", m.interleave},
                          {"clock_floor", m.clock_floor},
                          {"counters", m.counters},
                          {"energy", m.energy}};
    if (m.point_timeout_s) out["measurement"]["point_timeout_s"] = *m.point_timeout_s;
    json["sweeps"].push_back(std::move(out));
  }
  return json;
}

}  // namespace reduce_bench
