// amp/simple-1: one launch per halving, no tiles
//
// Source: amp, reduction_simple_1.
// Idea: s = n / 2 threads each combine their element with the one s places to its right, in place;
//   again with s / 2, until one element is left. An element left over when n is odd goes to a tail
//   sum, which the host adds at the end.
// Fixes: the sequential loop on the CPU (amp, sequential_reduction). Threads never talk to each
//   other: the end of a launch is the only barrier, and every level goes through global memory.
// Launch: log2(n) launches of n / 2, n / 4, ... threads in blocks of B; the host adds two values.
// Traffic: each launch reads all of the array and writes half of it: about 2n read, n written. The
//   L2 keeps what fits of a launch's results for the next: of n = 2^26 an H200 moves 0.89 and
//   an H100 0.90 of these bytes.
// Preconditions: the operator commutes, since partial results combine elements n / 2, n / 4, ...
//   apart.
// Deviations: a CUDA port of C++ AMP, for any operator, and the block size is ours. The input must
//   not be overwritten, so the first launch writes its half to another array and only the later
//   ones work in place. The source folds the tail of the input on the host, and a later one in the
//   launch that computes it; here the last thread of a launch folds what its own input leaves
//   over.

#include "kernels/reduce/amp/windows.hpp"

namespace reduce_bench::BACKEND::amp_simple_1 {

template <class T, class Op>
__global__ void kernel(const T* values, T* results, std::size_t n, T* tail, bool first) {
  const std::size_t s = n / 2;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= s) return;

  results[i] = Op::combine(values[i], values[i + s]);

  if (i == s - 1) {
    T tail_sum = first ? Op::template identity<T>() : *tail;
    // Nobody writes to values[n - 1], in place either: only the lower half changes.
    if (n % 2 != 0) tail_sum = Op::combine(tail_sum, values[n - 1]);
    *tail = tail_sum;
  }
}

struct AmpSimple1 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    reduce_in_windows<Op>(
        call, 2, [&](const T* values, T* results, std::size_t n, T* tail, bool first) {
          const auto blocks = static_cast<unsigned>(ceil_div(n / 2, block));
          launch(kernel<T, Op>, {blocks, block, 0, call.stream}, values, results, n, tail, first);
        });
  }
};

Variant variant() {
  return {
      .id = "amp/simple-1",
      .title = "one launch per halving, host finish",
      .source = "amp, reduction_simple_1",
      .fidelity = Fidelity::kAdapted,
      .finish = Finish::kHost,
      .synchronous = true,
      .params = {{"block",
                  "256",
                  {"64", "128", "256", "512", "1024"},
                  "threads (C++ AMP chooses by itself)"}},
      .depth = [](const Problem& p) { return depth_of_windows(p, 2); },
      .traffic = [](const Problem& p) { return traffic_of_windows(p, 2); },
      .workspace = [](const Problem& p) { return workspace_of_windows(p, 2); },
      .enqueue = instantiate<AmpSimple1, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::amp_simple_1
