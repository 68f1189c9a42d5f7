// eilers/global-atomic: a few bucket sets in global memory, updated atomically
//
// Source: eilers Algorithm 4.9, section 4.3.5; Figures 4.10 and 4.11, Table 4.1.
// Idea: atomic/global with several bucket sets: a thread works on set threadIdx mod sets, and the
//   copies of a bucket lie side by side, so that a warp with one label updates as many addresses
//   as there are sets. A segmented reduction combines the sets. sets=per-block is what the thesis
//   rejects: a set for each block, whose threads all update one address where labels are equal.
// Fixes: atomic/global's contention where labels are equal; more sets leave less of the L2 cache
//   to each.
// Launch: a fill of the sets; blocks of 256 threads, as many as are resident; with more than one
//   set, the segmented reduction of sets * m elements.
// Traffic: n labels and n values read, m results written, the sets written and read once; while
//   they fit into the L2 cache, the atomics stay there. Of n = 2^26 and m = 2^16 an H200 moves
//   0.99 of these bytes, an H100 more: it writes some hundred MB, which differ from run to run,
//   where 2.4 are declared, but misses L2 no more often: L2 writes lines of the sets back and
//   keeps them.
// Preconditions: the operator commutes.
// Deviations: the thesis states no numbers of blocks and threads; these are ours. Shares are
//   bounds-checked. The fill is part of the measured time. Min and max of floats loop on
//   compare-and-swap. The order of the atomics varies, so float sums differ from run to run. Of
//   sets=per-block the thesis describes the choice of the set alone; all else is the same here.

#include "kernels/multireduce/eilers/global_atomic.hpp"

namespace reduce_bench::BACKEND::eilers_global_atomic {

struct EilersGlobalAtomic {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    enqueue_global_atomic<Op>(call, call.values(), call.labels(), call.workspace);
  }
};

Variant variant() {
  ParamSpec sets = sets_param("8", "the publication's best for equal labels: 8");
  sets.allowed.emplace_back("per-block");
  return {
      .id = "eilers/global-atomic",
      .title = "bucket sets in global memory, atomics",
      .source = "eilers Algorithm 4.9",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kAdapted,
      .params = {std::move(sets)},
      .depth = [](const Problem& p) -> std::uint64_t { return p.n; },
      .traffic = traffic_of_global_atomic,
      .workspace =
          [](const Problem& p) { return Workspace{.device_bytes = global_atomic_bytes(p)}; },
      .enqueue = instantiate<EilersGlobalAtomic, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_global_atomic
