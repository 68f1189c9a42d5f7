// JSON documents from the user, read with complaints that name the file and the place in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/json_fault.hpp"

namespace reduce_bench {

using Json = nlohmann::ordered_json;
using Names = std::span<const std::string_view>;

/// Limits of the times in results (the larger is 11 days), so that what a comparison computes from
/// them is finite.
inline constexpr double kLeastNs = 1e-3, kMostNs = 1e15;

/// The JSON as text, in one line unless it is indented. Bytes that are not UTF-8 become U+FFFD: a
/// command line and the last output of a process may hold any.
std::string json_text(const Json& json, int indent = -1);

/// Parses JSON that begins in line `first_line` of its file; `name` stands for the file in messages.
/// Throws UsageError that names the place of what `json_fault` finds.
Json parse_document(std::string_view text, const std::string& name, std::size_t first_line = 1);

/// Parses a file. Throws UsageError as above, and where the file cannot be read: that message says
/// `what` the file is and ends with `advice`.
Json read_document(const std::filesystem::path& file, const std::string& what,
                   const std::string& advice);

/// A value and where it stands, so that every complaint can name the place. All complaints are
/// UsageError.
class Node {
 public:
  Node(const Json& value, std::string pointer, const std::string& file)
      : value_(value), pointer_(std::move(pointer)), file_(file) {}
  Node(const Json& value, std::string pointer, std::string&& file) = delete;  ///< kept by reference

  [[noreturn]] void fail(const std::string& complaint) const;
  /// The file and the JSON pointer to this value.
  std::string where() const;
  [[noreturn]] void expected(const std::string& what) const;

  /// Checks that this is an object with no other keys than `allowed`.
  void check_keys(Names allowed) const;
  bool has(const std::string& key) const { return value_.contains(key); }
  Node at(const std::string& key) const;
  /// The elements of an array with at least so many.
  std::vector<Node> elements(std::size_t least = 1) const;
  std::vector<std::pair<std::string, Node>> members() const;

  /// A string, with control characters as JSON escapes them.
  std::string string() const;
  bool boolean() const;
  std::uint64_t integer(std::uint64_t least, std::uint64_t most) const;
  double number(double least, double most, bool open_below) const;
  /// A time that a clock can have measured.
  double positive_ns() const;
  /// An array of such times.
  std::vector<double> positive_ns_list() const;
  /// The index of one of the names.
  std::size_t name(Names allowed) const;
  /// A number or a string, as text.
  std::string scalar_text() const;
  bool is_null() const { return value_.is_null(); }
  bool is_string() const { return value_.is_string(); }
  bool is_object() const { return value_.is_object(); }
  const Json& json() const { return value_; }
  const std::string& file() const { return file_; }
  const std::string& pointer() const { return pointer_; }

  /// An array of distinct values read by `read`.
  template <class F>
  auto list(F&& read) const {
    std::vector<decltype(read(*this))> values;
    for (const Node& element : elements()) {
      values.push_back(read(element));
      if (std::count(values.begin(), values.end(), values.back()) > 1) element.fail_listed_twice();
    }
    return values;
  }

 private:
  [[noreturn]] void fail_listed_twice() const;

  const Json& value_;
  std::string pointer_;
  const std::string& file_;
};

}  // namespace reduce_bench
