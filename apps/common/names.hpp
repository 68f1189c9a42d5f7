// Matching and suggesting names.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace reduce_bench {

/// The candidate that `name` may be a slip of the keyboard for, or the beginning of; empty where
/// none is near.
std::string nearest(std::string_view name, std::span<const std::string_view> candidates);

/// " (did you mean 'x'?)" or nothing. It stands beside what is allowed, not in place of it.
std::string suggestion(std::string_view name, std::span<const std::string_view> candidates);

/// `'a', 'b' or 'c'`.
std::string one_of(std::span<const std::string_view> names);

/// `a, b, c, d and 5 more`.
std::string some_of(std::span<const std::string> names);

/// Shell-style matching of variant ids; `*` also matches '/'.
bool glob_matches(const std::string& glob, std::string_view id);

/// The index of `name` in `names`, or nothing.
std::optional<std::size_t> find_name(std::span<const std::string_view> names,
                                     std::string_view name);

}  // namespace reduce_bench
