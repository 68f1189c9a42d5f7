// fault/slowable-kernel: the right sum; in one build it takes about a twentieth longer than in the
// other, by the clock of where it runs, as after a change that a comparison must find.

#include "tests/faults/clock.hpp"
#include "tests/faults/one_thread.hpp"
#include "tests/faults/slowable.hpp"

namespace reduce_bench::BACKEND::fault_slowable_kernel {

/// What the three launches add on a GPU to the time between their first and their last instruction,
/// about: at 2^10 elements 5.5 of the 8.8 us that an H100 takes.
constexpr double kLaunchNs = 5500;

template <class T>
__global__ void begin_kernel(T* output, unsigned long long* start) {
  *output = Sum::identity<T>();
  *start = clock_ns();
}

#ifdef __CUDACC__
constexpr unsigned kBlocks = 128, kThreads = 128;

template <class T>
__global__ void sum_kernel(const T* input, T* output, std::size_t n) {
  T sum = Sum::identity<T>();
  for (std::size_t i = blockIdx.x * kThreads + threadIdx.x; i < n; i += kBlocks * kThreads)
    sum = Sum::combine(sum, input[i]);
  for (unsigned lane = kWarpSize / 2; lane > 0; lane /= 2)
    sum = Sum::combine(sum, __shfl_down_sync(0xffffffffu, sum, lane));
  if (threadIdx.x % kWarpSize == 0) atomicAdd(output, sum);
}
#else
template <class T>
__global__ void sum_kernel(const T* input, T* output, std::size_t n) {
  *output = sum_of(input, n);
}
#endif

__global__ void slow_kernel(const unsigned long long* start, double share) {
  const double took_ns = kLaunchNs + static_cast<double>(clock_ns() - *start);
  const unsigned long long end = clock_ns() + static_cast<unsigned long long>(share * took_ns);
  while (clock_ns() < end) {
  }
}

struct SlowableKernel {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    auto* start = call.template scratch<unsigned long long>();
    on_one_thread(call.stream, &begin_kernel<T>, call.results(), start);
#ifdef __CUDACC__
    launch(&sum_kernel<T>, {kBlocks, kThreads, 0, call.stream}, call.values(), call.results(),
           call.n());
#else
    on_one_thread(call.stream, &sum_kernel<T>, call.values(), call.results(), call.n());
#endif
    on_one_thread(call.stream, &slow_kernel, start, slowable_kernel_share());
  }
};

Variant variant() {
  Variant variant = fault<SlowableKernel>("fault/slowable-kernel", "a twentieth longer");
  variant.workspace = [](const Problem&) -> Workspace {
    return {.device_bytes = sizeof(unsigned long long)};
  };
  return variant;
}

}  // namespace reduce_bench::BACKEND::fault_slowable_kernel
