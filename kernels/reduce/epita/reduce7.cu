// epita/reduce7: cascading and one global atomic per thread
//
// Source: Carlinet and Chazalon, GPU Computing: Reduction Pattern (EPITA 2023), reduce7 (after the
//   summary table).
// Idea: each thread adds elements one grid size apart in a register, and its sum to the accumulator
//   by an atomic. No shared memory, no barrier.
// Fixes: the tree of reduce5 and reduce6 and its barriers, which cascading has made a small part of
//   the work: the slides measure no loss (4.60 against 4.65 ms).
// Launch: a kernel sets the accumulator to the neutral element, then come blocks_per_sm blocks of B
//   threads for each multiprocessor, at most ceil(n / B).
// Traffic: n elements read; one atomic per thread in the L2 cache.
// Preconditions: a commutative operator.
// Deviations: the number of blocks scales with the multiprocessors of the device. More types and
//   operators than int sums; indices of 64 bits.

#include "kernels/reduce/epita/accumulator.hpp"

namespace reduce_bench::BACKEND::epita_reduce7 {

template <class T, class Op>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  const std::size_t grid_size = std::size_t{gridDim.x} * blockDim.x;
  T of_thread = Op::template identity<T>();
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += grid_size)
    of_thread = Op::combine(of_thread, values[i]);
  atomic_combine<Op>(results, of_thread);
}

struct EpitaReduce7 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    enqueue_accumulation<Op>(call, kernel<T, Op>, cascading_blocks(call.problem),
                             call.params().number("block"), 0);
  }
};

Variant variant() {
  return {
      .id = "epita/reduce7",
      .title = "cascading, global atomic per thread",
      .source = "epita, reduce7; summary table",
      .fidelity = Fidelity::kAsPublished,
      .params = cascading_params(),
      .depth = [](const Problem& p) -> std::uint64_t {
        return cascading_elements_per_thread(p) + cascading_blocks(p) * p.params.number("block");
      },
      .traffic = traffic_of_accumulation,
      .enqueue = instantiate<EpitaReduce7, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::epita_reduce7
