// Whether somebody put a clock of his own in the place of the system's.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <stdexcept>
#include <vector>

namespace reduce_bench {

/// Whether the clock that times foreign code ran as the processor's own counter did, which no library
/// stands before.
class ClockCheck {
 public:
  void begin() {
    if (samples_.empty()) {
      first_ticks_ = ticks();
      first_ns_ = system_ns();
    }
    begun_ticks_ = ticks();
  }
  /// A sample took so long by the clock.
  void end(double ns) { samples_.push_back({ns, ticks() - begun_ticks_}); }
  /// Throws where it did not, in more than half of the samples since the last call. Others may differ,
  /// where the thread was interrupted between looking at the two: they do not move a median.
  void conclude() {
    if (samples_.empty()) return;
    const double ns_per_tick =
        (system_ns() - first_ns_) / static_cast<double>(ticks() - first_ticks_);
    const auto differ = std::count_if(samples_.begin(), samples_.end(), [&](const Sampled& sample) {
      const double counted_ns = ns_per_tick * static_cast<double>(sample.ticks);
      return counted_ns > 1.25 * sample.ns + kAllowanceNs ||
             sample.ns > 1.25 * counted_ns + kAllowanceNs;
    });
    const bool alike = 2 * static_cast<std::size_t>(differ) <= samples_.size();
    samples_.clear();
    if (!alike)
      throw std::runtime_error(
          "while it was timed, the clock did not run as the system's: it may not be changed");
  }

 private:
  struct Sampled {
    double ns;
    std::uint64_t ticks;
  };

  /// Asked of the system itself, past what may stand in the place of the C library's clock.
  static double system_ns() {
    timespec now{};
    (void)::syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
  }
#if defined(__x86_64__)
  static constexpr double kAllowanceNs = 2e4;  // to look at both, which is slow after a flush
  static std::uint64_t ticks() { return __builtin_ia32_rdtsc(); }
#elif defined(__aarch64__)
  static constexpr double kAllowanceNs = 2e4;  // to look at both, which is slow after a flush
  static std::uint64_t ticks() {
    std::uint64_t ticks = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
  }
#else
  static constexpr double kAllowanceNs = 1e5;
  static std::uint64_t ticks() { return static_cast<std::uint64_t>(system_ns()); }
#endif

  std::vector<Sampled> samples_;
  std::uint64_t first_ticks_ = 0, begun_ticks_ = 0;
  double first_ns_ = 0;
};

}  // namespace reduce_bench
