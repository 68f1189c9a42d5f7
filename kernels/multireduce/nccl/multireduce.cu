// nccl/multireduce: onepass/multireduce on every device, then NCCL
//
// Source: no publication; what a CUDA programmer would do with this project's kernel and NVIDIA's
//   NCCL.
// Idea: every device reduces its share into a table of its own, as in peers/multireduce; ncclReduce
//   or ncclAllReduce combines the tables.
// Fixes: nothing: it is the way that peers/multireduce is measured against.
// Launch: on every device that of peers/multireduce for its share, then a kernel of NCCL.
// Traffic: n labels and n values read, m results written on each device that has them; between
//   devices at least the other devices' tables, for all that have them 2 (k - 1) / k of a table.
// Preconditions: NCCL (libnccl.so.2), which is loaded at the first call; its version is recorded.
// Deviations: one process calls for all devices, in a group, or each rank of mpirun for its own.
//   NVLink multicast is off. With CUDA graphs, that is the timing mode `graph`, which replays a
//   captured batch.
// Choice: no algorithm or protocol of NCCL is asked for: it chooses by size, and takes as long
//   as a ring. On two H100s, the faster of two runs, 2^20 i32 into 2^8, 2^16 and 2^20 buckets:
//   16.5, 22.9 and 43.3 us on the first, 21.4, 28.5 and 54.4 on all. A tree, which ncclReduce
//   refuses, takes 22.5, 45.1 and 60.1 on all. LL takes as long; Simple takes 21.2, 30.0 and 43.4
//   on the first and 36.7, 45.2 and 54.4 on all; LL128 takes longer into 2^8 and 2^16 (22.0 and
//   29.5 on the first) and less into 2^20, 38.8 and 48.2: who tunes NCCL for such tables by hand
//   gains a tenth.

#include "kernels/shared/combined.hpp"
#include "kernels/shared/instantiate.hpp"

#ifdef __CUDACC__
#include "kernels/multireduce/device_share.hpp"
#include "kernels/shared/nccl_tables.hpp"
#endif

namespace reduce_bench::BACKEND::nccl_multireduce {

#ifdef __CUDACC__
struct NcclMultireduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    enqueue_nccl_tables<share_multireduce::LocalMultireduce, Op, T, Op>(call);
  }
  static Workspace workspace(const Problem& p) {
    return with_value_type(p.type, [&]<class T>() { return nccl_tables_workspace<T>(p); });
  }
};
#else
struct NcclMultireduce;
#endif

Variant variant() {
  Variant variant{
      .id = "nccl/multireduce",
      .title = "onepass/multireduce on every device, then NCCL",
      .source = "reduce-bench; NCCL",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBaseline,
      .params = {devices_axis(), result_axis()},
      .restriction = labels_restriction,
      .traffic =
          [](const Problem& p) { return combined_traffic(p, p.buckets * p.element_bytes()); },
      .workspace = workspace_of<NcclMultireduce>(),
      .enqueue = instantiate<NcclMultireduce, BasicOps>(),
  };
#ifdef __CUDACC__
  variant.loaded_library = nccl_version;
#endif
  return variant;
}

}  // namespace reduce_bench::BACKEND::nccl_multireduce
