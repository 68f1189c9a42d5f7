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
//   The mode `graph` times the calls as captured in a CUDA graph.
// Choice: no algorithm or protocol of NCCL is asked for: it chooses by size. On two H100s 2^20 i32
//   into 2^16 buckets take 23 us with the results on the first and 29 with them on both, by LL128
//   and Simple 30 on the first, by a tree 45 on both; into 2^20 43 on the first, by LL128, which
//   gains a tenth, 39 (docs/kernels/peers.md). NVLink multicast is off, which some hosts lack and
//   some forbid, and buffers are not registered: what either would gain was not measured.

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
