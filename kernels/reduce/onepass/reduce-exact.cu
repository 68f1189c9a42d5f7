// onepass/reduce-exact: the correctly rounded sum of floats, in one launch
//
// Source: this project; the two ideas are those of Demmel and Nguyen, Parallel Reproducible
//   Summation (2015), and of Collange, Defour, Graillat and Iakymchuk, Numerical Reproducibility
//   for the Parallel Reduction on Multi- and Many-Core Architectures (2015).
// Idea: every value is cut at fixed positions into two parts (f64: three) by adding and
//   subtracting a large constant, and doubles add up the parts without ever rounding. That holds
//   for exponents in a window, which all warps choose alike from the same few values, and which is
//   40 exponents wide or more for up to 2^34 elements on an H200. A thread adds any other value to
//   words of its own, in shared memory, that have room for all exponents: f32 to the double of 16
//   exponents, which is added to the sum of all blocks before it may round; f64 to three words of
//   fixed point. Sums of parts and words are added as integers, and rounded once. So the result
//   has the same bits whatever the order, the launch and the card.
// Fixes: the rounding of every sum on the way, which depends on the order; sums that overflow on
//   the way although the result would not; and, against cub/reduce-gpu-to-gpu, results that are
//   the same everywhere but not those of the exact sum.
// Launch: one block of 256 or 512 threads up to 32 KB of input, f64 48 KB; beyond, blocks of 512
//   threads, for little input 256, with 1024 threads per SM where their words, 128 bytes each, fit
//   into its shared memory. f64: 384 instead of 512 threads, one such block per SM, as fixed point
//   takes 528 bytes per thread, and 128 for the least input. A thread takes 64 bytes of a chunk,
//   f64 128.
// Traffic: n elements read, one written; the blocks' sums stay in L2. On an H200 device memory
//   binds from 1 GB of values in the window on, of f64 the L2 cache with it, and latency below; of
//   values of all exponents the L2 cache (f32) or arithmetic (f64):
//   docs/kernels/onepass-reduce-exact.md
// Preconditions: the workspace is zero before the first launch and left zero. At most 2^40
//   elements.
// Deviations: none, there is no publication. The sum is that of the exact values rounded to the
//   nearest, of two to the even one; infinities and NaN are summed as IEEE 754 does, the NaN is
//   the quiet one without a sign. A zero is -0 only if all inputs are; without any the sum is 0.

#include <string>

#include "kernels/reduce/onepass/exact_sum.hpp"

namespace reduce_bench::BACKEND::onepass_reduce_exact {

Tuning tuning_of(const Params& params) {
  const auto number = [&](const char* name) {
    return params.is(name, "auto") ? 0 : params.number(name);
  };
  return {.block = number("block"), .blocks_per_sm = number("blocks_per_sm")};
}

/// Calls `f` with the plan, and a value of the problem's type.
template <class F>
auto with_plan(const Problem& p, F&& f) {
  const Tuning tuning = tuning_of(p.params);
  if (p.type == Type::kF32) return f(plan_for<float>(p, tuning), float{});
  return f(plan_for<double>(p, tuning), double{});
}

struct OnepassExact {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    onepass_reduce_exact::enqueue(arguments_of(call), tuning_of(call.params()));
  }
};

Variant variant() {
  return {
      .id = "onepass/reduce-exact",
      .title = "the correctly rounded sum, in one launch",
      .source = "reduce-bench",
      .fidelity = Fidelity::kBeyond,
      .params = {{"block",
                  "auto",
                  {"auto", "128", "256", "384", "512", "1024"},
                  "threads; auto: by size"},
                 {"blocks_per_sm", "auto", {"auto", "1", "2", "3", "4"}, "blocks per SM at most"}},
      .restriction = [](const Problem& p) -> std::string {
        if (p.n > kMostInputs)
          return std::to_string(p.n) + " elements are more than " + std::to_string(kMostInputs) +
                 ", for which the sums of the parts have room";
        const LaunchPlan plan = with_plan(p, [](const LaunchPlan& of, auto) { return of; });
        if (plan.shared_bytes <= p.device.max_shared_bytes_per_block) return {};
        return std::to_string(plan.shared_bytes) + " bytes of shared memory are needed for " +
               std::to_string(plan.block) + " threads, a block has " +
               std::to_string(p.device.max_shared_bytes_per_block);
      },
      .borders = [](const Problem& p) -> std::vector<std::size_t> {
        const std::size_t per_load = 16 / p.element_bytes(), sms = p.device.sm_count;
        const auto borders = [&]<class P>(P) -> std::vector<std::size_t> {
          return {P::kSmallBlockLoads * per_load, P::kOneBlockLoads * per_load,
                  P::kSmallestBlocksLoadsPerSm * sms * per_load,
                  P::kSmallBlocksLoadsPerSm * sms * per_load, P::kAheadLoadsPerSm * sms * per_load};
        };
        return p.type == Type::kF64 ? borders(Policy<double>{}) : borders(Policy<float>{});
      },
      .correctly_rounded = true,
      .traffic = [](const Problem& p) -> Traffic { return {p.input_bytes(), p.element_bytes()}; },
      .workspace = [](const Problem& p) -> Workspace {
        const std::size_t bytes = with_plan(p, [](const LaunchPlan& plan, auto value) {
          return workspace_bytes<decltype(value)>(plan);
        });
        return {.device_bytes = bytes, .zeroed_bytes = bytes};
      },
      .enqueue = instantiate_for<OnepassExact, OpList<Sum>, float, double>(),
  };
}

}  // namespace reduce_bench::BACKEND::onepass_reduce_exact
