// eilers/minimal: a block loads, one of its threads works
//
// Source: eilers Algorithm 4.4, section 4.3.2.
// Idea: the sequential algorithm with as few changes as possible: all threads of a block fetch
//   labels and values into shared memory, then thread 0 combines them with the block's own bucket
//   set in global memory. A segmented reduction combines the sets in the order of the blocks.
// Fixes: atomic/global's lost order and its contention: every block has a contiguous share of the
//   input and buckets of its own.
// Launch: a fill of the bucket sets, the kernel with B threads per block, at most blocks_per_sm
//   blocks per SM, then the segmented reduction.
// Traffic: n labels and n values read, m results written, and a bucket set of m elements per block
//   written and read; not counted: the updates of the sets, as far as they stay in caches.
// Preconditions: none. Order-preserving.
// Deviations: the listing scales the offset by the threads twice and initialises no bucket; here
//   the offset is scaled once, buckets start as the neutral element, and barriers separate loading
//   and working. The listing already lays the buckets out as the last step needs them. The numbers
//   of blocks and threads are not stated ("choose for best performance"); these are ours.

#include "kernels/shared/bucket_sets.hpp"

namespace reduce_bench::BACKEND::eilers_minimal {

template <class T, class Op>
__global__ void kernel(const T* values, const Label* labels, std::size_t n, std::size_t per_block,
                       T* sets) {
  T* loaded_values = dynamic_shared<T>();
  Label* loaded_labels = reinterpret_cast<Label*>(loaded_values + blockDim.x);
  T* own = sets + blockIdx.x;
  const std::size_t first = blockIdx.x * per_block;
  const std::size_t last = first + per_block < n ? first + per_block : n;
  for (std::size_t begin = first; begin < last; begin += blockDim.x) {
    const unsigned count =
        last - begin < blockDim.x ? static_cast<unsigned>(last - begin) : blockDim.x;
    if (threadIdx.x < count) {
      loaded_values[threadIdx.x] = values[begin + threadIdx.x];
      loaded_labels[threadIdx.x] = labels[begin + threadIdx.x];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (unsigned j = 0; j < count; ++j) {
        T& bucket = own[std::size_t{loaded_labels[j]} * gridDim.x];
        bucket = Op::combine(bucket, loaded_values[j]);
      }
    }
    __syncthreads();
  }
}

struct LaunchPlan {
  unsigned block, blocks;
  std::size_t per_block;
};

LaunchPlan plan_of(const Problem& p) {
  LaunchPlan plan{};
  plan.block = p.params.number("block");
  const std::size_t most = std::size_t{p.device.sm_count} * p.params.number("blocks_per_sm");
  plan.per_block = std::max(ceil_div(ceil_div(p.n, most), plan.block), std::size_t{1}) * plan.block;
  plan.blocks = static_cast<unsigned>(std::max(ceil_div(p.n, plan.per_block), std::size_t{1}));
  return plan;
}

struct EilersMinimal {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const LaunchPlan plan = plan_of(call.problem);
    T* sets = call.scratch();
    enqueue_fill(call.stream, sets, call.buckets() * plan.blocks, Op::template identity<T>());
    launch(kernel<T, Op>,
           {plan.blocks, plan.block, plan.block * (sizeof(T) + sizeof(Label)), call.stream},
           call.values(), call.labels(), call.n(), plan.per_block, sets);
    reduce_bucket_sets<Op>(call, plan.blocks, call.workspace);
  }
};

Variant variant() {
  return {
      .id = "eilers/minimal",
      .title = "blocks load, one thread works",
      .source = "eilers Algorithm 4.4",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kCorrected,
      .params = {{"block", "128", {"32", "64", "128", "256"}, "threads that load (not stated)"},
                 {"blocks_per_sm",
                  "16",
                  {"1", "2", "4", "8", "16", "32"},
                  "most blocks per SM (not stated)"}},
      .depth = [](const Problem& p) -> std::uint64_t {
        const LaunchPlan plan = plan_of(p);
        return plan.per_block + depth_of_bucket_sets(p, plan.blocks);
      },
      .traffic = [](const Problem& p) { return traffic_of_bucket_sets(p, plan_of(p).blocks); },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = bucket_sets(p, plan_of(p).blocks).bytes};
          },
      .enqueue =
          instantiate_for<EilersMinimal, BasicAndOrderedOps, std::int32_t, std::int64_t, float>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_minimal
