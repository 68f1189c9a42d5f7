#include "common/json_fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <vector>

#include "common/document.hpp"

namespace reduce_bench {
namespace {

constexpr std::size_t kMostShown = 20;  // characters of the line before and after a fault

constexpr std::string_view kCutShort = "the file ends here, perhaps cut short: write it again";
constexpr std::string_view kComment = "a comment, which JSON does not have: remove it";
constexpr std::string_view kSingleQuotes = "single quotes: write double quotes";
constexpr std::string_view kNoValue =
    "no value: one is a number, a string in double quotes, true, false, null, [...] or {...}";
constexpr std::string_view kNoKey = "no key: write one in double quotes";
constexpr std::string_view kNoColon = "a colon is missing after the key: write it";
constexpr std::string_view kNoComma = "a comma is missing before this: write it";
constexpr std::string_view kUnclosed = "a string that does not end in its line: close its quotes";
constexpr std::string_view kBadEscape =
    "a backslash that begins no escape of JSON: write it as two backslashes";
constexpr std::string_view kHalfPair = "half of a surrogate pair: write the whole character";
constexpr std::string_view kNotUtf8 = "a byte that is not UTF-8: save the file as UTF-8";
constexpr std::string_view kTwice = "a key that stands twice in one object: keep one";
constexpr std::string_view kTooLarge = "a number larger than any that can be read: change it";
constexpr std::string_view kMoreText = "more text after the end of the document: remove it";

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

/// The bytes of the character that begins the text; 0 where they are not UTF-8.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  // Neither longer than it need be, nor a half of a pair, nor beyond the last character.
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
      (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f))
    return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  return size;
}

std::size_t first_not_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t bytes = character_bytes(text.substr(i));
    if (bytes == 0) break;
    i += bytes;
  }
  return i;
}

bool is_utf16(std::string_view text) {
  return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff") ||
         (text.size() >= 2 && (text[0] == '\0') != (text[1] == '\0'));
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '+' ||
         c == '-' || c == '.';
}

/// Whether a word is a number as JSON writes it.
bool is_number(std::string_view word) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t begin = i;
    while (i < word.size() && is_digit(word[i])) ++i;
    return i > begin;
  };
  if (i < word.size() && word[i] == '-') ++i;
  if (i < word.size() && word[i] == '0') ++i;
  else if (!digits()) return false;
  if (i < word.size() && word[i] == '.') {
    ++i;
    if (!digits()) return false;
  }
  if (i < word.size() && (word[i] == 'e' || word[i] == 'E')) {
    ++i;
    if (i < word.size() && (word[i] == '+' || word[i] == '-')) ++i;
    if (!digits()) return false;
  }
  return i == word.size();
}

/// Reads a text until its first fault.
class Scan {
 public:
  Scan(std::string_view text, std::size_t first_line) : text_(text), first_line_(first_line) {}

  std::optional<std::string> fault() {
    if (const std::size_t bad = first_not_utf8(text_); bad < text_.size()) {
      invalid(bad, kNotUtf8);
      return fault_;
    }
    while (!fault_ && step()) {
    }
    return fault_;
  }

 private:
  enum class Next { kValue, kValueOrEnd, kKey, kKeyOrEnd, kColon, kCommaOrEnd, kNothing };

  struct Open {
    char bracket;
    std::set<std::string> keys;
  };

  /// Such as `line 3, column 7, near '"n": [8,]'`
  std::string place(std::size_t at) const {
    const std::string_view before = text_.substr(0, at);
    const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
    const auto lines = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    std::string shown;
    const auto show = [&](std::string_view part) {
      for (const char c : part) shown += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    };
    std::size_t from = at;
    for (std::size_t left = kMostShown; left > 0 && from > begin; --left)
      while (from > begin && is_continuation(text_[--from])) {
      }
    if (from > begin) shown += "...";
    while (from < at && is_space(text_[from])) ++from;
    show(text_.substr(from, at - from));
    std::size_t to = at;
    for (std::size_t left = kMostShown; left > 0 && to < text_.size() && text_[to] != '\n'; --left)
      if (const std::size_t bytes = character_bytes(text_.substr(to)); bytes > 0) to += bytes;
      else break;
    show(text_.substr(at, to - at));
    if (to < text_.size() && text_[to] != '\n' && character_bytes(text_.substr(to)) > 0)
      shown += "...";
    return fmt::format("line {}, column {}, near '{}'", first_line_ + lines,
                       characters(text_.substr(begin, at - begin)) + 1, shown);
  }
  void invalid(std::size_t at, std::string_view cause) {
    fault_ = fmt::format("not valid JSON at {}: {}", place(at), cause);
  }
  void unreadable(std::size_t at, std::string_view cause) {
    fault_ = fmt::format("{}: {}", place(at), cause);
  }

  /// Reads a token; false at the end of the text.
  bool step() {
    while (i_ < text_.size() && is_space(text_[i_])) ++i_;
    if (i_ == text_.size()) {
      if (next_ != Next::kNothing) invalid(end_of_last_, kCutShort);
      return false;
    }
    const std::string_view rest = text_.substr(i_);
    if (rest.starts_with("//") || rest.starts_with("/*") || rest[0] == '#') invalid(i_, kComment);
    else if (next_ == Next::kNothing) invalid(i_, kMoreText);
    else if (next_ == Next::kColon) read_colon();
    else if (rest[0] == '}' || rest[0] == ']') read_end();
    else if (next_ == Next::kCommaOrEnd) read_comma();
    else if (rest[0] == '\'') invalid(i_, kSingleQuotes);
    else if (next_ == Next::kKey || next_ == Next::kKeyOrEnd) read_key();
    else read_value();
    end_of_last_ = i_;
    return true;
  }

  void read_colon() {
    if (text_[i_] != ':') return invalid(i_, kNoColon);
    ++i_;
    next_ = Next::kValue;
  }

  void read_comma() {
    if (text_[i_] == '^' && is_number(text_.substr(last_, i_ - last_)))
      return invalid(last_, power_in_quotes());
    if (text_[i_] != ',') return invalid(i_, kNoComma);
    comma_ = i_++;
    next_ = open_.back().bracket == '{' ? Next::kKey : Next::kValue;
  }

  /// The fault of a power as the program writes it, such as 2^10, whose base was read as a number.
  std::string power_in_quotes() const {
    std::size_t end = i_ + 1;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return fmt::format("a power without quotes: write \"{}\"",
                       text_.substr(last_, std::min(end - last_, kMostShown)));
  }

  void read_end() {
    const char c = text_[i_];
    if (comma_ && end_of_last_ == *comma_ + 1)
      return invalid(*comma_, fmt::format("a comma before '{}': remove it", c));
    if (next_ == Next::kValue) return invalid(i_, kNoValue);
    const char belongs = open_.back().bracket == '{' ? '}' : ']';
    if (c != belongs) return invalid(i_, fmt::format("'{}' where '{}' belongs", c, belongs));
    ++i_;
    open_.pop_back();
    end_value();
  }

  void read_key() {
    if (text_[i_] != '"') return invalid(i_, kNoKey);
    const std::size_t at = i_;
    if (!read_string()) return;
    if (!open_.back().keys.insert(Json::parse(text_.substr(at, i_ - at))).second)
      return unreadable(at, kTwice);
    next_ = Next::kColon;
  }

  void read_value() {
    const char c = text_[i_];
    if (c == '{' || c == '[') {
      if (open_.size() == static_cast<std::size_t>(kMostNesting))
        return unreadable(i_, fmt::format("nests deeper than {} levels", kMostNesting));
      open_.push_back({c, {}});
      ++i_;
      next_ = c == '{' ? Next::kKeyOrEnd : Next::kValueOrEnd;
      return;
    }
    if (c == '"') {
      if (read_string()) end_value();
      return;
    }
    std::size_t end = i_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    const std::string word(text_.substr(i_, end - i_));
    if (is_number(word)) {
      if (!std::isfinite(std::strtod(word.c_str(), nullptr))) return unreadable(i_, kTooLarge);
    } else if (word != "true" && word != "false" && word != "null") {
      if (end > i_ && end == text_.size()) return invalid(end, kCutShort);
      return invalid(i_, kNoValue);
    }
    last_ = i_;
    i_ = end;
    end_value();
  }

  void end_value() { next_ = open_.empty() ? Next::kNothing : Next::kCommaOrEnd; }

  /// The four hexadecimal digits at a place; nothing where there are fewer.
  std::optional<unsigned> hex(std::size_t at) const {
    const std::string digits(text_.substr(std::min(at, text_.size()), 4));
    const bool all =
        digits.size() == 4 && std::all_of(digits.begin(), digits.end(), [](unsigned char c) {
          return is_digit(static_cast<char>(c)) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        });
    if (!all) return std::nullopt;
    return static_cast<unsigned>(std::strtoul(digits.c_str(), nullptr, 16));
  }

  /// Passes a string; false where it has a fault.
  bool read_string() {
    const std::size_t begin = i_++;
    while (i_ < text_.size() && text_[i_] != '"') {
      const auto c = static_cast<unsigned char>(text_[i_]);
      if (c == '\\') read_escape();
      else if (c == '\n' || c == '\r') invalid(begin, kUnclosed);
      else if (c < 0x20) invalid(i_, fmt::format("a control character: write it as \\u{:04x}", c));
      else ++i_;
      if (fault_) return false;
    }
    if (i_++ < text_.size()) return true;
    invalid(text_.size(), kCutShort);
    return false;
  }

  void read_escape() {
    const std::size_t at = i_;
    i_ = std::min(at + (text_.substr(at + 1).starts_with('u') ? 6 : 2), text_.size());
    if (i_ == text_.size()) return;  // the string has no end either
    if (i_ == at + 2) {
      if (std::string_view("\"\\/bfnrt").find(text_[at + 1]) == std::string_view::npos)
        invalid(at, kBadEscape);
      return;
    }
    const std::optional<unsigned> code = hex(at + 2);
    if (!code) return invalid(at, kBadEscape);
    if (*code < 0xd800 || *code > 0xdfff) return;
    const bool is_first = *code < 0xdc00 && text_.substr(i_).starts_with("\\u");
    const unsigned second = is_first ? hex(i_ + 2).value_or(0) : 0;
    if (second < 0xdc00 || second > 0xdfff) return invalid(at, kHalfPair);
    i_ += 6;
  }

  std::string_view text_;
  std::size_t first_line_;
  std::size_t i_ = 0, end_of_last_ = 0;
  std::size_t last_ = 0;              // where the last number or word began
  std::optional<std::size_t> comma_;  // the last one
  Next next_ = Next::kValue;
  std::vector<Open> open_;
  std::optional<std::string> fault_;
};

}  // namespace

std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return text;
}

std::optional<std::string> json_fault(std::string_view text, std::size_t first_line) {
  if (first_line == 1 && is_utf16(text)) return "not valid JSON: it is UTF-16: save it as UTF-8";
  text = without_byte_order_mark(text);
  if (std::all_of(text.begin(), text.end(), is_space))
    return "not valid JSON: the file is empty: write it again, or name another";
  return Scan(text, first_line).fault();
}

}  // namespace reduce_bench
