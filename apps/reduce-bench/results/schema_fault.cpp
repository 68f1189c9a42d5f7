#include "results/schema_fault.hpp"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "common/text.hpp"

namespace reduce_bench {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kTypeTexts{
    {{"object", "an object"},
     {"array", "an array"},
     {"string", "a string"},
     {"number", "a number"},
     {"integer", "an integer"},
     {"boolean", "true or false"},
     {"null", "null"}}};
constexpr std::size_t kMostExcerpt = 60;
constexpr const char* kAdvice = "the file was altered, or written by another revision";

using Fault = std::optional<std::string>;

const Json& root() {
  static const Json schema = Json::parse(results_schema());
  return schema;
}

const Json& nothing() {
  static const Json schema = Json::object();
  return schema;
}

/// The value of a keyword; an empty object where the schema lacks it.
const Json& member(const Json& schema, const char* keyword) {
  const auto found = schema.find(keyword);
  return found == schema.end() ? nothing() : *found;
}

const Json& resolved(const Json& schema) {
  const auto reference = schema.find("$ref");
  if (reference == schema.end()) return schema;
  static std::map<std::string, const Json*> known;
  const Json*& found = known[*reference];
  if (found == nullptr)
    found = &resolved(root().at(Json::json_pointer(reference->get<std::string>().substr(1))));
  return *found;
}

bool is(const Json& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "number") return value.is_number();
  if (type == "integer") return value.is_number_integer();
  if (type == "boolean") return value.is_boolean();
  return value.is_null();
}

std::string text_of(const Json& value) { return json_text(value); }

std::string found_text(const Json& value, const std::string& expected, const std::string& at) {
  std::string text = text_of(value);
  if (text.size() > kMostExcerpt) text = std::string(first_bytes(text, kMostExcerpt - 3)) + "...";
  return fmt::format("{}: found {}, expected {}", at.empty() ? "/" : at, text, expected);
}

std::string joined(const std::vector<std::string>& texts, bool with_commas) {
  std::string text;
  for (std::size_t i = 0; i < texts.size(); ++i)
    text += (i == 0 ? "" : with_commas && i + 1 < texts.size() ? ", " : " or ") + texts[i];
  return text;
}

Fault fault_of(const Json& value, const Json& unresolved, const std::string& at);

Fault fault_of_type(const Json& value, const Json& schema, const std::string& at) {
  const Json& type = member(schema, "type");
  if (type.is_string() ? is(value, type.get_ref<const std::string&>())
                       : type.empty() || std::any_of(type.begin(), type.end(), [&](const Json& t) {
                           return is(value, t.get_ref<const std::string&>());
                         }))
    return std::nullopt;
  std::vector<std::string> texts;
  for (const Json& each : type.is_string() ? Json::array({type}) : type)
    for (const auto& [name, text] : kTypeTexts)
      if (each == name) texts.emplace_back(text);
  return found_text(value, joined(texts, false), at);
}

/// A message lists at most so many choices; of longer lists it shows the first few.
constexpr std::size_t kMostChoices = 10, kChoicesOfMany = 7;

Fault fault_of_choice_of_values(const Json& value, const Json& schema, const std::string& at) {
  std::vector<const Json*> allowed;
  for (const Json& each : member(schema, "enum")) allowed.push_back(&each);
  if (const auto found = schema.find("const"); found != schema.end()) allowed.push_back(&*found);
  if (allowed.empty() ||
      std::any_of(allowed.begin(), allowed.end(), [&](const Json* each) { return *each == value; }))
    return std::nullopt;
  std::vector<std::string> texts;
  for (const Json* each : allowed)
    texts.push_back(each->is_string() ? fmt::format("'{}'", each->get_ref<const std::string&>())
                                      : text_of(*each));
  if (texts.size() > kMostChoices) {
    const std::size_t more = texts.size() - kChoicesOfMany;
    texts.resize(kChoicesOfMany);
    texts.push_back(fmt::format("one of {} more", more));
  }
  return found_text(value, joined(texts, true), at);
}

Fault fault_of_number(const Json& value, const Json& schema, const std::string& at) {
  if (!value.is_number()) return std::nullopt;
  if (const auto least = schema.find("minimum"); least != schema.end() && value < *least)
    return found_text(value, "at least " + text_of(*least), at);
  if (const auto below = schema.find("exclusiveMinimum"); below != schema.end() && value <= *below)
    return found_text(value, "more than " + text_of(*below), at);
  return std::nullopt;
}

/// A POSIX extended expression, as all of the schema are.
class Pattern {
 public:
  explicit Pattern(const std::string& expression) {
    if (::regcomp(&compiled_, expression.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
      throw std::logic_error(fmt::format("'{}' is no regular expression", expression));
  }
  ~Pattern() { ::regfree(&compiled_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  /// Whether it is found in the text.
  bool matches(const std::string& text) const {
    regmatch_t part{.rm_so = 0, .rm_eo = static_cast<regoff_t>(text.size())};
    return ::regexec(&compiled_, text.c_str(), 1, &part, REG_STARTEND) == 0;
  }

 private:
  regex_t compiled_{};
};

bool matches(const std::string& text, const std::string& expression) {
  static std::map<std::string, Pattern> known;
  return known.try_emplace(expression, expression).first->second.matches(text);
}

Fault fault_of_text(const Json& value, const Json& schema, const std::string& at) {
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  if (text.empty() && schema.contains("minLength"))
    return found_text(value, "a string that is not empty", at);
  const auto pattern = schema.find("pattern");
  if (pattern == schema.end()) return std::nullopt;
  const auto& expression = pattern->get_ref<const std::string&>();
  if (matches(text, expression)) return std::nullopt;
  return found_text(value, "text as " + expression, at);
}

Fault fault_of_object(const Json& value, const Json& schema, const std::string& at) {
  if (!value.is_object()) return std::nullopt;
  const std::string here = at.empty() ? "/" : at;
  for (const Json& key : member(schema, "required"))
    if (!value.contains(key.get_ref<const std::string&>()))
      return fmt::format("{}: the key '{}' is missing", here, key.get_ref<const std::string&>());
  if (value.empty() && schema.contains("minProperties")) return found_text(value, "a member", at);
  if (!value.empty() && schema.contains("maxProperties"))
    return found_text(value, "no members", at);
  const Json &properties = member(schema, "properties"),
             &others = member(schema, "additionalProperties");
  for (const auto& [key, each] : value.items()) {
    const auto known = properties.find(key);
    if (known == properties.end() && others == false)
      return fmt::format("{}: unknown key '{}'", here, key);
    const Json& of_key = known == properties.end() ? others : *known;
    if (of_key.empty()) continue;
    if (Fault fault = fault_of(each, of_key, fmt::format("{}/{}", at, key))) return fault;
  }
  return std::nullopt;
}

Fault fault_of_array(const Json& value, const Json& schema, const std::string& at) {
  if (!value.is_array()) return std::nullopt;
  if (value.empty() && schema.contains("minItems"))
    return found_text(value, "an array that is not empty", at);
  const auto items = schema.find("items");
  if (items == schema.end()) return std::nullopt;
  const Json& of_item = resolved(*items);
  for (std::size_t i = 0; i < value.size(); ++i)
    if (Fault fault = fault_of(value[i], of_item, fmt::format("{}/{}", at, i))) return fault;
  return std::nullopt;
}

/// Where several schemas are allowed, the fault that the last finds: null, if allowed, stands first.
Fault fault_of_choice(const Json& value, const Json& schema, const std::string& at) {
  Fault said;
  for (const char* keyword : {"anyOf", "oneOf"})
    for (const Json& choice : member(schema, keyword)) {
      said = fault_of(value, choice, at);
      if (!said) break;
    }
  if (said) return said;
  for (const Json& each : member(schema, "allOf"))
    if (Fault fault = fault_of(value, each, at)) return fault;
  if (const auto condition = schema.find("if"); condition != schema.end())
    return fault_of(value, member(schema, fault_of(value, *condition, at) ? "else" : "then"), at);
  return std::nullopt;
}

Fault fault_of(const Json& value, const Json& unresolved, const std::string& at) {
  const Json& schema = resolved(unresolved);
  for (const auto& fault_of_kind :
       {fault_of_type, fault_of_choice_of_values, fault_of_number, fault_of_text, fault_of_object,
        fault_of_array, fault_of_choice})
    if (Fault fault = fault_of_kind(value, schema, at)) return fault;
  return std::nullopt;
}

}  // namespace

void check_results_schema(const Node& document) {
  if (const Fault fault = fault_of(document.json(), root(), ""))
    throw UsageError(fmt::format("{}: {}: {}", document.file(), *fault, kAdvice));
}

void check_point_schema(const Node& point) {
  const Json& schema = root().at("definitions").at("point");
  if (const Fault fault = fault_of(point.json(), schema, point.pointer()))
    throw UsageError(fmt::format("{}: {}: {}", point.file(), *fault, kAdvice));
}

}  // namespace reduce_bench
