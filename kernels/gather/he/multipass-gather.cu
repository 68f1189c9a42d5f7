// he/multipass-gather: one pass over the labels for each part of the values
//
// Source: He et al., Efficient Gather and Scatter Operations on Graphics Processors (2007), as
//   eilers section 3.2.2 describes it.
// Idea: where the values do not fit into the cache, a pass fetches only from a part of them that
//   does. The labels are read once for every pass, and the fetches hit the cache.
// Fixes: gpu/gather's cache misses for large m.
// Launch: ceil(n / 256) blocks of 256 threads, once for every pass.
// Traffic: n labels read in every pass, min(n, m) values read once, n results written. A random
//   value still costs a sector of 32 bytes, and one of results is written in several passes: with m
//   = 2^24 and n = 2^26 an H200 moves 2.4 times these bytes.
// Preconditions: none.
// Deviations: the paper's formula for the number of passes is not in the thesis, so the number is a
//   parameter. The values are divided into equal parts. Blocks and threads are not stated.

#include <algorithm>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::he_multipass_gather {

template <class T>
__global__ void kernel(const T* values, const Label* labels, std::size_t n, Label low,
                       std::size_t count, T* results) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Label label = labels[i];
  if (label - low < count) results[i] = values[label];
}

struct HeMultipassGather {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    constexpr unsigned kBlock = 256;
    const auto blocks = static_cast<unsigned>(ceil_div(call.n(), kBlock));
    const std::size_t part = ceil_div(call.buckets(), call.params().number("passes"));
    for (std::size_t low = 0; low < call.buckets(); low += part)
      launch(kernel<T>, {blocks, kBlock, 0, call.stream}, call.values(), call.labels(), call.n(),
             static_cast<Label>(low), part, call.results());
  }
};

Variant variant() {
  return {
      .id = "he/multipass-gather",
      .title = "one pass for each part of the values",
      .source = "He et al. 2007, eilers section 3.2.2",
      .operation = Operation::kGather,
      .fidelity = Fidelity::kAdapted,
      .params = {{"passes", "4", {"1", "2", "4", "8", "16"}, "parts of the values"}},
      .traffic =
          [](const Problem& p) {
            const Arrays arrays = p.arrays();
            return Traffic{.read_bytes = p.params.number("passes") * arrays.labels.bytes() +
                                         std::min(p.n, p.buckets) * p.element_bytes(),
                           .written_bytes = arrays.results.bytes()};
          },
      .enqueue = instantiate<HeMultipassGather, NoOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::he_multipass_gather
