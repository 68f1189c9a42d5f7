// epita/reduce1: output privatisation
//
// Source: Carlinet and Chazalon, GPU Computing: Reduction Pattern (EPITA 2023), "Reduction Pattern
//   V2: Output privatization", reduce1.
// Idea: the threads of a block add their elements to an accumulator of the block in shared memory
//   by atomics; thread 0 adds that to the global one.
// Fixes: reduce0's contention on one global address: one global atomic per block, and the other
//   atomics in fast shared memory. Within a block they still queue up.
// Launch: a kernel sets the accumulator to the neutral element, then come ceil(n / B) blocks of B
//   threads, sizeof(T) bytes of shared memory.
// Traffic: n elements read; n / B atomics in the L2 cache.
// Preconditions: a commutative operator; float sums differ from run to run.
// Deviations: form=as-published is the kernel that the slides show first and reject themselves:
//   without barriers thread 0 may set the block's accumulator after others added to it, and pass it
//   on before they did. form=corrected is their reduce1. More types and operators than int sums.

#include "kernels/reduce/epita/accumulator.hpp"

namespace reduce_bench::BACKEND::epita_reduce1 {

template <class T, class Op, bool kBarriers>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* of_block = dynamic_shared<T>();
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

  if (threadIdx.x == 0) *of_block = Op::template identity<T>();
  if constexpr (kBarriers) __syncthreads();

  if (i < n) atomic_combine<Op>(of_block, values[i]);
  if constexpr (kBarriers) __syncthreads();

  if (threadIdx.x == 0) atomic_combine<Op>(results, *of_block);
}

struct EpitaReduce1 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    const auto chosen =
        call.params().is("form", "corrected") ? kernel<T, Op, true> : kernel<T, Op, false>;
    enqueue_accumulation<Op>(call, chosen, ceil_div(call.n(), block), block, sizeof(T));
  }
};

Variant variant() {
  return {
      .id = "epita/reduce1",
      .title = "shared atomics, one global atomic per block",
      .source = "epita, reduce1; summary table",
      .fidelity = Fidelity::kAsPublished,
      .params =
          {block_param(),
           {"form",
            "corrected",
            {"corrected", "as-published"},
            "whether barriers order a block's updates (corrected: the slides' own correction)"}},
      .defect = [](const Problem& p) -> std::optional<Defect> {
        if (!p.params.is("form", "as-published") || p.n <= 1) return std::nullopt;
        return Defect{.reason =
                          "without barriers a block's accumulator is set after updates, or passed "
                          "on before them",
                      .certain = false};
      },
      .depth = [](const Problem& p) -> std::uint64_t {
        const unsigned block = p.params.number("block");
        return block + ceil_div(p.n, block);
      },
      .traffic = traffic_of_accumulation,
      .enqueue = instantiate<EpitaReduce1, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::epita_reduce1
