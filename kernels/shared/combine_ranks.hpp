// What the variants over ranks of MPI share. A rank is one of the point's devices, and a call has
// the share of its own rank alone.
#pragma once

#include <cstring>

#include "kernels/platform/mpi.hpp"
#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

/// Combines `count` values of every rank into its results, where it is to have any.
template <class Op, class V, class T>
void combine_ranks(const TypedCall<V>& call, const DeviceShare& own, const T* part,
                   std::size_t count) {
  if (devices_of(call.problem) == 1) std::memcpy(own.results, part, count * sizeof(T));
  else mpi::combine(part, own.results, count, kTypeOf<T>, Op::kOp, results_on_all(call.params()));
}

/// Empty where the point is on one rank, and nothing is loaded.
inline std::string mpi_version() { return mpi::is_started() ? mpi::version() : std::string(); }

}  // namespace reduce_bench::BACKEND
