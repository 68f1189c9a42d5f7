// peers/multireduce: onepass/multireduce on every device, tables combined over peer memory
//
// Source: this project.
// Idea: every device reduces its share into a table, and the tables are combined over the link. Few
//   inputs into a small table take one launch (`fused`): clusters of blocks share the buckets among
//   them, each reads all of the device's inputs and keeps those of its buckets in shared memory.
//   Its blocks add up what the cluster has, a part each, and send that as packets, three 4-byte
//   words with the number of the call in one access, into the memory of the devices that are to
//   have the results; they wait for nothing but the packets for their own part. More inputs are
//   reduced by a launch of onepass/multireduce, and a second one combines the tables: small ones by
//   packets, too (`words`); large ones by slices: when all tables are complete, a device reads its
//   slice of all, and writes the combined elements to those that are to have them. Elements are
//   combined in the order of the devices: the results have the same bits on all.
// Fixes: nccl/multireduce's way through a library's protocol.
// Launch: fused, clusters of at most 8 blocks of 1024 threads, for about 500 buckets each, for more
//   where the device has no room for so many clusters, at most 2049. Else onepass/multireduce's;
//   where the buckets do not fit into shared memory, the kernel of
//   kernels/shared/cached_atomics.hpp. Then blocks of 256 threads, three elements each, of slices
//   16 bytes, at most 4 blocks per SM.
// Traffic: n labels and n values read, by every cluster; m results written on each device that has
//   them. Between devices, by packets, 16 bytes per 12 of a table for each other device that has
//   the results; by slices the other devices' tables once, and all results but the own slice. With
//   few inputs the launch binds, not the link: in a graph two inputs into one bucket take 3.3 us on
//   two H200s, and one on one of them 3.2: docs/kernels/peers.md
// Preconditions: all devices reach each other's memory; the operator commutes. At most 16 devices;
//   at most 2^32 - 2^24 buckets.
// Deviations: none, there is no publication.

#include "kernels/multireduce/device_share.hpp"
#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/cluster_barrier.hpp"
#include "kernels/shared/device_tables.hpp"

namespace reduce_bench::BACKEND::peers_multireduce {

struct FusedPolicy90 {
  static constexpr unsigned kBlock = 1024;
  /// Inputs of a share and bytes of a table up to which one launch is chosen. Beyond, two
  /// launches are mostly faster (docs/kernels/peers.md).
  static constexpr std::size_t kMostInputs = 1 << 17, kMostTableBytes = 64 * 1024;
  /// Buckets of a cluster at most, and so few that no more clusters are launched for them.
  static constexpr unsigned kMostBuckets = 2049, kFewBuckets = 513;
  /// Bytes of their copies in a block, at most: they are cleared and added up again. More where
  /// lanes that meet at a copy queue.
  static constexpr std::size_t copies_bytes(bool queues) { return (queues ? 64 : 20) * 1024; }
  static constexpr unsigned kLog2MostCluster = 3, kMostCluster = 1 << kLog2MostCluster;
};
using FusedPolicy = ByCapability<Row<90, FusedPolicy90>>;
static_assert(FusedPolicy::kMostBuckets % Elements<int>::kCount == 0);

inline constexpr unsigned kPerLoad = Vector16<Label>::kCount;

/// A thread's latest bucket, kept in registers until another label comes, from the first input on.
template <class Table>
struct Kept {
  using T = typename Table::Value;

  const Table& table;
  unsigned bucket = ~0u;  // none of the table's
  T total = Table::Op::template identity<T>();

  __device__ void add(unsigned of, T value) {
    if (of != bucket) {
      end();
      bucket = of;
      total = value;
    } else {
      total = Table::Op::combine(total, value);
    }
  }
  __device__ void end() {
    if (bucket != ~0u) table.add(bucket, total);
  }
};

/// Clusters of 2^log2_cluster blocks have `width` buckets each, a multiple of three but for the
/// last.
template <class T, class Op>
__global__ void __launch_bounds__(FusedPolicy::kBlock)
    fused_kernel(const T* __restrict__ values, const Label* __restrict__ labels, std::size_t n,
                 bool aligned, unsigned log2_cluster, unsigned width, unsigned log2_copies,
                 const __grid_constant__ DeviceTables<T> all) {
  using Table = PrivateTable<T, Op>;
  using Values = Vector16<T>;
  constexpr unsigned kTriple = Elements<T>::kCount;
  const unsigned rank = cluster_rank(), low = (blockIdx.x >> log2_cluster) * width;
  const unsigned count = all.buckets - low < width ? all.buckets - low : width;
  const std::size_t step = std::size_t{blockDim.x} << log2_cluster;
  const std::size_t first = std::size_t{rank} * blockDim.x + threadIdx.x;
  const std::size_t vectors = aligned ? n / kPerLoad : 0;
  // The first inputs and the number of the call are on their way while the table is cleared.
  struct Inputs {
    Vector16<Label> labels;
    Values values[kPerLoad / Values::kCount];
  };
  const auto load = [&](std::size_t i) {
    Inputs inputs;
    inputs.labels = reinterpret_cast<const Vector16<Label>*>(labels)[i];
#pragma unroll
    for (unsigned part = 0; part < kPerLoad / Values::kCount; ++part)
      inputs.values[part] =
          reinterpret_cast<const Values*>(values)[i * (kPerLoad / Values::kCount) + part];
    return inputs;
  };
  Inputs next{};
  if (first < vectors) next = load(first);
  const unsigned call = all.number_of_call();
  const Table table{dynamic_shared<T>(), count, log2_copies};
  table.clear();

  Kept<Table> kept{table};
  const auto add = [&](Label label, T value) {
    if (label - low < count) kept.add(label - low, value);
  };
  for (std::size_t i = first; i < vectors; i += step) {
    const Inputs inputs = next;
    if (i + step < vectors) next = load(i + step);
#pragma unroll
    for (unsigned e = 0; e < kPerLoad; ++e)
      add(inputs.labels.at[e], inputs.values[e / Values::kCount].at[e % Values::kCount]);
  }
  for (std::size_t i = vectors * kPerLoad + first; i < n; i += step) add(labels[i], values[i]);
  kept.end();
  all.begin_call(call);
  __syncthreads();
  T* const totals = table.slots + table.size();
  const unsigned triples = (count + kTriple - 1) / kTriple;
  for (unsigned b = threadIdx.x; b < triples * kTriple; b += blockDim.x) {
    T total = Op::template identity<T>();
    const unsigned slot = table.slot_of(b), copies = b < count ? 1u << log2_copies : 0;
#pragma unroll 8
    for (unsigned copy = 0; copy < copies; ++copy)
      total = Op::combine(total, table.slots[slot ^ copy]);
    totals[b] = total;
  }
  cluster_sync_shared();  // the totals of all its blocks are complete

  const unsigned own = (triples * rank >> log2_cluster) + threadIdx.x;
  const bool has_own = own < triples * (rank + 1) >> log2_cluster;
  Elements<T> sum;
#pragma unroll
  for (T& value : sum.at) value = Op::template identity<T>();
  if (has_own) {
    // All are read before the first is used: each takes as long as an access to the L2 cache.
    T of[FusedPolicy::kMostCluster][kTriple];
#pragma unroll
    for (unsigned from = 0; from < FusedPolicy::kMostCluster; ++from) {
      if (from >> log2_cluster != 0) continue;
      const T* const other = cluster_shared(totals, from);
#pragma unroll
      for (unsigned e = 0; e < kTriple; ++e) of[from][e] = other[kTriple * own + e];
    }
#pragma unroll
    for (unsigned from = 0; from < FusedPolicy::kMostCluster; ++from)
#pragma unroll
      for (unsigned e = 0; e < kTriple; ++e)
        if (from >> log2_cluster == 0) sum.at[e] = Op::combine(sum.at[e], of[from][e]);
    all.send(low / kTriple + own, sum, call);
  }
  cluster_sync_shared();  // no totals end while they are read
  if (has_own) all.template receive<Op>(low / kTriple + own, sum, call);
  all.end_call(call);
}

struct FusedPlan {
  unsigned clusters, log2_cluster, width;
};

/// The same on all devices: the blocks of one number wait for each other. So all of them are on the
/// device at once, with as many SMs to spare, since not every one has the neighbours for a cluster.
inline FusedPlan fused_plan(const Problem& p) {
  using Policy = FusedPolicy;
  constexpr unsigned kTriple = Elements<int>::kCount;
  const auto triples = static_cast<unsigned>(ceil_div(p.buckets, kTriple));
  const auto clusters_of = [&](unsigned buckets) {
    return static_cast<unsigned>(ceil_div(triples, buckets / kTriple));
  };
  const unsigned least = clusters_of(Policy::kMostBuckets);
  const auto room = [&](unsigned log2_cluster) { return p.device.sm_count / 2 >> log2_cluster; };
  // So many blocks that each thread has one load.
  const std::size_t loads = ceil_div(largest_share(p).n, Policy::kBlock * kPerLoad);
  FusedPlan plan{};
  while (plan.log2_cluster < Policy::kLog2MostCluster && (1u << plan.log2_cluster) < loads &&
         (2u << plan.log2_cluster) <= p.device.max_blocks_per_cluster &&
         room(plan.log2_cluster + 1) >= least)
    ++plan.log2_cluster;
  plan.clusters =
      std::max(least, std::min(clusters_of(Policy::kFewBuckets), room(plan.log2_cluster)));
  plan.width = static_cast<unsigned>(ceil_div(triples, plan.clusters)) * kTriple;
  plan.clusters = clusters_of(plan.width);
  return plan;
}
/// Why one launch cannot do it, or nothing.
inline std::string fused_restriction(const Problem& p) {
  if (p.buckets * p.element_bytes() > FusedPolicy::kMostTableBytes)
    return "one launch takes tables of at most " + std::to_string(FusedPolicy::kMostTableBytes) +
           " bytes, not of " + std::to_string(p.buckets * p.element_bytes());
  if (const unsigned clusters = fused_plan(p).clusters; clusters > p.device.sm_count)
    return "one launch needs " + std::to_string(clusters) + " SMs at once, the device has " +
           std::to_string(p.device.sm_count);
  return {};
}
inline bool is_fused(const Problem& p) {
  if (devices_of(p) == 1) return false;
  if (!p.params.is("exchange", "auto")) return p.params.is("exchange", "fused");
  // Who asks for a number of copies gets onepass/multireduce, whose parameter it is.
  return p.params.is("copies", "auto") && largest_share(p).n <= FusedPolicy::kMostInputs &&
         fused_restriction(p).empty();
}

struct PeersMultireduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (!is_fused(call.problem))
      return enqueue_spread_tables<share_multireduce::LocalMultireduce, Op, T, Op>(call);
    const FusedPlan plan = fused_plan(call.problem);
    const auto devices = static_cast<unsigned>(call.shares.size());
    auto all = device_tables(call, TableLayout<T>(call.buckets(), devices, true));
    const std::size_t bytes = plan.width * sizeof(T);
    constexpr std::size_t kMostBytes =
        FusedPolicy::copies_bytes(onepass_multireduce::kQueues<T, Op>);
    unsigned log2_copies = 0;
    while (log2_copies < kLog2WarpSize && (bytes << (log2_copies + 1)) <= kMostBytes) ++log2_copies;
    LaunchShape shape{plan.clusters << plan.log2_cluster,
                      FusedPolicy::kBlock,
                      (bytes << log2_copies) + bytes,
                      {}};
    shape.cluster = 1u << plan.log2_cluster;
    launch_on_devices(fused_kernel<T, Op>, shape, call.shares, [&](unsigned rank) {
      const DeviceShare& share = call.shares[rank];
      const T* const values = call.values(share);
      const Label* const labels = call.labels(share);
      const bool aligned =
          (reinterpret_cast<std::uintptr_t>(values) | reinterpret_cast<std::uintptr_t>(labels)) %
              16 ==
          0;
      all.rank = rank;
      return std::tuple(values, labels, share.n, aligned, plan.log2_cluster, plan.width,
                        log2_copies, all);
    });
  }
};

/// All inputs of a block in one copy; then the copies, the blocks of a cluster, and the devices.
inline std::uint64_t depth(const Problem& p) {
  if (!is_fused(p)) return share_multireduce::spread_depth(p);
  const FusedPlan plan = fused_plan(p);
  const std::size_t loads = ceil_div(
      largest_share(p).n, std::size_t{FusedPolicy::kBlock * kPerLoad} << plan.log2_cluster);
  return loads * FusedPolicy::kBlock * kPerLoad + kPerLoad + kWarpSize + (1u << plan.log2_cluster) +
         devices_of(p);
}

Variant variant() {
  ParamSpec exchange = exchange_axis();
  exchange.allowed.insert(exchange.allowed.begin() + 1, "fused");
  exchange.meaning += "; fused: by the launch that fills them";
  std::vector<ParamSpec> params{devices_axis(), result_axis(), std::move(exchange)};
  for (ParamSpec& spec : table_params()) params.push_back(std::move(spec));
  return {
      .id = "peers/multireduce",
      .title = "onepass/multireduce on every device, tables combined over peer memory",
      .source = "reduce-bench",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBeyond,
      .params = std::move(params),
      .restriction =
          [](const Problem& p) {
            return is_fused(p) ? fused_restriction(p) : tables_restriction(p);
          },
      .depth = depth,
      .traffic =
          [](const Problem& p) {
            return with_value_type(p.type, [&]<class T>() { return tables_traffic<T>(p); });
          },
      .workspace =
          [](const Problem& p) {
            return with_value_type(p.type, [&]<class T>() { return tables_workspace<T>(p); });
          },
      .enqueue = instantiate<PeersMultireduce, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::peers_multireduce
