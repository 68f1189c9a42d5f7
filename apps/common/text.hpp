// Sizes, times and text from outside, made fit for a line of a terminal or a report.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace reduce_bench {

/// UTF-8 without control characters: those as JSON escapes them, and what is not UTF-8 as U+FFFD.
std::string printable(const std::string& text);

/// The first so many bytes, or a few less where the cut would divide a character.
std::string_view first_bytes(std::string_view text, std::size_t most);

/// The last so many bytes, likewise.
std::string_view last_bytes(std::string_view text, std::size_t most);

/// `2^20`, or the number where it is no large power of two.
std::string size_text(std::size_t n);

/// `1.23 ns`, `45.67 ms`: three significant digits of nanoseconds, four of longer times.
std::string duration_text(double ns);

}  // namespace reduce_bench
