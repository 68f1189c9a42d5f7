#include "worker/interrupt.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

#include "common/error.hpp"

namespace reduce_bench {
namespace {

volatile std::sig_atomic_t count = 0;
int event = -1;

void on_interrupt(int) {
  const int saved = errno;
  count = count + 1;
  const std::uint64_t one = 1;
  // It can only fail where the counter is full, and then the descriptor is readable anyway.
  [[maybe_unused]] const ssize_t wrote = write(event, &one, sizeof(one));
  errno = saved;
}

}  // namespace

void catch_interrupts() {
  event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction action{}, before{};
  action.sa_handler = &on_interrupt;
  sigemptyset(&action.sa_mask);
  if (event < 0 || sigaction(SIGINT, &action, nullptr) != 0 ||
      sigaction(SIGTERM, &action, nullptr) != 0 || sigaction(SIGHUP, &action, &before) != 0 ||
      // Started by nohup, the process must go on without a terminal.
      (before.sa_handler == SIG_IGN && sigaction(SIGHUP, &before, nullptr) != 0))
    throw UsageError(
        fmt::format("cannot catch signals: {}", reason_and_advice(errno, "free some memory")));
}

int interrupts() {
  std::uint64_t unused = 0;
  // Nothing to read is the usual case.
  if (event >= 0) {
    [[maybe_unused]] const ssize_t got = read(event, &unused, sizeof(unused));
  }
  return count;
}

int interrupt_descriptor() { return event; }

}  // namespace reduce_bench
