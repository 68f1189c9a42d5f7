// Bucket sets in global memory that threads share (eilers Algorithm 4.9), for sorted inputs and any
// others.
#pragma once

#include <algorithm>

#include "kernels/shared/atomics.hpp"
#include "kernels/shared/bucket_sets.hpp"

namespace reduce_bench::BACKEND {

inline constexpr unsigned kGlobalAtomicBlock = 256;

/// Threads work on set `threadIdx.x % sets`, so that equal labels in a warp collide as rarely as
/// the number of sets allows; with kSetPerBlock all threads of a block on the block's, so that they
/// always collide.
template <class T, class Op, bool kSetPerBlock>
__global__ void eilers_global_atomic_kernel(const T* values, const Label* labels, std::size_t n,
                                            std::size_t per_block, unsigned sets, T* buckets) {
  T* own = buckets + (kSetPerBlock ? blockIdx.x : threadIdx.x % sets);
  const std::size_t first = blockIdx.x * per_block;
  const std::size_t last = first + per_block < n ? first + per_block : n;
  for (std::size_t i = first + threadIdx.x; i < last; i += blockDim.x)
    atomic_combine<Op>(&own[std::size_t{labels[i]} * sets], values[i]);
}

struct GlobalAtomicPlan {
  unsigned blocks, sets;
  std::size_t per_block;
};

inline bool has_set_per_block(const Problem& p) { return p.params.is("sets", "per-block"); }

/// Plans as many blocks as are resident.
inline GlobalAtomicPlan global_atomic_plan(const Problem& p) {
  const std::size_t resident = std::size_t{p.device.sm_count} *
                               std::max(1u, p.device.max_threads_per_sm / kGlobalAtomicBlock);
  GlobalAtomicPlan plan{};
  plan.per_block = ceil_div(ceil_div(p.n, resident), kGlobalAtomicBlock) * kGlobalAtomicBlock;
  plan.blocks = p.n == 0 ? 0 : static_cast<unsigned>(ceil_div(p.n, plan.per_block));
  plan.sets = has_set_per_block(p) ? std::max(plan.blocks, 1u) : p.params.number("sets");
  return plan;
}

/// Bytes needed at the start of `workspace`: the sets, unless the results are the only set.
inline std::size_t global_atomic_bytes(const Problem& p) {
  const unsigned sets = global_atomic_plan(p).sets;
  return sets == 1 ? 0 : bucket_sets(p, sets).bytes;
}

/// The whole multireduce of `values` and `labels`, which may be the call's inputs sorted.
template <class Op, class T>
void enqueue_global_atomic(const TypedCall<T>& call, const T* values, const Label* labels,
                           std::byte* workspace) {
  const GlobalAtomicPlan plan = global_atomic_plan(call.problem);
  T* buckets = plan.sets == 1 ? call.results() : reinterpret_cast<T*>(workspace);
  enqueue_fill(call.stream, buckets, call.buckets() * plan.sets, Op::template identity<T>());
  if (plan.blocks > 0)
    launch(has_set_per_block(call.problem) ? eilers_global_atomic_kernel<T, Op, true>
                                           : eilers_global_atomic_kernel<T, Op, false>,
           {plan.blocks, kGlobalAtomicBlock, 0, call.stream}, values, labels, call.n(),
           plan.per_block, plan.sets, buckets);
  if (plan.sets > 1) reduce_bucket_sets<Op>(call, plan.sets, workspace);
}

inline Traffic traffic_of_global_atomic(const Problem& p) {
  const unsigned sets = global_atomic_plan(p).sets;
  if (sets > 1) return traffic_of_bucket_sets(p, sets);
  return {.read_bytes = p.input_bytes(), .written_bytes = p.arrays().output_bytes()};
}

inline ParamSpec sets_param(std::string default_value, std::string published) {
  return {"sets",
          std::move(default_value),
          {"1", "2", "4", "8", "16", "32"},
          "bucket sets (" + std::move(published) + ")"};
}

}  // namespace reduce_bench::BACKEND
