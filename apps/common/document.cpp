#include "common/document.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "common/error.hpp"
#include "common/names.hpp"
#include "common/text.hpp"

namespace reduce_bench {
namespace {

std::string excerpt(const Json& value) {
  std::string text = json_text(value);
  if (text.size() <= 60) return text;
  return std::string(first_bytes(text, 57)) + "...";
}

}  // namespace

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json parse_document(std::string_view text, const std::string& name, std::size_t first_line) {
  if (const auto fault = json_fault(text, first_line))
    throw UsageError(fmt::format("{}: {}", name, *fault));
  try {
    return Json::parse(without_byte_order_mark(text));
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("{}: a value cannot be read: {}", name, error.what()));
  }
}

Json read_document(const std::filesystem::path& file, const std::string& what,
                   const std::string& advice) {
  std::ifstream stream(file);
  std::error_code unknown;
  const bool folder = std::filesystem::is_directory(file, unknown);  // opens, but cannot be read
  if (!stream || folder)
    throw UsageError(fmt::format("cannot read {} '{}': {}", what, file.string(),
                                 reason_and_advice(folder ? EISDIR : errno, advice)));
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  return parse_document(text, file.string());
}

void Node::fail(const std::string& complaint) const {
  throw UsageError(fmt::format("{}: {}", where(), complaint));
}

std::string Node::where() const {
  return fmt::format("{}: {}", file_, pointer_.empty() ? "/" : pointer_);
}
void Node::expected(const std::string& what) const {
  fail(fmt::format("found {}, expected {}", excerpt(value_), what));
}
void Node::fail_listed_twice() const { fail(fmt::format("{} is listed twice", excerpt(value_))); }

void Node::check_keys(Names allowed) const {
  if (!value_.is_object()) expected("an object");
  for (const auto& [key, unused] : value_.items()) {
    if (find_name(allowed, key)) continue;
    fail(fmt::format("unknown key '{}'{}, allowed are {}", key, suggestion(key, allowed),
                     one_of(allowed)));
  }
}

Node Node::at(const std::string& key) const {
  if (!value_.is_object()) expected("an object");
  if (!has(key)) fail(fmt::format("the key '{}' is missing", key));
  return {value_.at(key), pointer_ + "/" + key, file_};
}

std::vector<Node> Node::elements(std::size_t least) const {
  if (!value_.is_array() || value_.size() < least)
    expected(least > 1    ? fmt::format("an array of at least {} elements", least)
             : least == 1 ? std::string("an array that is not empty")
                          : std::string("an array"));
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < value_.size(); ++i)
    nodes.emplace_back(value_.at(i), fmt::format("{}/{}", pointer_, i), file_);
  return nodes;
}

std::vector<std::pair<std::string, Node>> Node::members() const {
  if (!value_.is_object()) expected("an object");
  std::vector<std::pair<std::string, Node>> nodes;
  for (const auto& [key, member] : value_.items())
    nodes.emplace_back(printable(key), Node{member, pointer_ + "/" + key, file_});
  return nodes;
}

std::string Node::string() const {
  if (!value_.is_string() || value_.get_ref<const std::string&>().empty())
    expected("a string that is not empty");
  return printable(value_.get_ref<const std::string&>());
}

bool Node::boolean() const {
  if (!value_.is_boolean()) expected("true or false");
  return value_.get<bool>();
}

std::uint64_t Node::integer(std::uint64_t least, std::uint64_t most) const {
  // What a program wrote may be signed where what was parsed is not.
  if (!value_.is_number_integer() || value_ < 0 || value_.get<std::uint64_t>() < least ||
      value_.get<std::uint64_t>() > most)
    expected(fmt::format("an integer from {} to {}", least, most));
  return value_.get<std::uint64_t>();
}

double Node::number(double least, double most, bool open_below) const {
  if (!value_.is_number()) expected("a number");
  const double x = value_.get<double>();
  if (!(open_below ? x > least : x >= least) || !(x <= most))
    expected(fmt::format("a number {} {} and at most {}", open_below ? "above" : "of at least",
                         least, most));
  return x;
}

double Node::positive_ns() const { return number(kLeastNs, kMostNs, false); }

std::vector<double> Node::positive_ns_list() const {
  if (!value_.is_array()) expected("an array of times");
  std::vector<double> times;
  times.reserve(value_.size());
  for (const Json& element : value_) times.push_back(Node{element, pointer_, file_}.positive_ns());
  return times;
}

std::size_t Node::name(Names allowed) const {
  if (!value_.is_string()) expected(one_of(allowed));
  const auto& text = value_.get_ref<const std::string&>();
  if (const auto index = find_name(allowed, text)) return *index;
  fail(
      fmt::format("found \"{}\"{}, expected {}", text, suggestion(text, allowed), one_of(allowed)));
}

std::string Node::scalar_text() const {
  if (value_.is_string()) return string();
  if (!value_.is_number_integer() || value_ < 0) expected("a string or a non-negative integer");
  return value_.dump();
}

}  // namespace reduce_bench
