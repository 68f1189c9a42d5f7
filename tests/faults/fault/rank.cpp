// fault/rank: the sum of several ranks' shares, whose last rank does something else

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "kernels/shared/combine_ranks.hpp"
#include "tests/faults/one_thread.hpp"

namespace reduce_bench::BACKEND::fault_rank {

struct Rank {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const DeviceShare& own = call.shares.front();
    T part = sum_of(call.values(own), own.n);
    const unsigned ranks = devices_of(call.problem);
    if (ranks > 1 && mpi::rank() == ranks - 1) {
      const std::string& what = call.params().text("last");
      if (what == "killed") std::raise(SIGKILL);
      if (what == "exits") ::_exit(7);
      if (what == "throws") throw std::runtime_error("thrown on purpose");
      if (what == "hangs") std::this_thread::sleep_for(std::chrono::hours(1));
      if (what == "late") std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (what == "wrong") ++part;
      if (what == "oversteps") own.workspace[16] = std::byte{1};
    }
    combine_ranks<Op>(call, own, &part, 1);
    if (ranks > 1 && mpi::rank() == ranks - 1 && call.params().is("last", "spoils"))
      ++*call.results(own);
  }
};

Variant variant() {
  Variant variant = fault<Rank>("fault/rank", "the sum, but for the last rank");
  variant.params = {
      devices_axis(),
      result_axis(),
      {"last",
       "good",
       {"good", "killed", "exits", "throws", "hangs", "late", "wrong", "oversteps", "spoils"},
       "what the last rank does"}};
  variant.workspace = [](const Problem&) -> Workspace { return {.device_bytes = 16}; };
  variant.loaded_library = mpi_version;
  return variant;
}

}  // namespace reduce_bench::BACKEND::fault_rank
