// report7/shared-tree: 2B elements in shared memory, a tree, one atomic per block
//
// Source: report7 section 1.2; Table 1 and Figures 1 to 3, column "Reduction".
// Idea: a block copies 2B elements to shared memory, two per thread, and folds the upper half onto
//   the lower until one element is left; its first thread adds that to the result atomically.
// Fixes: report7/naive-atomic queues n updates for one word; here there are n / 2B updates.
// Launch: a fill of the result, then ceil(n / 2B) blocks of B threads, 2B * sizeof(T) bytes of
//   shared memory.
// Traffic: n elements read, the result written; the atomics stay in the L2 cache.
// Preconditions: B is a power of two; the operator commutes; positions beyond n hold the neutral
//   element.
// Deviations: the source sums doubles; all four types here. It does not say B, nor who clears the
//   result: a kernel does, within the measured time. The order of the atomics varies, so float sums
//   differ from run to run. The report's times for this kernel have a floor near 550 us that the
//   kernel does not explain, and at the two largest sizes they mean 2.7 and 2.3 GB/s, at most 16 %
//   of the peak of any card that has atomicAdd on doubles (docs/adr/0010-claims.md).

#include "kernels/reduce/passes.hpp"
#include "kernels/shared/atomics.hpp"

namespace reduce_bench::BACKEND::report7_shared_tree {

template <class T, class Op>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t start = 2 * std::size_t{blockIdx.x} * blockDim.x;

  for (unsigned k = t; k < 2 * blockDim.x; k += blockDim.x)
    partial[k] = start + k < n ? values[start + k] : Op::template identity<T>();

  for (unsigned stride = blockDim.x; stride > 0; stride /= 2) {
    __syncthreads();
    if (t < stride) partial[t] = Op::combine(partial[t], partial[t + stride]);
  }

  if (t == 0) atomic_combine<Op>(results, partial[0]);
}

struct Report7SharedTree {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    const auto blocks = static_cast<unsigned>(blocks_of_pass(call.n(), 2 * block));
    enqueue_fill(call.stream, call.results(), 1, Op::template identity<T>());
    launch(kernel<T, Op>, {blocks, block, 2 * block * sizeof(T), call.stream}, call.values(),
           call.n(), call.results());
  }
};

Variant variant() {
  return {
      .id = "report7/shared-tree",
      .title = "shared-memory tree, one atomic per block",
      .source = "report7 1.2, Table 1",
      .fidelity = Fidelity::kAsPublished,
      .params = {{"block",
                  "256",
                  {"64", "128", "256", "512", "1024"},
                  "threads (not stated in the report)"}},
      .depth = [](const Problem& p) -> std::uint64_t {
        return log2_ceil(two_per_thread(p)) + blocks_of_pass(p.n, two_per_thread(p));
      },
      .enqueue = instantiate<Report7SharedTree, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::report7_shared_tree
