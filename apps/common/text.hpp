// Sizes, times and text from outside, made fit for a line of a terminal or a report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reduce_bench {

/// The text as UTF-8 without control characters, which become JSON's escapes; bytes that are not
/// UTF-8 become U+FFFD.
std::string printable(const std::string& text);

/// The first `most` bytes, or a few fewer where the cut would divide a character.
std::string_view first_bytes(std::string_view text, std::size_t most);

/// The last `most` bytes, likewise.
std::string_view last_bytes(std::string_view text, std::size_t most);

/// `2^20`, or the number where it is no large power of two.
std::string size_text(std::size_t n);

/// `1 point`, `2 points`.
std::string counted(std::size_t count, const std::string& noun);

/// The whole number that is written as `1024`, `2^20` or `1e6`; nothing where it is none, or 2^64 and
/// more.
std::optional<std::uint64_t> whole_number(std::string_view text);

/// `1.23 ns`, `45.67 ms`: three significant digits of nanoseconds, four of longer times.
std::string duration_text(double ns);

/// The time now, as `2026-01-31T12:00:00Z`.
std::string utc_now();

/// The text with what XML takes for its own replaced, and without control characters.
std::string xml(const std::string& text);

}  // namespace reduce_bench
