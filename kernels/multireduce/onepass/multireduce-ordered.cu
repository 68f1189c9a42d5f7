// onepass/multireduce-ordered: a stretch of the input and a bucket set for every warp
//
// Source: this project.
// Idea: every warp takes a stretch of the input, 32 neighbours at a time. Lanes with one label find
//   each other through the warp's own bucket in shared memory and combine their values in the order
//   of the lanes; the highest adds the outcome to the bucket. So no warp waits for another, and a
//   bucket's inputs keep their order. Last, every bucket's sets are combined in the order of the
//   warps.
// Fixes: the sort of eilers/sort-global, the way to an ordered multireduce that depends neither on
//   the labels nor on the number of buckets; and onepass/multireduce's commuting operators only.
// Launch: one block per SM or fewer, as many warps as have room for a set, at most 32, of few
//   inputs fewer; then, from before these end, a block for each bucket, or a thread where there are
//   fewer than 128 sets.
// Traffic: n labels and n values read; every warp's set written and read, m results written. On an
//   H200 the issue of instructions binds with 16 uniform labels, shared memory with 16 Zipf ones,
//   and latency with 2^8, where warps wait for shared memory most of all. How near that comes
//   depends on how many warps an SM has room for: docs/kernels/onepass-multireduce-ordered.md
// Preconditions: m + 1 elements fit into a block's shared memory. Order-preserving.
// Deviations: none, there is no publication.

#include <string>

#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/combine_sets.hpp"
#include "kernels/shared/warp_table.hpp"

namespace reduce_bench::BACKEND::onepass_multireduce_ordered {

/// Chosen for an H200 (docs/kernels/onepass-multireduce-ordered.md).
struct Policy90 {
  /// Rows of a warp, of kWarpSize inputs, in flight: bandwidth against registers.
  static constexpr unsigned kRows = 8;
  /// Shorter stretches, of few inputs, against the sets' traffic: see warp_tables_plan.
  static constexpr double kShare = 32;
};
using Policy = ByCapability<Row<90, Policy90>>;

template <class T, class Op>
__global__ void __launch_bounds__(kWarpSize* WarpTablePolicy::kMostWarps)
    onepass_ordered_kernel(const T* values, const Label* labels, std::size_t n, unsigned buckets,
                           T* sets) {
  let_next_launch_begin();
  const unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize,
                 warps = blockDim.x / kWarpSize;
  const WarpTable<T> own{dynamic_shared<T>() + warp * (buckets + 1)};
  for (unsigned b = lane; b <= buckets; b += kWarpSize) own.slots[b] = Op::template identity<T>();
  __syncwarp();
  const std::size_t rows = (n + kWarpSize - 1) / kWarpSize, all = std::size_t{gridDim.x} * warps,
                    stretch = std::size_t{blockIdx.x} * warps + warp;
  const std::size_t last = rows * (stretch + 1) / all;
  for (std::size_t row = rows * stretch / all; row < last; row += Policy::kRows) {
    Label label[Policy::kRows];
    T value[Policy::kRows];
#pragma unroll
    for (unsigned k = 0; k < Policy::kRows; ++k) {
      const std::size_t i = (row + k) * kWarpSize + lane;
      const bool present = row + k < last && i < n;
      label[k] = present ? labels[i] : buckets;
      value[k] = present ? values[i] : Op::template identity<T>();
    }
    T before[Policy::kRows];
    own.template add_rows<Op>(label, value, before);
  }
  __syncthreads();
  const T* block_sets = dynamic_shared<T>();
  for (unsigned i = threadIdx.x; i < buckets * warps; i += blockDim.x)
    sets[i / warps * all + blockIdx.x * warps + i % warps] =
        block_sets[i % warps * (buckets + 1) + i / warps];
}

std::size_t set_bytes(const Problem& p) { return (p.buckets + 1) * p.element_bytes(); }
WarpTablesPlan plan_of(const Problem& p) {
  return warp_tables_plan(p, set_bytes(p), Policy::kRows, Policy::kShare,
                          most_warps_of(p.params, WarpTablePolicy::kMostWarps));
}
std::size_t sets_of(const Problem& p) { return plan_of(p).tables(); }

struct OnepassOrdered {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const Problem& p = call.problem;
    const WarpTablesPlan plan = plan_of(p);
    launch(onepass_ordered_kernel<T, Op>,
           {plan.blocks, kWarpSize * plan.warps, plan.warps * set_bytes(p), call.stream},
           call.values(), call.labels(), call.n(), static_cast<unsigned>(call.buckets()),
           call.scratch());
    enqueue_combine_sets<Op>(call.stream, call.scratch(), call.buckets(), sets_of(p),
                             call.results(), p.device.overlapping_launches);
  }
};

Variant variant() {
  return {
      .id = "onepass/multireduce-ordered",
      .title = "a stretch of the input and a bucket set for every warp",
      .source = "reduce-bench",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBeyond,
      .params = {warps_axis()},
      .restriction = [](const Problem& p) -> std::string {
        if (plan_of(p).warps > 0) return {};
        return std::to_string(set_bytes(p)) + " bytes of shared memory are needed for " +
               std::to_string(p.buckets) + " buckets, a block has " +
               std::to_string(p.device.max_shared_bytes_per_block);
      },
      // A warp's rows, with 5 steps among the lanes and one into the set for each; then the sets.
      .depth = [](const Problem& p) -> std::uint64_t {
        return 6 * (p.n / kWarpSize / sets_of(p) + 2) + depth_of_combine(sets_of(p));
      },
      .traffic =
          [](const Problem& p) {
            const std::size_t sets = sets_of(p) * p.buckets * p.element_bytes();
            return Traffic{.read_bytes = p.input_bytes() + sets,
                           .written_bytes = sets + p.arrays().output_bytes()};
          },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = sets_of(p) * p.buckets * p.element_bytes()};
          },
      .enqueue = instantiate_ordered<OnepassOrdered>(),
  };
}

}  // namespace reduce_bench::BACKEND::onepass_multireduce_ordered
