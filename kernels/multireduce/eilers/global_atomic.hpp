// Bucket sets in global memory that threads share (eilers Algorithm 4.9), for sorted inputs and any
// others.
#pragma once

#include <algorithm>

#include "kernels/shared/atomics.hpp"
#include "kernels/shared/bucket_sets.hpp"

namespace reduce_bench::BACKEND {

inline constexpr unsigned kGlobalAtomicBlock = 256;

/// Threads work on set `threadIdx.x % sets`, so that equal labels in a warp collide as rarely as
/// the number of sets allows.
template <class T, class Op>
__global__ void eilers_global_atomic_kernel(const T* values, const Label* labels, std::size_t n,
                                            std::size_t per_block, unsigned sets, T* buckets) {
  T* own = buckets + threadIdx.x % sets;
  const std::size_t first = blockIdx.x * per_block;
  const std::size_t last = first + per_block < n ? first + per_block : n;
  for (std::size_t i = first + threadIdx.x; i < last; i += blockDim.x)
    atomic_combine<Op>(&own[std::size_t{labels[i]} * sets], values[i]);
}

/// Bytes needed at the start of `workspace`: the sets, unless the results are the only set.
inline std::size_t global_atomic_bytes(const Problem& p, unsigned sets) {
  return sets == 1 ? 0 : bucket_sets(p, sets).bytes;
}

/// The whole multireduce of `values` and `labels`, which may be the call's inputs sorted.
template <class Op, class T>
void enqueue_global_atomic(const TypedCall<T>& call, const T* values, const Label* labels,
                           unsigned sets, std::byte* workspace) {
  T* buckets = sets == 1 ? call.results() : reinterpret_cast<T*>(workspace);
  enqueue_fill(call.stream, buckets, call.buckets() * sets, Op::template identity<T>());
  if (call.n() > 0) {
    const std::size_t resident =
        std::size_t{call.device().sm_count} *
        std::max(1u, call.device().max_threads_per_sm / kGlobalAtomicBlock);
    const std::size_t per_block =
        ceil_div(ceil_div(call.n(), resident), kGlobalAtomicBlock) * kGlobalAtomicBlock;
    launch(
        eilers_global_atomic_kernel<T, Op>,
        {static_cast<unsigned>(ceil_div(call.n(), per_block)), kGlobalAtomicBlock, 0, call.stream},
        values, labels, call.n(), per_block, sets, buckets);
  }
  if (sets > 1) reduce_bucket_sets<Op>(call, sets, workspace);
}

inline Traffic traffic_of_global_atomic(const Problem& p, unsigned sets) {
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
