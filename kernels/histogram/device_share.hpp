// How one device counts its share into a table, for the variants on several devices.
#pragma once

#include "kernels/histogram/atomic_counts.hpp"
#include "kernels/histogram/onepass/one_launch.hpp"

namespace reduce_bench::BACKEND::share_histogram {

/// onepass/histogram's launch where its counters fit into shared memory. Else, and where labels are
/// few, atomics in the table itself, for which it matters whether the table is cleared.
struct LocalHistogram {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call, bool cleared = false) {
    if constexpr (sizeof(L) > 1)
      if (is_direct(call.problem, tuning_of_table(call.params())))
        return enqueue_cached_atomics<Sum, true>(arguments_of(call), cleared);
    if (table_restriction(call.problem, sizeof(Count)).empty())
      return onepass_histogram::OnepassHistogram::enqueue<L, Op>(call);
    enqueue_atomic_counts(arguments_of(call), cleared);
  }
};

}  // namespace reduce_bench::BACKEND::share_histogram
