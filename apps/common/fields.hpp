// The members of a structure, for what must treat all of them alike.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

/// Declares the members of an aggregate, in their order. It does not compile where one is left out.
/// `fields(value)` is a tuple of references to them, `field_names(value)` their names.
#define FIELDS(Type, ...)                                    \
  inline auto fields(const Type& value) {                    \
    const auto& [__VA_ARGS__] = value;                       \
    return std::tie(__VA_ARGS__);                            \
  }                                                          \
  inline auto fields(Type& value) {                          \
    auto& [__VA_ARGS__] = value;                             \
    return std::tie(__VA_ARGS__);                            \
  }                                                          \
  inline std::vector<std::string> field_names(const Type&) { \
    return reduce_bench::split_names(#__VA_ARGS__);          \
  }                                                          \
  static_assert(std::is_aggregate_v<Type>)

namespace reduce_bench {

/// The names in `a, b, c`.
inline std::vector<std::string> split_names(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    names.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(list.find_first_not_of(", ", end), list.size()));
  }
  return names;
}

}  // namespace reduce_bench
