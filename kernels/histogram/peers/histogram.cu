// peers/histogram: onepass/histogram on every device, tables combined over peer memory
//
// Source: this project.
// Idea: every device counts the labels of its share into a table of its own; a second kernel
//   combines the tables, as peers/multireduce's: small ones by packets with flags that every
//   receiver gets, large ones by slices.
// Fixes: nccl/histogram's way through a library's protocol.
// Launch: onepass/histogram's; where the counters do not fit into shared memory, a fill and one
//   atomic per input. Then blocks of 256 threads, three counters each, of slices 16 bytes, at most
//   4 blocks per SM.
// Traffic: n labels read, m counts written on each device that has them. Between devices, by
//   packets, 16 bytes per three counters for each other device that has the results; by slices the
//   other devices' tables once, and all results but the own slice. The second kernel is
//   peers/multireduce's, and so is what binds it: docs/kernels/peers.md
// Preconditions: all devices reach each other's memory. At most 16 devices; at most 2^32 - 2^24
//   bins.
// Deviations: none, there is no publication.

#include "kernels/histogram/device_share.hpp"
#include "kernels/shared/device_tables.hpp"

namespace reduce_bench::BACKEND::peers_histogram {

struct PeersHistogram {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    enqueue_spread_tables<share_histogram::LocalHistogram, Sum, L, Op>(call);
  }
};

Variant variant() {
  std::vector<ParamSpec> params{devices_axis(), result_axis(), exchange_axis()};
  for (ParamSpec& spec : table_params()) params.push_back(std::move(spec));
  return {
      .id = "peers/histogram",
      .title = "onepass/histogram on every device, tables combined over peer memory",
      .source = "reduce-bench",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kBeyond,
      .params = std::move(params),
      .restriction = tables_restriction,
      .traffic = tables_traffic<Count>,
      .workspace = tables_workspace<Count>,
      .enqueue = instantiate_histogram<PeersHistogram>(),
  };
}

}  // namespace reduce_bench::BACKEND::peers_histogram
