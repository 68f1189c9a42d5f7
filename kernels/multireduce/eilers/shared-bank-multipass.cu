// eilers/shared-bank-multipass: one pass over the input for every 256 buckets
//
// Source: eilers section 4.3.6, "Extension for more than 256 buckets", the multi-pass scheme
//   (Figure 4.16).
// Idea: eilers/shared-bank runs once for each range of 256 labels and skips all other labels. The
//   more ranges there are, the fewer atomics a pass makes, so two passes take less than twice the
//   time.
// Fixes: eilers/shared-bank's limit of 256 buckets.
// Launch: a fill of the results; ceil(m / 256) times eilers/shared-bank's grid.
// Traffic: n labels and n values read in every pass, m results written.
// Preconditions: 8192 elements of shared memory; the operator commutes.
// Deviations: those of eilers/shared-bank. No listing is given; a pass is a launch, and inputs of
//   other ranges are read with their values, then discarded.

#include "kernels/multireduce/eilers/bank_sets.hpp"

namespace reduce_bench::BACKEND::eilers_shared_bank_multipass {

template <class T, class Op, bool kMerge>
__global__ void kernel(const T* values, const Label* labels, std::size_t n, std::size_t per_block,
                       Label low, unsigned buckets, T* results) {
  T* sets = dynamic_shared<T>();
  reset_bank_sets<Op>(sets, buckets);
  __syncthreads();
  const std::size_t first = blockIdx.x * per_block;
  const std::size_t last = first + per_block < n ? first + per_block : n;
  take_into_bank_sets<Op, kMerge, true>(sets, values, labels, first, last, low, buckets);
  __syncthreads();
  add_bank_sets<Op>(sets, buckets, results + low);
}

std::size_t passes_of(const Problem& p) { return ceil_div(p.buckets, kMostBankBuckets); }

struct EilersSharedBankMultipass {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    enqueue_fill(call.stream, call.results(), call.buckets(), Op::template identity<T>());
    if (call.n() == 0) return;
    const BankSetsPlan plan = plan_bank_sets(call.problem);
    const auto chosen =
        call.params().is("merge", "on") ? kernel<T, Op, true> : kernel<T, Op, false>;
    for (std::size_t low = 0; low < call.buckets(); low += kMostBankBuckets) {
      const auto buckets =
          static_cast<unsigned>(std::min<std::size_t>(kMostBankBuckets, call.buckets() - low));
      launch(chosen, {plan.blocks, plan.threads, plan.shared_bytes, call.stream}, call.values(),
             call.labels(), call.n(), plan.per_block, static_cast<Label>(low), buckets,
             call.results());
    }
  }
};

Variant variant() {
  return {
      .id = "eilers/shared-bank-multipass",
      .title = "eilers/shared-bank once for every 256 buckets",
      .source = "eilers section 4.3.6",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kCorrected,
      .params = {bank_sets_warps(), bank_sets_merge()},
      .restriction = bank_sets_restriction,
      .depth = [](const Problem& p) -> std::uint64_t { return plan_bank_sets(p).depth(); },
      .traffic =
          [](const Problem& p) {
            return Traffic{.read_bytes = passes_of(p) * p.input_bytes(),
                           .written_bytes = p.arrays().output_bytes()};
          },
      .enqueue = instantiate<EilersSharedBankMultipass, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_shared_bank_multipass
