// What is wrong with a text that should be JSON: where, and the likely cause.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace reduce_bench {

/// The deepest nesting that is read: more than any of the documents needs.
inline constexpr int kMostNesting = 16;

/// The first fault of a text, as a clause with its line and column, what stands there, the likely
/// cause and what to do; nothing where the text can be read. Beside what JSON forbids, a fault is
/// what would be lost or not fit: a key that stands twice in one object, nesting deeper than
/// kMostNesting, a number too large for a double. The text begins in line `first_line` of its file.
/// `scripts/reduce_bench_report/json_fault.py` says the same in the same words.
std::optional<std::string> json_fault(std::string_view text, std::size_t first_line = 1);

/// The text without the mark that some editors put before UTF-8.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace reduce_bench
