// fault/slowable-kernel: the right sum; in one build it takes about a twentieth longer than in the
// other, by the clock of where it runs, as after a change that a comparison must find.

#include "tests/faults/clock.hpp"
#include "tests/faults/one_thread.hpp"
#include "tests/faults/slowable.hpp"

namespace reduce_bench::BACKEND::fault_slowable_kernel {

/// What the two launches add on a GPU to the time between their first and their last instruction,
/// about: at 2^10 elements half of the 7 us that an H100 takes.
constexpr double kLaunchNs = 3500;

/// No atomics on one address, which take longer or shorter by where it lies: sums of 2^20 elements
/// by 512 of them differed on an H100 by 5 % between two allocations of one process.
#ifdef __CUDACC__
constexpr unsigned kBlocks = 128, kThreads = 128, kWarps = kThreads / kWarpSize;
#else
constexpr unsigned kBlocks = 1;
#endif

template <class T>
struct Scratch {
  unsigned long long start;  ///< by the clock
  T sums[kBlocks];           ///< of the blocks
};

#ifdef __CUDACC__
template <class T>
__device__ T sum_of_block(T sum) {
  __shared__ T sums[kWarps];
  for (unsigned lane = kWarpSize / 2; lane > 0; lane /= 2)
    sum = Sum::combine(sum, __shfl_down_sync(0xffffffffu, sum, lane));
  if (threadIdx.x % kWarpSize == 0) sums[threadIdx.x / kWarpSize] = sum;
  __syncthreads();
  for (unsigned warp = 1; warp < kWarps; ++warp) sum = Sum::combine(sum, sums[warp]);
  return sum;  // thread 0's is that of the block
}

template <class T>
__global__ void sum_kernel(const T* input, Scratch<T>* scratch, std::size_t n) {
  if (blockIdx.x == 0 && threadIdx.x == 0) scratch->start = clock_ns();
  T sum = Sum::identity<T>();
  for (std::size_t i = blockIdx.x * kThreads + threadIdx.x; i < n; i += kBlocks * kThreads)
    sum = Sum::combine(sum, input[i]);
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) scratch->sums[blockIdx.x] = sum;
}
#else
template <class T>
__global__ void sum_kernel(const T* input, Scratch<T>* scratch, std::size_t n) {
  scratch->start = clock_ns();
  scratch->sums[0] = sum_of(input, n);
}
#endif

template <class T>
__global__ void slow_kernel(const Scratch<T>* scratch, T* output, double share) {
#ifdef __CUDACC__
  static_assert(kThreads == kBlocks);
  const T sum = sum_of_block(scratch->sums[threadIdx.x]);
  if (threadIdx.x != 0) return;
#else
  const T sum = scratch->sums[0];
#endif
  *output = sum;
  const double took_ns = kLaunchNs + static_cast<double>(clock_ns() - scratch->start);
  const unsigned long long end = clock_ns() + static_cast<unsigned long long>(share * took_ns);
  while (clock_ns() < end) {
  }
}

struct SlowableKernel {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    auto* scratch = call.template scratch<Scratch<T>>();
#ifdef __CUDACC__
    launch(&sum_kernel<T>, {kBlocks, kThreads, 0, call.stream}, call.values(), scratch, call.n());
    launch(&slow_kernel<T>, {1, kThreads, 0, call.stream}, scratch, call.results(),
           slowable_kernel_share());
#else
    on_one_thread(call.stream, &sum_kernel<T>, call.values(), scratch, call.n());
    on_one_thread(call.stream, &slow_kernel<T>, scratch, call.results(), slowable_kernel_share());
#endif
  }
};

Variant variant() {
  Variant variant = fault<SlowableKernel>("fault/slowable-kernel", "a twentieth longer");
  variant.workspace = [](const Problem&) -> Workspace {
    return {.device_bytes = sizeof(Scratch<double>)};
  };
  return variant;
}

}  // namespace reduce_bench::BACKEND::fault_slowable_kernel
