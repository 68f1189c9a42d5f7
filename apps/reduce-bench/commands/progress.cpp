#include "commands/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace reduce_bench {
namespace {

std::string clock_text(double seconds) {
  const auto whole = static_cast<unsigned long>(seconds);
  return whole < 60 ? fmt::format("{} s", whole)
                    : fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

Progress::Progress(std::size_t total) : total_(total), live_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::clear() const {
  if (!live_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}

double Progress::even_share(std::size_t k) const {
  return static_cast<double>(k) / static_cast<double>(total_);
}

std::string Progress::line(std::size_t k, const std::string& what, double share) const {
  const double elapsed_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  std::string text = fmt::format("[{}/{}] {} elapsed", k + 1, total_, clock_text(elapsed_s));
  if (share > 0 && share < 1)
    text += fmt::format(", about {} left", clock_text(elapsed_s / share * (1 - share)));
  return fmt::format("{} | {}", text, what);
}

void Progress::show(std::size_t k, const std::string& what, double share) {
  std::string text = line(k, what, share);
  if (text.size() >= terminal_columns()) text.resize(terminal_columns() - 1);
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
}

void Progress::begin(std::size_t k, const std::string& what, double share) {
  if (live_) show(k, what, share);
}

void Progress::pass(std::size_t k, const std::string& what, std::optional<double> share) {
  if (live_) {
    // Small steps follow each other faster than anybody reads.
    const auto now = std::chrono::steady_clock::now();
    if (now - shown_ < std::chrono::milliseconds(50)) return;
    shown_ = now;
    show(k, what, share.value_or(even_share(k)));
  } else if (k >= passed_ + std::max<std::size_t>(1, total_ / 10)) {
    passed_ = k;
    fmt::print(stderr, "{}\n", line(k, what, share.value_or(even_share(k))));
  }
}

void Progress::end(std::size_t k, const std::string& what, const std::string& outcome) {
  if (live_) return;  // the next begin overwrites the line
  fmt::print(stderr, "[{}/{}] {}: {}\n", k + 1, total_, what, outcome);
}

}  // namespace reduce_bench
