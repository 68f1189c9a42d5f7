// What all epita kernels share: one accumulator in global memory, which starts as the neutral
// element and to which the threads or blocks add their partial results by atomics.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/shared/atomics.hpp"
#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

/// Initialises the accumulator, which is the result, and runs `kernel(values, n, results)`. An
/// empty input has no blocks.
template <class Op, class T>
void enqueue_accumulation(const TypedCall<T>& call, void (*kernel)(const T*, std::size_t, T*),
                          std::size_t blocks, unsigned block, std::size_t shared_bytes) {
  enqueue_fill(call.stream, call.results(), 1, Op::template identity<T>());
  if (blocks == 0) return;
  launch(kernel, {static_cast<unsigned>(blocks), block, shared_bytes, call.stream}, call.values(),
         call.n(), call.results());
}

/// Every element is read once. The atomics stay in the L2 cache; only the accumulator itself is
/// counted.
inline Traffic traffic_of_accumulation(const Problem& problem) {
  return {.read_bytes = problem.input_bytes(), .written_bytes = problem.element_bytes()};
}

/// Blocks of a cascading kernel: enough to hide the latency of the loads, whatever n is.
inline std::size_t cascading_blocks(const Problem& problem) {
  return std::min<std::size_t>(
      ceil_div(problem.n, problem.params.number("block")),
      std::size_t{problem.device.sm_count} * problem.params.number("blocks_per_sm"));
}

/// Elements that one thread of a cascading kernel folds before its block cooperates.
inline std::uint64_t cascading_elements_per_thread(const Problem& problem) {
  const std::size_t threads = cascading_blocks(problem) * problem.params.number("block");
  return threads == 0 ? 0 : ceil_div(problem.n, threads);
}

/// A tree over the elements of a block, and one atomic per block, which may all follow one another.
inline std::uint64_t depth_of_tree(const Problem& problem, std::size_t elements_per_block) {
  return log2_ceil(elements_per_block) + ceil_div(problem.n, elements_per_block);
}

/// A sequential fold in every thread, a tree over the block, and one atomic per block, which may
/// all follow one another.
inline std::uint64_t depth_of_cascading_tree(const Problem& problem) {
  return cascading_elements_per_thread(problem) + log2_ceil(problem.params.number("block")) +
         cascading_blocks(problem);
}

/// Elements past the end that a kernel without a bounds check reads with one element per thread.
inline std::size_t elements_past_the_end(const Problem& problem) {
  const unsigned block = problem.params.number("block");
  return ceil_div(problem.n, block) * block - problem.n;
}

/// The fault of such a kernel. What lies beyond the input changes every sum, but not necessarily a
/// minimum or maximum.
inline std::optional<Defect> unbounded_loads(const Problem& problem) {
  if (!problem.params.is("form", "as-published") || elements_past_the_end(problem) == 0)
    return std::nullopt;
  return Defect{.reason =
                    "the loads are not bounded: where n is not a multiple of the block, what "
                    "lies behind the input is reduced too",
                .certain = problem.op == Op::kSum};
}

inline ParamSpec block_param() {
  return {"block", "256", {"64", "128", "256", "512", "1024"}, "threads (the slides give none)"};
}

inline std::vector<ParamSpec> cascading_params() {
  return {block_param(),
          {"blocks_per_sm",
           "8",
           {"1", "2", "4", "8", "16", "32"},
           "blocks per multiprocessor (the slides: enough to hide latency)"}};
}

}  // namespace reduce_bench::BACKEND
