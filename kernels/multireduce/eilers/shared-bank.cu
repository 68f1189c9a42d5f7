// eilers/shared-bank: one bucket set for each bank of shared memory
//
// Source: eilers Algorithm 4.10, section 4.3.6; Figure 4.15.
// Idea: a block keeps 32 sets of buckets, bucket b of set s at 32 b + s: lane s of every warp works
//   on set s, which lies in bank s alone, so that no two lanes of a warp ever meet in a bank. Warps
//   share the sets, hence the atomics, in shared memory. Each thread takes two inputs at once;
//   where their labels are equal it combines them first. At the end the block combines the 32 sets,
//   its threads starting at different banks, and adds its results to the global ones atomically.
// Fixes: atomic/global's traffic and contention in the L2 cache, and what per-thread sets in shared
//   memory leave idle: 32 sets serve any number of warps.
// Launch: a fill of the results; then 4 m threads per block, rounded to warps, at most 1024, as
// many
//   blocks as are resident.
// Traffic: n labels and n values read, m results written; the blocks' partial results are combined
//   in the L2 cache.
// Preconditions: m <= 256; 32 m elements of shared memory; the operator commutes.
// Deviations: the listing neither initialises the sets nor waits between its phases; it marks a
//   merged input by multiplying with a truth value and skips a zero, which breaks min, max and
//   product; it rotates the banks modulo the threads. Here sets start as the neutral element,
//   barriers separate the phases, a branch replaces the multiplication, and banks rotate modulo 32.
//   Blocks take a bound-checked share each. The number of blocks is not stated: what is resident.
//   Compare-and-swap serves what shared memory has no native atomic for (f32 sums among them).

#include <algorithm>

#include "kernels/atomics.hpp"
#include "kernels/instantiate.hpp"

namespace reduce_bench::BACKEND {
namespace {

constexpr unsigned kBanks = 32;
constexpr unsigned kMostBuckets = 256;

template <class T, class Op, bool kMerge>
__global__ void eilers_shared_bank_kernel(const T* values, const Label* labels, std::size_t n,
                                          std::size_t per_block, unsigned buckets, T* results) {
  T* sets = dynamic_shared<T>();
  for (unsigned i = threadIdx.x; i < kBanks * buckets; i += blockDim.x)
    sets[i] = Op::template identity<T>();
  __syncthreads();

  T* own = sets + threadIdx.x % kBanks;
  const std::size_t first = blockIdx.x * per_block;
  const std::size_t last = first + per_block < n ? first + per_block : n;
  for (std::size_t i = first + threadIdx.x; i < last; i += 2 * blockDim.x) {
    const Label label = labels[i];
    T value = values[i];
    if (i + blockDim.x < last) {
      const Label next_label = labels[i + blockDim.x];
      const T next = values[i + blockDim.x];
      if (kMerge && next_label == label) value = Op::combine(value, next);
      else atomic_combine<Op>(&own[kBanks * next_label], next);
    }
    atomic_combine<Op>(&own[kBanks * label], value);
  }
  __syncthreads();

  for (unsigned bucket = threadIdx.x; bucket < buckets; bucket += blockDim.x) {
    T total = Op::template identity<T>();
    for (unsigned k = 0; k < kBanks; ++k)
      total = Op::combine(total, sets[kBanks * bucket + (threadIdx.x + k) % kBanks]);
    atomic_combine<Op>(&results[bucket], total);
  }
}

struct LaunchPlan {
  unsigned block, blocks;
  std::size_t per_block, shared_bytes;
};

LaunchPlan plan_of(const Problem& p) {
  LaunchPlan plan{};
  plan.shared_bytes = kBanks * p.buckets * p.element_bytes();
  plan.block = p.params.is("warps", "auto")
                   ? std::clamp(static_cast<unsigned>(ceil_div(4 * p.buckets, 32)) * 32, 32u, 1024u)
                   : 32 * p.params.number("warps");
  const std::size_t resident = std::clamp<std::size_t>(
      std::min<std::size_t>(p.device.max_threads_per_sm / plan.block,
                            p.device.max_shared_bytes_per_block / plan.shared_bytes),
      1, p.device.max_blocks_per_sm);
  // Whole steps of the loop, so that only the last block has a tail.
  const std::size_t step = 2 * std::size_t{plan.block};
  const std::size_t most = resident * p.device.sm_count;
  plan.per_block = std::max(ceil_div(ceil_div(p.n, most), step), std::size_t{1}) * step;
  plan.blocks = static_cast<unsigned>(ceil_div(p.n, plan.per_block));
  return plan;
}

struct EilersSharedBank {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    enqueue_fill(call.stream, call.out(), call.buckets(), Op::template identity<T>());
    if (call.n() == 0) return;
    const LaunchPlan plan = plan_of(call.problem);
    const auto kernel = call.params().is("merge", "on") ? eilers_shared_bank_kernel<T, Op, true>
                                                        : eilers_shared_bank_kernel<T, Op, false>;
    launch(kernel, {plan.blocks, plan.block, plan.shared_bytes, call.stream}, call.in(),
           call.labels(), call.n(), plan.per_block, static_cast<unsigned>(call.buckets()),
           call.out());
  }
};

std::string restriction(const Problem& p) {
  if (p.buckets > kMostBuckets)
    return std::to_string(p.buckets) +
           " buckets: the publication keeps at most 256 in shared memory";
  const std::size_t needed = kBanks * p.buckets * p.element_bytes();
  if (needed > p.device.max_shared_bytes_per_block)
    return std::to_string(needed) + " bytes of shared memory are needed, a block has " +
           std::to_string(p.device.max_shared_bytes_per_block);
  return {};
}

}  // namespace

Variant eilers_shared_bank() {
  return {
      .id = "eilers/shared-bank",
      .title = "one bucket set for each bank, shared atomics",
      .source = "eilers Algorithm 4.10",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kCorrected,
      .params = {{"warps",
                  "auto",
                  {"auto", "1", "2", "4", "8", "16", "32"},
                  "warps per block (auto: m/8, the publication's fastest)"},
                 {"merge",
                  "on",
                  {"on", "off"},
                  "combine a thread's two inputs where their labels are equal"}},
      .restriction = restriction,
      // All of one bank's inputs of a block, then its sets, then the blocks.
      .depth = [](const Problem& p) -> std::uint64_t {
        const LaunchPlan plan = plan_of(p);
        return plan.per_block / kBanks + kBanks + plan.blocks;
      },
      .enqueue = instantiate<EilersSharedBank, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND
