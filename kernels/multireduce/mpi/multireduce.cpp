// mpi/multireduce: cpu/multireduce-parallel on every rank, then MPI
//
// Source: no publication; what an MPI programmer would write: OpenMP on each rank, then MPI_Reduce
//   or MPI_Allreduce of the Message Passing Interface.
// Idea: every rank reduces its share into a table of its own; MPI combines the tables, on the
//   first rank or on all.
// Fixes: nothing: it is the way across processes and machines without a GPU.
// Launch: the program is started by mpirun, one rank for each of the `devices`. A rank has as many
//   OpenMP threads as it has logical cores.
// Traffic: n labels and n values read, m results written on each rank that has them; between ranks
//   at least the other ranks' tables, for all that have them 2 (k - 1) / k of a table each.
// Preconditions: Open MPI (libmpi.so.40), which is loaded where mpirun started the program; its
//   version is recorded. On one rank nothing is loaded.
// Deviations: none.
// Choice: no algorithm of MPI is asked for: it chooses by size. On two ranks of one AMD EPYC none
//   that Open MPI 4.1 can be told to take was faster by more than runs of one differ: 2^16 inputs
//   into 2^20 buckets take 1.4 ms on the first rank, by the others 0.93 to 2.74 of that, and 1.7
//   ms on all, by the others 0.98 to 1.32 (docs/kernels/peers.md).

#include "kernels/multireduce/cpu/parallel.hpp"
#include "kernels/shared/combine_ranks.hpp"
#include "kernels/shared/combined.hpp"
#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::mpi_multireduce {

/// A rank's inputs are shared out to its logical cores, one share for each.
std::size_t shares_of(const Problem& p) { return p.device.sm_count; }

struct MpiMultireduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const DeviceShare& own = call.shares.front();
    const std::size_t m = call.buckets(), shares = shares_of(call.problem);
    auto* const copies = reinterpret_cast<T*>(own.workspace);
    T* const table = copies + shares * m;
    multireduce_in_parallel<Op>(call.values(own), call.labels(own), own.n, m, shares, copies,
                                table);
    combine_ranks<Op>(call, own, table, m);
  }
};

Variant variant() {
  return {
      .id = "mpi/multireduce",
      .title = "private buckets for each core of every rank, then MPI",
      .source = "OpenMP; MPI",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBaseline,
      .params = {devices_axis(), result_axis()},
      .depth = [](const Problem& p) -> std::uint64_t {
        return ceil_div(largest_share(p).n, shares_of(p)) + shares_of(p) + devices_of(p);
      },
      .traffic =
          [](const Problem& p) { return combined_traffic(p, p.buckets * p.element_bytes()); },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = (shares_of(p) + 1) * p.buckets * p.element_bytes()};
          },
      .loaded_library = mpi_version,
      .enqueue = instantiate<MpiMultireduce, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::mpi_multireduce
