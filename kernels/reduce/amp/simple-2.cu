// amp/simple-2: a window of elements per thread and launch, no tiles
//
// Source: amp, reduction_simple_2.
// Idea: s = n / window threads each fold `window` elements, s apart, into one, in place; again on
//   the s results until fewer than a window are left. What does not divide by the window goes to a
//   tail sum. The host folds the rest and the tail sum.
// Fixes: amp/simple-1 moves about 3n elements in log2(n) launches; with a window of 8 it is about
//   1.28n in log8(n) launches. The tail is longer and one thread folds it alone.
// Launch: log_window(n) launches of n / window, n / window^2, ... threads in blocks of B; the host
//   folds fewer than `window` values and the tail sum.
// Traffic: each launch reads all of the array and writes 1 / window of it.
// Preconditions: the operator commutes, since partial results combine elements n / window apart.
// Deviations: a CUDA port of C++ AMP, for any operator, and the block size is ours. The input must
//   not be overwritten, so the first launch writes to another array and only the later ones work in
//   place. As published (form=as-published) the last thread of a launch folds the results that the
//   next launch will leave over, while other threads of the same launch still write them.
//   Corrected, it folds what its own launch leaves over, which nobody writes. The source folds the
//   tail of the input on the host; here the first launch does.

#include "kernels/reduce/amp/windows.hpp"

namespace reduce_bench::BACKEND::amp_simple_2 {

template <class T, class Op, unsigned kWindow>
__global__ void kernel(const T* values, T* results, std::size_t n, T* tail, bool first,
                       bool as_published) {
  const std::size_t s = n / kWindow;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= s) return;

  T sum = values[i];
  for (unsigned k = 1; k < kWindow; ++k) sum = Op::combine(sum, values[i + k * s]);
  results[i] = sum;

  if (i == s - 1) {
    T tail_sum = first ? Op::template identity<T>() : *tail;
    if (first || !as_published) {
      for (std::size_t k = s * kWindow; k < n; ++k) tail_sum = Op::combine(tail_sum, values[k]);
    }
    if (as_published && s > kWindow) {
      for (std::size_t k = s / kWindow * kWindow; k < s; ++k)
        tail_sum = Op::combine(tail_sum, results[k]);
    }
    *tail = tail_sum;
  }
}

struct AmpSimple2 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    const bool as_published = call.params().is("form", "as-published");
    with_value<2, 4, 8, 16>(call.params().number("window"), [&]<unsigned kWindow>() {
      reduce_in_windows<Op>(
          call, kWindow, [&](const T* values, T* results, std::size_t n, T* tail, bool first) {
            const auto blocks = static_cast<unsigned>(ceil_div(n / kWindow, block));
            launch(kernel<T, Op, kWindow>, {blocks, block, 0, call.stream}, values, results, n,
                   tail, first, as_published);
          });
    });
  }
};

/// Whether some launch leaves over a result of another thread than the last.
bool tail_is_read_while_written(const Problem& p) {
  const unsigned window = p.params.number("window");
  for (std::size_t s = p.n / window; s > window; s /= window)
    if (s % window > 1) return true;
  return false;
}

Variant variant() {
  return {
      .id = "amp/simple-2",
      .title = "window per thread and launch, host finish",
      .source = "amp, reduction_simple_2",
      .fidelity = Fidelity::kCorrected,
      .finish = Finish::kHost,
      .synchronous = true,
      .params = {{"window", "8", {"2", "4", "8", "16"}, "elements per thread (amp: 8)"},
                 {"block",
                  "256",
                  {"64", "128", "256", "512", "1024"},
                  "threads (C++ AMP chooses by itself)"},
                 {"form",
                  "corrected",
                  {"corrected", "as-published"},
                  "whose left-over elements a launch adds to the tail sum"}},
      .defect = [](const Problem& p) -> std::optional<Defect> {
        if (p.params.is("form", "corrected") || !tail_is_read_while_written(p)) return std::nullopt;
        return Defect{"the tail sum reads elements that the same launch writes", false};
      },
      .depth = [](const Problem& p) { return depth_of_windows(p, p.params.number("window")); },
      .traffic = [](const Problem& p) { return traffic_of_windows(p, p.params.number("window")); },
      .workspace =
          [](const Problem& p) { return workspace_of_windows(p, p.params.number("window")); },
      .enqueue = instantiate<AmpSimple2, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::amp_simple_2
