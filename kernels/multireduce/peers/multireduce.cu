// peers/multireduce: onepass/multireduce on every device, tables combined over peer memory
//
// Source: this project.
// Idea: every device reduces its share into a table of its own; a second kernel combines the
//   tables. Small ones by words: a device writes its whole table into the memory of those that are
//   to have the results, every element with the number of the call in one word, and they wait for
//   nothing but these words. Large ones by slices: when all tables are complete, a device reads its
//   slice of all, and writes the combined elements to those that are to have them. Elements are
//   combined in the order of the devices: the results have the same bits on all.
// Fixes: nccl/multireduce's way through a library's protocol.
// Launch: onepass/multireduce's; where the buckets do not fit into shared memory, the kernel of
//   kernels/shared/cached_atomics.hpp. Then blocks of 256 threads, one element each, of slices 16
//   bytes, at most 4 blocks per SM.
// Traffic: n labels and n values read, m results written on each device that has them. Between
//   devices, by words, 8 bytes per 4 of a table for each other device that has the results; by
//   slices the other devices' tables once, and all results but the own slice.
// Preconditions: all devices reach each other's memory; the operator commutes. At most 16 devices.
// Deviations: none, there is no publication.

#include "kernels/multireduce/device_share.hpp"
#include "kernels/shared/device_tables.hpp"

namespace reduce_bench::BACKEND::peers_multireduce {

struct PeersMultireduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    enqueue_spread_tables<share_multireduce::LocalMultireduce, Op, T, Op>(call);
  }
};

Variant variant() {
  std::vector<ParamSpec> params{devices_axis(), result_axis(), exchange_axis()};
  for (ParamSpec& spec : table_params()) params.push_back(std::move(spec));
  return {
      .id = "peers/multireduce",
      .title = "onepass/multireduce on every device, tables combined over peer memory",
      .source = "reduce-bench",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBeyond,
      .params = std::move(params),
      .depth = share_multireduce::spread_depth,
      .traffic = [](const Problem& p) { return tables_traffic(p, p.element_bytes()); },
      .workspace =
          [](const Problem& p) {
            return with_value_type(p.type, [&]<class T>() { return tables_workspace<T>(p); });
          },
      .enqueue = instantiate<PeersMultireduce, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::peers_multireduce
