// onepass/multireduce: lane-private buckets in the whole of an SM's shared memory
//
// Source: this project.
// Idea: one block per SM keeps as many copies of the buckets as its shared memory holds, up to one
//   for each lane, bucket by bucket, so that the lanes of a warp meet in no bank. A warp reads a
//   stretch of inputs of its own by 16-byte loads; a thread keeps its latest bucket in registers
//   until another label comes. So runs, sorted labels and one label for all cost fewer updates than
//   random ones, not more.
// Fixes: sorting (cub/sort-reduce-by-key moves every input several times), the thesis's limit of
//   256 buckets, and contention on skewed labels (atomic/global).
// Launch: a fill of the results; then one block of 1024 threads per SM.
// Traffic: n labels and n values read, m results written. The blocks' tables are combined by
//   atomics in the L2 cache. For integers device memory binds: on an H200, 2^26 i32 sums take 145
//   us into 16 buckets and 152 us into 32768 (88 % and 84 % of the read ceiling), within 3 % for
//   skewed or sorted labels. For f32 sums beyond 1024 buckets the compare-and-swap loop on the
//   hottest bucket binds: Zipf labels over 32768 take 1089 us.
// Preconditions: m buckets fit into a block's shared memory; the operator commutes.
// Deviations: none, there is no publication.

#include "kernels/private_table.hpp"

namespace reduce_bench::BACKEND {
namespace {

/// 16-byte loads of labels in flight per thread; those of values are as many or twice as many.
inline constexpr unsigned kLoads = 2;
inline constexpr unsigned kPerLoad = Sixteen<Label>::kCount;
inline constexpr std::size_t kTile = std::size_t{kLanes} * kPerLoad * kLoads;

template <class T, class Op>
__global__ void __launch_bounds__(1024)
    onepass_multireduce_kernel(const T* values, const Label* labels, std::size_t n, bool aligned,
                               std::size_t per_warp, std::size_t buckets, unsigned log2_copies,
                               T* results) {
  using Values = Sixteen<T>;
  constexpr unsigned kValueLoads = kPerLoad / Values::kCount;
  const PrivateTable<T, Op> table{dynamic_shared<T>(), buckets, log2_copies};
  table.clear();

  const unsigned lane = threadIdx.x % kLanes;
  const std::size_t warp = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / kLanes;
  std::size_t i = warp * per_warp;
  const std::size_t end = i + per_warp < n ? i + per_warp : n;
  Run<T, Op> run(table);
  if (aligned) {
    for (; i + kTile <= end; i += kTile) {
      Sixteen<Label> l[kLoads];
      Values v[kLoads][kValueLoads];
#pragma unroll
      for (unsigned k = 0; k < kLoads; ++k) {
        const std::size_t at = i + (k * kLanes + lane) * kPerLoad;
        l[k] = load_ahead(reinterpret_cast<const Sixteen<Label>*>(labels + at));
#pragma unroll
        for (unsigned part = 0; part < kValueLoads; ++part)
          v[k][part] = load_ahead(reinterpret_cast<const Values*>(values + at) + part);
      }
#pragma unroll
      for (unsigned k = 0; k < kLoads; ++k) {
#pragma unroll
        for (unsigned e = 0; e < kPerLoad; ++e)
          run.add(l[k].at[e], v[k][e / Values::kCount].at[e % Values::kCount]);
      }
    }
  }
  for (i += lane; i < end; i += kLanes) run.add(labels[i], values[i]);
  run.end();
  table.add_to(results);
}

struct OnepassMultireduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    enqueue_fill(call.stream, call.out(), call.buckets(), Op::template identity<T>());
    if (call.n() == 0) return;
    const TablePlan plan = table_plan(call.problem, sizeof(T), kTile);
    const auto address = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
    const bool aligned = address(call.in()) % 16 == 0 && address(call.labels()) % 16 == 0;
    launch(onepass_multireduce_kernel<T, Op>,
           {plan.blocks, plan.block, plan.shared_bytes, call.stream}, call.in(), call.labels(),
           call.n(), aligned, plan.per_warp, call.buckets(), plan.log2_copies, call.out());
  }
};

}  // namespace

Variant onepass_multireduce() {
  return {
      .id = "onepass/multireduce",
      .title = "lane-private buckets in all of shared memory",
      .source = "reduce-bench",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBeyond,
      .params = table_params(),
      .restriction = [](const Problem& p) { return table_restriction(p, p.element_bytes()); },
      // All of a block's inputs in one copy, the copies, the blocks.
      .depth = [](const Problem& p) -> std::uint64_t {
        const TablePlan plan = table_plan(p, p.element_bytes(), kTile);
        return plan.per_warp * (plan.block / kLanes) + kLanes + plan.blocks;
      },
      .enqueue = instantiate<OnepassMultireduce, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND
