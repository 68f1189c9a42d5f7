#include "common/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>
#include <limits>

#include "common/document.hpp"

namespace reduce_bench {
namespace {

bool is_inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

std::optional<std::uint64_t> decimal(std::string_view digits) {
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> power(std::uint64_t base, std::uint64_t exponent) {
  if (base <= 1) return exponent == 0 ? 1 : base;
  std::uint64_t value = 1;
  for (; exponent > 0; --exponent) {
    if (value > std::numeric_limits<std::uint64_t>::max() / base) return std::nullopt;
    value *= base;
  }
  return value;
}

}  // namespace

std::string printable(const std::string& text) {
  std::string out;
  // Each part is escaped as JSON does, but for quotes and backslashes, which stay as they are.
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\"\\", start), text.size());
    const std::string quoted = json_text(Json(text.substr(start, end - start)));
    out.append(quoted, 1, quoted.size() - 2);
    if (end < text.size()) out += text[end];
    start = end + 1;
  }
  return out;
}

std::string_view first_bytes(std::string_view text, std::size_t most) {
  std::size_t end = std::min(most, text.size());
  while (end > 0 && is_inside_character(text, end)) --end;
  return text.substr(0, end);
}

std::string_view last_bytes(std::string_view text, std::size_t most) {
  std::size_t start = text.size() - std::min(most, text.size());
  while (is_inside_character(text, start)) ++start;
  return text.substr(start);
}

std::string size_text(std::size_t n) {
  if (n >= 1024 && (n & (n - 1)) == 0) {
    unsigned exponent = 0;
    while ((std::size_t{1} << exponent) < n) ++exponent;
    return fmt::format("2^{}", exponent);
  }
  return fmt::format("{}", n);
}

std::string counted(std::size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  if (const std::size_t hat = text.find('^'); hat != std::string_view::npos) {
    const auto base = decimal(text.substr(0, hat)), exponent = decimal(text.substr(hat + 1));
    return base && exponent ? power(*base, *exponent) : std::nullopt;
  }
  const std::size_t e = text.find_first_of("eE");
  if (e == std::string_view::npos) return decimal(text);
  std::string_view exponent = text.substr(e + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  const auto zeros = decimal(exponent);
  // Exactly: the exponent moves the point to the right, beyond the last digit.
  std::string digits(text.substr(0, e));
  std::size_t after_point = 0;
  if (const std::size_t point = digits.find('.'); point != std::string::npos) {
    digits.erase(point, 1);
    after_point = digits.size() - point;
  }
  if (!zeros || *zeros > 30 || *zeros < after_point) return std::nullopt;
  return decimal(digits.append(*zeros - after_point, '0'));
}

std::string duration_text(double ns) {
  if (ns < 1e3) return fmt::format("{:.3g} ns", ns);
  if (ns < 1e6) return fmt::format("{:.4g} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.4g} ms", ns / 1e6);
  return fmt::format("{:.4g} s", ns / 1e9);
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string xml(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      // Other control characters do not exist in XML 1.0.
      default: escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

}  // namespace reduce_bench
