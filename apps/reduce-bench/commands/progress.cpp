#include "commands/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

Progress::~Progress() {
  if (live_) fmt::print(stderr, "\r\033[K");
}

std::string Progress::remaining(std::size_t done) const {
  const double elapsed_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  std::string text = clock_text(elapsed_s) + " elapsed";
  if (done > 0 && done < total_)
    text += ", about " +
            clock_text(elapsed_s / static_cast<double>(done) * static_cast<double>(total_ - done)) +
            " left";
  return text;
}

void Progress::begin(std::size_t k, const std::string& what) {
  if (!live_) return;
  std::string line = fmt::format("[{}/{}] {} | {}", k + 1, total_, remaining(k), what);
  if (line.size() >= terminal_columns()) line.resize(terminal_columns() - 1);
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
}

void Progress::end(std::size_t k, const std::string& what, const std::string& outcome) {
  if (live_) return;  // the next begin overwrites the line
  fmt::print(stderr, "[{}/{}] {}: {}\n", k + 1, total_, what, outcome);
}

}  // namespace reduce_bench
