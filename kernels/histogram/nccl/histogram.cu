// nccl/histogram: onepass/histogram on every device, then NCCL
//
// Source: no publication; what a CUDA programmer would do with this project's kernel and NVIDIA's
//   NCCL.
// Idea: every device counts the labels of its share into a table of its own, as in
//   peers/histogram; ncclReduce or ncclAllReduce combines the tables.
// Fixes: nothing: it is the way that peers/histogram is measured against.
// Launch: on every device that of peers/histogram for its share, then a kernel of NCCL.
// Traffic: n labels read, m counts written on each device that has them; between devices at least
//   the other devices' tables, for all that have them 2 (k - 1) / k of a table.
// Preconditions: NCCL (libnccl.so.2), which is loaded at the first call; its version is recorded.
// Deviations: one process calls for all devices, in a group, or each rank of mpirun for its own.
//   The mode `graph` times the calls as captured in a CUDA graph.
// Choice: no algorithm or protocol of NCCL is asked for: it chooses by size, and on two H100s
//   nothing else was faster: 2^20 labels into 2^8 bins take 15 us with the result on the first, by
//   LL128 21 and by Simple 20, and 20 with it on both, by a tree 21; into 2^16 23, 29, 29, 28 and
//   44 (docs/kernels/peers.md). NVLink multicast is off, which some hosts lack and some forbid,
//   and buffers are not registered: what either would gain was not measured.

#include "kernels/shared/combined.hpp"
#include "kernels/shared/instantiate.hpp"

#ifdef __CUDACC__
#include "kernels/histogram/device_share.hpp"
#include "kernels/shared/nccl_tables.hpp"
#endif

namespace reduce_bench::BACKEND::nccl_histogram {

#ifdef __CUDACC__
struct NcclHistogram {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    enqueue_nccl_tables<share_histogram::LocalHistogram, Sum, L, Op>(call);
  }
  static Workspace workspace(const Problem& p) { return nccl_tables_workspace<Count>(p); }
};
#else
struct NcclHistogram;
#endif

Variant variant() {
  Variant variant{
      .id = "nccl/histogram",
      .title = "onepass/histogram on every device, then NCCL",
      .source = "reduce-bench; NCCL",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kBaseline,
      .params = {devices_axis(), result_axis()},
      .restriction = labels_restriction,
      .traffic = [](const Problem& p) { return combined_traffic(p, p.buckets * sizeof(Count)); },
      .workspace = workspace_of<NcclHistogram>(),
      .enqueue = instantiate_histogram<NcclHistogram>(),
  };
#ifdef __CUDACC__
  variant.loaded_library = nccl_version;
#endif
  return variant;
}

}  // namespace reduce_bench::BACKEND::nccl_histogram
