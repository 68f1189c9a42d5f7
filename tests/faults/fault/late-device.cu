// fault/late-device: the sum of several devices' shares, whose last device takes a known time. If the
// first device alone has the result, it is sent so late; if all have it, the last one has it so late.

#include "kernels/api/devices.hpp"
#include "tests/faults/clock.hpp"
#include "tests/faults/one_thread.hpp"
#if defined(__CUDACC__) || defined(REDUCE_BENCH_EMU)
#include "kernels/shared/flagged.hpp"
#endif

namespace reduce_bench::BACKEND::fault_late_device {

#if defined(__CUDACC__) || defined(REDUCE_BENCH_EMU)
template <class T>
struct Devices {
  flagged::Slot<T>* slots[kMostDevices];  ///< of each device, one for the sum of each
  T* results[kMostDevices];
  unsigned count, rank, delay_us;
};

__device__ inline void wait_until(unsigned long long end) {
  while (clock_ns() < end) wait_hint();
}

template <class T>
__global__ void late_kernel(const T* values, std::size_t n, Devices<T> devices) {
  const unsigned rank = devices.rank;
  const bool late = rank == devices.count - 1, all = devices.results[devices.count - 1] != nullptr;
  const unsigned long long end = clock_ns() + (late ? devices.delay_us * 1000ull : 0);
  T total = sum_of(values, n);
  if (!all) wait_until(end);
  for (unsigned to = 0; to < devices.count; ++to) {
    if (to == rank || devices.results[to] == nullptr) continue;
    while (load_volatile(&devices.slots[to][rank]).word[0].tag != 0) wait_hint();
    flagged::publish(&devices.slots[to][rank], total);
  }
  if (devices.results[rank] != nullptr) {
    for (unsigned from = 0; from < devices.count; ++from)
      if (from != rank) total = Sum::combine(total, flagged::take(&devices.slots[rank][from]));
    *devices.results[rank] = total;
  }
  wait_until(end);
}
#endif

struct LateDevice {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
#if defined(__CUDACC__) || defined(REDUCE_BENCH_EMU)
    Devices<T> devices{.count = static_cast<unsigned>(call.shares.size()),
                       .rank = 0,
                       .delay_us = call.params().number("delay_us")};
    for (unsigned rank = 0; rank < devices.count; ++rank) {
      devices.slots[rank] = reinterpret_cast<flagged::Slot<T>*>(call.shares[rank].workspace);
      devices.results[rank] = call.results(call.shares[rank]);
    }
    launch_on_devices(late_kernel<T>, {1, 1, 0, {}}, call.shares, [&](unsigned rank) {
      devices.rank = rank;
      return std::tuple(call.values(call.shares[rank]), call.shares[rank].n, devices);
    });
#else
    *call.results() = sum_of(call.values(), call.n());
#endif
  }
};

Variant variant() {
  Variant variant = fault<LateDevice>("fault/late-device", "the sum, late on the last device");
  variant.params = {devices_axis(),
                    result_axis(),
                    {"delay_us", "0", {"0", "1000", "10000"}, "that the last device takes"}};
  variant.workspace = [](const Problem&) -> Workspace {
    return {.device_bytes = 16 * kMostDevices, .zeroed_bytes = 16 * kMostDevices};
  };
  return variant;
}

}  // namespace reduce_bench::BACKEND::fault_late_device
