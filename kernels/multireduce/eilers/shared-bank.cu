// eilers/shared-bank: one bucket set for each bank of shared memory
//
// Source: eilers Algorithm 4.10, section 4.3.6; Figure 4.15.
// Idea: a block keeps 32 sets of buckets, bucket b of set s at 32 b + s: lane s of every warp
//   works on set s, which lies in bank s alone, so that no two lanes of a warp ever conflict in a
//   bank. Warps share the sets, hence the atomics on shared memory. Each thread takes two inputs
//   at once; where their labels are equal it combines them first. At the end the block combines
//   the 32 sets, its threads starting at different banks, and adds its results to the global ones
//   atomically.
// Fixes: atomic/global's traffic and contention in the L2 cache, and the threads for which
//   per-thread sets in shared memory leave no room: 32 sets serve any number of warps.
// Launch: a fill of the results; then 4 m threads per block, rounded to warps, at most 1024, as
//   many blocks as are resident, or as would be in the 48 KB of the publication's card.
// Traffic: n labels and n values read, m results written; the blocks' partial results are combined
//   in the L2 cache.
// Preconditions: m <= 256; 32 m elements of shared memory; the operator commutes.
// Deviations: the listing does not initialise the sets, and leaves barriers to its notation
//   (section 3.2.1); it marks a merged input by multiplying with a truth value and skips a zero,
//   which breaks min, max and product; it rotates the banks modulo the threads. Here sets start as
//   the neutral element, barriers separate the phases, a branch replaces the multiplication (with
//   form=as-published sums multiply), and banks rotate modulo 32: as printed, a bucket would get
//   sets of others. Blocks take a bounds-checked share each. The number of blocks is not
//   stated; here as many as are resident. Where shared memory has no native atomic (f32 sums among
//   them), a compare-and-swap loop serves.

#include "kernels/multireduce/eilers/bank_sets.hpp"

namespace reduce_bench::BACKEND::eilers_shared_bank {

template <class T, class Op, bool kMerge, bool kMultiply = false>
__global__ void kernel(const T* values, const Label* labels, std::size_t n, std::size_t per_block,
                       unsigned buckets, T* results) {
  T* sets = dynamic_shared<T>();
  reset_bank_sets<Op>(sets, buckets);
  __syncthreads();
  const std::size_t first = blockIdx.x * per_block;
  const std::size_t last = first + per_block < n ? first + per_block : n;
  take_into_bank_sets<Op, kMerge, false, kMultiply>(sets, values, labels, first, last, 0, buckets);
  __syncthreads();
  add_bank_sets<Op>(sets, buckets, results);
}

struct EilersSharedBank {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    enqueue_fill(call.stream, call.results(), call.buckets(), Op::template identity<T>());
    if (call.n() == 0) return;
    const BankSetsPlan plan = plan_bank_sets(call.problem);
    auto chosen = call.params().is("merge", "on") ? kernel<T, Op, true> : kernel<T, Op, false>;
    if constexpr (std::is_same_v<Op, Sum>)
      if (call.params().is("merge", "on") && call.params().is("form", "as-published"))
        chosen = kernel<T, Op, true, true>;
    launch(chosen, {plan.blocks, plan.threads, plan.shared_bytes, call.stream}, call.values(),
           call.labels(), call.n(), plan.per_block, plan.buckets, call.results());
  }
};

std::string restriction(const Problem& p) {
  if (p.buckets > kMostBankBuckets)
    return std::to_string(p.buckets) +
           " buckets: the publication keeps at most 256 in shared memory";
  if (p.params.is("form", "as-published") && p.op != reduce_bench::Op::kSum)
    return "form=as-published multiplies what it merges by 0 or 1, which is right of sums alone";
  return bank_sets_restriction(p);
}

Variant variant() {
  return {
      .id = "eilers/shared-bank",
      .title = "one bucket set for each bank, shared atomics",
      .source = "eilers Algorithm 4.10",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kCorrected,
      .params = {bank_sets_warps(),
                 bank_sets_merge(),
                 shared_room_axis(),
                 {"form",
                  "corrected",
                  {"corrected", "as-published"},
                  "how a merged input is left out: by a branch, or multiplied by 0"}},
      .restriction = restriction,
      .depth = [](const Problem& p) -> std::uint64_t { return plan_bank_sets(p).depth(); },
      .enqueue = instantiate<EilersSharedBank, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_shared_bank
