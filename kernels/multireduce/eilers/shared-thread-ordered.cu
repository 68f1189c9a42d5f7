// eilers/shared-thread-ordered: private bucket sets over transposed input
//
// Source: eilers section 4.3.6, the baseline for operators that do not commute (Figure 4.13), with
//   the transposition of Algorithm 4.7.
// Idea: every thread works through a segment of its own in order, on a bucket set of its own in
//   shared memory. A block fetches `items` neighbours of each segment side by side and passes them
//   through shared memory, with rows padded by one element so that reading them causes no bank
//   conflicts.
// Fixes: eilers/shared-thread's lost order: the inputs of a bucket are combined in their order.
// Launch: as eilers/shared-thread: blocks of as many threads as have room, as many as are
//   resident, or of one warp each in 48 KB; then a block for each bucket.
// Traffic: n labels and n values read, a set of m per block written and read, m results written.
// Preconditions: m buckets and items + 1 inputs for each thread of a warp fit into a block's
//   shared memory. Order-preserving.
// Deviations: any m that fits, instead of m <= 256. The number of blocks and threads is not
//   stated. Labels and values have a tile each, 2 (items + 1) words for each thread, where the
//   thesis passes both through one of items words: in 48 KB an SM has 11 blocks of a warp instead
//   of 15 with 16 buckets and items=8. A thread moves eight items at a time to registers. The
//   block combines its threads' sets in order, and a kernel in order of the blocks replaces Modern
//   GPU's segmented reduction, whose fold of a single segment is not ordered.

#include "kernels/shared/thread_sets.hpp"

namespace reduce_bench::BACKEND::eilers_shared_thread_ordered {

constexpr unsigned kBatch = 8;

template <class T, class Op>
__global__ void kernel(const T* values, const Label* labels, std::size_t n, std::size_t per_thread,
                       unsigned items, unsigned buckets, T* block_sets) {
  T* sets = dynamic_shared<T>();
  T* tile_values = sets + buckets * blockDim.x;
  auto* tile_labels = reinterpret_cast<Label*>(tile_values + (items + 1) * blockDim.x);
  T* own = sets + threadIdx.x;
  reset_thread_set<Op>(own, buckets);

  const std::size_t first = blockIdx.x * blockDim.x * per_thread;
  for (std::size_t offset = 0; offset < per_thread; offset += items) {
    for (unsigned i = threadIdx.x; i < items * blockDim.x; i += blockDim.x) {
      const unsigned segment = i / items, item = i % items;
      const std::size_t index = first + segment * per_thread + offset + item;
      const unsigned place = segment * (items + 1) + item;
      tile_labels[place] = index < n ? labels[index] : 0;
      tile_values[place] = index < n ? values[index] : Op::template identity<T>();
    }
    __syncthreads();
    const unsigned row = threadIdx.x * (items + 1);
    for (unsigned from = 0; from < items; from += kBatch) {
      Label label[kBatch];
      T value[kBatch];
#pragma unroll
      for (unsigned j = 0; j < kBatch; ++j) {
        label[j] = tile_labels[row + from + j];
        value[j] = tile_values[row + from + j];
      }
#pragma unroll
      for (unsigned j = 0; j < kBatch; ++j) take<Op>(own, label[j], value[j]);
    }
    __syncthreads();
  }
  store_block_set<Op>(sets, buckets, block_sets);
}

std::size_t row_bytes(const Problem& p) {
  return (p.params.number("items") + 1) * (p.element_bytes() + sizeof(Label));
}

ThreadSetsPlan plan_of(const Problem& p) {
  return plan_thread_sets(p, row_bytes(p), p.params.number("items"));
}

struct EilersSharedThreadOrdered {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const ThreadSetsPlan plan = plan_of(call.problem);
    if (call.n() > 0)
      launch(kernel<T, Op>, {plan.blocks, plan.threads, plan.shared_bytes, call.stream},
             call.values(), call.labels(), call.n(), plan.per_thread, call.params().number("items"),
             static_cast<unsigned>(call.buckets()), call.scratch());
    enqueue_combine_sets<Op>(call.stream, call.scratch(), call.buckets(), plan.blocks,
                             call.results());
  }
};

Variant variant() {
  return {
      .id = "eilers/shared-thread-ordered",
      .title = "private sets in shared memory, transposed input",
      .source = "eilers section 4.3.6",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kAdapted,
      .params = {{"items",
                  "8",
                  {"8", "16", "32"},
                  "inputs of a thread in a tile (few are best, but for 256 buckets 32)"},
                 shared_room_axis()},
      .restriction = [](const Problem& p) { return thread_sets_restriction(p, row_bytes(p)); },
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
      .enqueue = instantiate_for<EilersSharedThreadOrdered, BasicAndOrderedOps, std::int32_t,
                                 std::int64_t, float>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_shared_thread_ordered
