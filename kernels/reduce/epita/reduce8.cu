// epita/reduce8: one warp per block, 32 elements per thread
//
// Source: Carlinet and Chazalon, GPU Computing: Reduction Pattern (EPITA 2023), reduce8 (after the
//   summary table).
// Idea: each of a block's 32 threads adds 32 elements in a register, in a loop of fixed length
//   that the compiler unrolls; atomics combine the sums in shared memory. One global atomic per
//   block.
// Fixes: reduce7's loop, whose loads wait for the bounds check, and its atomic for each thread.
//   The price: the number of global atomics, n / 1024, grows with n.
// Launch: a kernel sets the accumulator to the neutral element, then come ceil(n / 1024) blocks of
//   32 threads, sizeof(T) bytes of shared memory.
// Traffic: n elements read; n / 1024 atomics in the L2 cache. As published about n / 32 of the
//   elements are read, most of them 32 times.
// Preconditions: a commutative operator.
// Deviations: as published (form=as-published) blocks start 32 elements apart although each reads
//   1024, unchecked: most elements are never read, the others repeatedly, and reads run past the
//   end of small inputs. A sum of ones hides that. The published 0.56 ms for 132 M ints would be
//   943 GB/s on a card with 192 GB/s. Corrected, a block starts at 1024 times its index and checks
//   the bound. The summary names a warp tree, the listing has shared atomics. More types and
//   operators than int sums.

#include "kernels/reduce/epita/accumulator.hpp"

namespace reduce_bench::BACKEND::epita_reduce8 {

constexpr unsigned kBlock = 32;
constexpr unsigned kElementsPerThread = 32;
constexpr unsigned kTile = kBlock * kElementsPerThread;

template <class T, class Op, bool kCorrected>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* of_block = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.x} * (kCorrected ? kTile : kBlock) + t;

  if (t == 0) *of_block = Op::template identity<T>();
  __syncthreads();

  T of_thread = Op::template identity<T>();
#pragma unroll
  for (unsigned k = 0; k < kElementsPerThread; ++k) {
    const std::size_t i = first + k * kBlock;
    if (!kCorrected || i < n) of_thread = Op::combine(of_thread, values[i]);
  }

  atomic_combine<Op>(of_block, of_thread);
  __syncthreads();
  if (t == 0) atomic_combine<Op>(results, *of_block);
}

struct EpitaReduce8 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const auto chosen =
        call.params().is("form", "corrected") ? kernel<T, Op, true> : kernel<T, Op, false>;
    enqueue_accumulation<Op>(call, chosen, ceil_div(call.n(), kTile), kBlock, sizeof(T));
  }
};

/// One past the last element that the published form reads.
std::size_t published_end(std::size_t n) {
  return n == 0 ? 0 : (ceil_div(n, kTile) - 1) * kBlock + kTile;
}

std::optional<Defect> published_offset(const Problem& p) {
  // A single full block has nothing to miss.
  if (!p.params.is("form", "as-published") || p.n == 0 || p.n == kTile) return std::nullopt;
  // The missed elements need not hold the minimum or maximum, and the error bound of a long f32
  // sum is wider than what the repeated elements differ from the missed ones.
  return Defect{.reason =
                    "blocks start 32 elements apart but each reads 1024: elements are missed "
                    "or repeated, and the end is overrun",
                .certain = p.op == Op::kSum && p.type != Type::kF32};
}

Variant variant() {
  return {
      .id = "epita/reduce8",
      .title = "32 threads with 32 elements each, shared atomics",
      .source = "epita, reduce8; summary table",
      .fidelity = Fidelity::kCorrected,
      .params = {{"form",
                  "corrected",
                  {"corrected", "as-published"},
                  "where blocks start, and whether loads are bounded"}},
      .defect = published_offset,
      .overread = [](const Problem& p) -> std::size_t {
        const std::size_t end = p.params.is("form", "as-published") ? published_end(p.n) : 0;
        return end > p.n ? end - p.n : 0;
      },
      .depth = [](const Problem& p) -> std::uint64_t {
        return kElementsPerThread + kBlock + ceil_div(p.n, kTile);
      },
      .traffic = [](const Problem& p) -> Traffic {
        Traffic traffic = traffic_of_accumulation(p);
        // The published blocks overlap in caches: device memory delivers what they cover once.
        if (p.params.is("form", "as-published"))
          traffic.read_bytes = published_end(p.n) * p.element_bytes();
        return traffic;
      },
      .enqueue = instantiate<EpitaReduce8, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::epita_reduce8
