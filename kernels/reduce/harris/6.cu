// harris/6: multiple elements per thread
//
// Source: Harris, Optimizing Parallel Reduction in CUDA, kernel 7; jradi section 2.1, Table 1.
// Idea: a grid of fixed size strides over the input: every thread adds pairs (i, i + B) in a loop
//   before the tree of harris/5 runs once per block. Sequential work per thread hides latency and
//   makes the tree's share of the time vanish (algorithm cascading).
// Fixes: harris/5 pays for a tree and a block launch per 2B elements, and writes and rereads n /
//   2B partial results.
// Launch: at most blocks_per_sm blocks of B >= 64 threads per SM, B * sizeof(T) bytes of shared
//   memory; then one block on their results.
// Traffic: n elements read; one element per block written and read again.
// Preconditions: a commutative operator.
// Deviations: as first published element i + B is read unchecked, past the end unless n is a
//   multiple of 2B, and the last warp races as in harris/4: `form=as-published` keeps both in the
//   pass over the input (the last pass always checks). The number of blocks, 64 in NVIDIA's
//   sample, or 4 for each SM of a G80, is what the card holds; blocks_per_sm=4 is the sample's,
//   scaled. Sums accumulate in a register: as written on the slide, in shared memory, nvcc 13.0
//   keeps them in one too, and adds a store before the loop.

#include <algorithm>

#include "kernels/reduce/harris/last_warp.hpp"
#include "kernels/reduce/persistent.hpp"

namespace reduce_bench::BACKEND::harris_6 {

template <class T, class Op, unsigned kBlock, bool kAsPublished>
__global__ void kernel(const T* values, T* results, std::size_t n) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * (2 * kBlock);

  T sum = Op::template identity<T>();
  for (std::size_t i = std::size_t{blockIdx.x} * (2 * kBlock) + t; i < n; i += stride) {
    const bool pair = kAsPublished || i + kBlock < n;
    sum = Op::combine(sum, pair ? Op::combine(values[i], values[i + kBlock]) : values[i]);
  }
  partial[t] = sum;
  __syncthreads();

#pragma unroll
  for (unsigned s = kBlock / 2; s > kWarpSize; s /= 2) {
    if (t < s) partial[t] = Op::combine(partial[t], partial[t + s]);
    __syncthreads();
  }
  if (t < kWarpSize) {
    if constexpr (kAsPublished) fold_last_warp_as_published<T, Op>(partial, t);
    else fold_last_warp<T, Op>(partial, t);
  }

  if (t == 0) results[blockIdx.x] = partial[0];
}

struct Harris6 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    with_value<64, 128, 256, 512, 1024>(call.params().number("block"), [&]<unsigned kBlock>() {
      reduce_in_two_passes(
          call, 2, [&](const T* values, std::size_t n, T* results, unsigned blocks) {
            const bool as_published =
                call.params().is("form", "as-published") && values == call.values();
            launch(as_published ? kernel<T, Op, kBlock, true> : kernel<T, Op, kBlock, false>,
                   {blocks, kBlock, kBlock * sizeof(T), call.stream}, values, results, n);
          });
    });
  }
};

/// Elements past the end that the unchecked read i + B reaches: the last tile of 2B holds `rest`.
std::size_t overread(const Problem& p) {
  const std::size_t block = p.params.number("block"), rest = p.n % (2 * block);
  if (!p.params.is("form", "as-published") || rest == 0) return 0;
  return std::min(block, 2 * block - rest);
}

std::optional<Defect> defect(const Problem& p) {
  if (overread(p) == 0) return last_warp_defect(p);
  return Defect{"element i + B is read unchecked: n is not a multiple of 2B", p.op == Op::kSum};
}

Variant variant() {
  return {
      .id = "harris/6",
      .title = "multiple elements per thread",
      .source = "Harris kernel 7; jradi 2.1, Table 1",
      .fidelity = Fidelity::kCorrected,
      .params =
          {{"block", "128", {"64", "128", "256", "512", "1024"}, "threads (Harris: 128)"},
           blocks_per_sm_param("NVIDIA: 64 blocks in all"),
           {"form", "corrected", {"corrected", "as-published"}, "loads and the last warp's steps"}},
      .defect = defect,
      .overread = overread,
      .depth = [](const Problem& p) { return depth_of_two_passes(p, 2); },
      .traffic = [](const Problem& p) { return traffic_of_two_passes(p, 2); },
      .workspace = [](const Problem& p) { return workspace_of_two_passes(p, 2); },
      .enqueue = instantiate<Harris6, AllOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::harris_6
