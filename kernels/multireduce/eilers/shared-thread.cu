// eilers/shared-thread: one bucket set for each thread in shared memory
//
// Source: eilers section 4.3.6, the baseline for commutative operators (Figures 4.12 and 4.15),
//   after Nugteren's histogram and TRISH's batched loads.
// Idea: every thread has buckets of its own, bucket b of thread t at b * threads + t, so threads of
//   a warp never conflict in a bank and nothing needs an atomic. Labels and values are fetched to
//   registers in batches, so that several loads are in flight.
// Fixes: the traffic and the cache misses of bucket sets in global memory.
// Launch: blocks of as many threads as have room for their sets, at most 256, as many as are
//   resident, or of one warp each, as many as the 48 KB of the publication's card have room for;
//   then a block or a thread for each bucket, which combines the blocks' results.
// Traffic: n labels and n values read, a set of m per block written and read, m results written.
// Preconditions: m buckets for each thread of a warp fit into a block's shared memory.
// Deviations: the condition is that 32 m elements fit, instead of m <= 256 (48 KB and one warp).
//   The numbers of blocks and threads and the size of a batch are not stated. Planned for 48 KB, an
//   SM has 24 blocks of one warp with 16 buckets, 32 with 8; the publication's card holds 16. The
//   block combines its threads' sets, and a kernel in order of the blocks replaces Modern GPU's
//   segmented reduction.

#include "kernels/shared/thread_sets.hpp"

namespace reduce_bench::BACKEND::eilers_shared_thread {

template <class T, class Op, unsigned kItems>
__global__ void kernel(const T* values, const Label* labels, std::size_t n, std::size_t per_block,
                       unsigned buckets, T* block_sets) {
  T* sets = dynamic_shared<T>();
  T* own = sets + threadIdx.x;
  reset_thread_set<Op>(own, buckets);
  const std::size_t first = blockIdx.x * per_block;
  const std::size_t last = first + per_block < n ? first + per_block : n;
  for (std::size_t i = first + threadIdx.x; i < last; i += kItems * blockDim.x) {
    Label label[kItems];
    T value[kItems];
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j) {
      const std::size_t at = i + j * blockDim.x;
      label[j] = at < last ? labels[at] : 0;
      value[j] = at < last ? values[at] : Op::template identity<T>();
    }
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j) take<Op>(own, label[j], value[j]);
  }
  store_block_set<Op>(sets, buckets, block_sets);
}

ThreadSetsPlan plan_of(const Problem& p) {
  return plan_thread_sets(p, 0, p.params.number("items"));
}

struct EilersSharedThread {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const ThreadSetsPlan plan = plan_of(call.problem);
    if (call.n() > 0)
      with_value<1, 4, 8>(call.params().number("items"), [&]<unsigned kItems>() {
        launch(kernel<T, Op, kItems>, {plan.blocks, plan.threads, plan.shared_bytes, call.stream},
               call.values(), call.labels(), call.n(), plan.per_thread * plan.threads,
               static_cast<unsigned>(call.buckets()), call.scratch());
      });
    enqueue_combine_sets<Op>(call.stream, call.scratch(), call.buckets(), plan.blocks,
                             call.results());
  }
};

Variant variant() {
  return {
      .id = "eilers/shared-thread",
      .title = "one bucket set for each thread, shared memory",
      .source = "eilers section 4.3.6",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kAdapted,
      .params = {{"items", "4", {"1", "4", "8"}, "inputs that a thread fetches at once"},
                 shared_room_axis()},
      .restriction = [](const Problem& p) { return thread_sets_restriction(p, 0); },
      .depth = [](const Problem& p) -> std::uint64_t {
        const ThreadSetsPlan plan = plan_of(p);
        return plan.per_thread + plan.threads + depth_of_combine(plan.blocks);
      },
      .traffic =
          [](const Problem& p) {
            const std::size_t sets_bytes = plan_of(p).blocks * p.arrays().output_bytes();
            return Traffic{.read_bytes = p.input_bytes() + sets_bytes,
                           .written_bytes = sets_bytes + p.arrays().output_bytes()};
          },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = plan_of(p).blocks * p.arrays().output_bytes()};
          },
      .enqueue = instantiate<EilersSharedThread, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_shared_thread
