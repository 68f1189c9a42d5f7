// mpi/reduce: cpu/parallel on every rank, then MPI
//
// Source: no publication; what an MPI programmer would write: OpenMP on each rank, then MPI_Reduce
//   or MPI_Allreduce of the Message Passing Interface.
// Idea: every rank reduces its share to one value; MPI combines the values, on the first rank or
//   on all.
// Fixes: nothing: it is the way across processes and machines without a GPU.
// Launch: the program is started by mpirun, one rank for each of the `devices`. A rank has as many
//   OpenMP threads as it has logical cores.
// Traffic: n elements read, one written on each rank that has the result; between ranks at least
//   one element for each other rank that has it.
// Preconditions: Open MPI (libmpi.so.40), which is loaded where mpirun started the program; its
//   version is recorded. On one rank nothing is loaded.
// Deviations: of the operators that MPI knows, those that it has for integers alone are left out.
// Choice: no algorithm of MPI is asked for: it chooses by size. On two ranks of one AMD EPYC those
//   that Open MPI 4.1 can be told to take differ by no more than runs of one: 2^10 i32 take 6.4 to
//   10.6 us, by the others 0.82 to 1.17 of that (docs/kernels/peers.md).

#include "kernels/platform/mpi.hpp"
#include "kernels/reduce/cpu/parallel.hpp"
#include "kernels/shared/combine_ranks.hpp"
#include "kernels/shared/combined.hpp"
#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND::mpi_reduce {

struct MpiReduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const DeviceShare& own = call.shares.front();
    const T part = reduce_in_parallel<T, Op>(call.values(own), own.n);
    combine_ranks<Op>(call, own, &part, 1);
  }
};

Variant variant() {
  return {
      .id = "mpi/reduce",
      .title = "OpenMP on every rank, then MPI",
      .source = "OpenMP; MPI",
      .fidelity = Fidelity::kBaseline,
      .params = {devices_axis(), result_axis()},
      .depth = [](const Problem& p) -> std::uint64_t {
        return depth_of_parallel_reduce(largest_share(p).n) + devices_of(p);
      },
      .traffic = [](const Problem& p) { return combined_traffic(p, p.element_bytes()); },
      .loaded_library = mpi_version,
      .enqueue = instantiate<MpiReduce, OpList<Sum, Min, Max, Prod>>(),
  };
}

}  // namespace reduce_bench::BACKEND::mpi_reduce
