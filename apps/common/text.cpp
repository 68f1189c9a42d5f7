#include "common/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/document.hpp"

namespace reduce_bench {
namespace {

bool is_inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

}  // namespace

std::string printable(const std::string& text) {
  std::string out;
  // Each part is escaped as JSON does, but for quotes and backslashes, which stay as they are.
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\"\\", start), text.size());
    const std::string quoted =
        Json(text.substr(start, end - start)).dump(-1, ' ', false, Json::error_handler_t::replace);
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

std::string duration_text(double ns) {
  if (ns < 1e3) return fmt::format("{:.3g} ns", ns);
  if (ns < 1e6) return fmt::format("{:.4g} us", ns / 1e3);
  if (ns < 1e9) return fmt::format("{:.4g} ms", ns / 1e6);
  return fmt::format("{:.4g} s", ns / 1e9);
}

}  // namespace reduce_bench
