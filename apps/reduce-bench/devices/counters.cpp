#include "devices/counters.hpp"

#include <linux/perf_event.h>
#include <omp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <mutex>

namespace reduce_bench {
namespace {

constexpr std::uint64_t cache_event(std::uint64_t cache, std::uint64_t result) {
  return cache | std::uint64_t{PERF_COUNT_HW_CACHE_OP_READ} << 8 | result << 16;
}

std::string why_refused(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "the system forbids it: set /proc/sys/kernel/perf_event_paranoid to 2 or less, or "
             "grant CAP_PERFMON";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP: return "this processor, or the virtual machine it is, has no such counter";
    case ENOSYS: return "this kernel has no perf events";
    default: return std::string("perf_event_open failed: ") + std::strerror(error);
  }
}

/// One event, counted on every thread of an OpenMP team.
class TeamCounter {
 public:
  TeamCounter() = default;
  ~TeamCounter() {
    for (const int descriptor : descriptors_) close(descriptor);
  }
  TeamCounter(const TeamCounter&) = delete;
  TeamCounter& operator=(const TeamCounter&) = delete;

  /// Called by every thread.
  void open(const Event& event) {
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = event.type;
    attributes.config = event.config;
    attributes.disabled = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    const long descriptor =
        syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    const int error = errno;
    const std::lock_guard lock(mutex_);
    if (descriptor < 0) refused_for_ = error;
    else descriptors_.push_back(static_cast<int>(descriptor));
  }
  bool is_open() const { return refused_for_ == 0; }

  void enable(bool on) {
    for (const int descriptor : descriptors_)
      if (ioctl(descriptor, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) != 0)
        refused_for_ = errno;
  }

  Counter read(std::string_view name) const {
    const auto unavailable = [&](std::string why) {
      return Counter{.name = std::string(name), .unavailable = std::move(why)};
    };
    if (!is_open()) return unavailable(why_refused(refused_for_));
    double total = 0;
    for (const int descriptor : descriptors_) {
      struct {
        std::uint64_t count, enabled_ns, running_ns;
      } seen{};
      if (::read(descriptor, &seen, sizeof(seen)) != sizeof(seen))
        return unavailable(std::string("cannot read the count: ") + std::strerror(errno));
      if (seen.enabled_ns > 0 && seen.running_ns == 0)
        return unavailable("other events held the processor's counters all the time");
      // The kernel may share a counter among events: the count is scaled to the whole time. A
      // thread that did not run meanwhile adds nothing.
      if (seen.enabled_ns > 0)
        total += static_cast<double>(seen.count) * static_cast<double>(seen.enabled_ns) /
                 static_cast<double>(seen.running_ns);
    }
    return {.name = std::string(name), .count = static_cast<std::uint64_t>(std::llround(total))};
  }

 private:
  std::mutex mutex_;
  std::vector<int> descriptors_;
  int refused_for_ = 0;  ///< errno
};

}  // namespace

std::span<const Event> miss_events() {
  static constexpr std::array<Event, kCounterNames.size()> kEvents{
      Event{kCounterNames[0], PERF_TYPE_HW_CACHE,
            cache_event(PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
      Event{kCounterNames[1], PERF_TYPE_HW_CACHE,
            cache_event(PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_RESULT_MISS)},
      Event{kCounterNames[2], PERF_TYPE_HW_CACHE,
            cache_event(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_RESULT_MISS)},
      Event{kCounterNames[3], PERF_TYPE_HW_CACHE,
            cache_event(PERF_COUNT_HW_CACHE_LL, PERF_COUNT_HW_CACHE_RESULT_MISS)}};
  return kEvents;
}

std::vector<Counter> count_events(std::span<const Event> events,
                                  const std::function<void()>& prepare,
                                  const std::function<void()>& work) {
  std::vector<TeamCounter> team(events.size());
  // An event counts the thread that opens it. OpenMP keeps the threads of this region for the next.
#pragma omp parallel
  for (std::size_t i = 0; i < events.size(); ++i) team[i].open(events[i]);

  if (std::any_of(team.begin(), team.end(), [](const auto& each) { return each.is_open(); })) {
    prepare();
    for (TeamCounter& each : team) each.enable(true);
    work();
    for (TeamCounter& each : team) each.enable(false);
  }
  std::vector<Counter> counters;
  for (std::size_t i = 0; i < events.size(); ++i) counters.push_back(team[i].read(events[i].name));
  return counters;
}

}  // namespace reduce_bench
