// Tables of several devices: each has reduced its share of the inputs into one of its own, and they
// are combined element by element, in the order of the devices, so that float results have the same
// bits on all of them. What the variants of multireduce and histogram for several devices share.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/shared/atomics.hpp"
#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/flagged.hpp"
#include "kernels/shared/packets.hpp"
#include "kernels/shared/private_table.hpp"
#include "kernels/shared/vector16.hpp"

namespace reduce_bench::BACKEND {

struct DeviceTablesPolicy90 {
  /// Bytes that a device would send to all others together, up to which it sends them its whole
  /// table, as packets. Beyond, each combines a slice of all tables (docs/kernels/peers.md).
  static constexpr std::size_t kMostWordsBytes = 4 * 1024 * 1024;
  static constexpr unsigned kBlock = 256;
  static constexpr unsigned kBlocksPerSm = 4, kMostBlocks = 1024;
};
using DeviceTablesPolicy = ByCapability<Row<90, DeviceTablesPolicy90>>;

/// How the devices' tables are combined: as packets, which every receiver gets, or by slices, of
/// which every device combines one and hands it out.
inline ParamSpec exchange_axis() {
  return {"exchange", "auto", {"auto", "words", "slices"}, "of the devices' tables; auto: by size"};
}

/// Lies in each device's own memory. What other devices tell it is by rank, with the call's number.
struct TableSignals {
  flagged::Word begun[kMostDevices];  ///< the calls before have ended there
  flagged::Word ready[kMostDevices];  ///< its table is complete
  flagged::Word done[kMostDevices];   ///< its slice is combined and handed out
  unsigned left;                      ///< blocks of this device that have ended
  /// Calls that have ended: of each block where blocks send packets, of the device in the first
  /// element where it combines slices.
  unsigned calls[DeviceTablesPolicy::kMostBlocks];
};

/// A device's workspace: signals, slots for the others' packets (two calls' by turns), the counters of
/// the launch that fills the table, which begin as zero, and the table, which does so too.
template <class T>
struct TableLayout {
  std::size_t slots_bytes, table_begin, end;

  static constexpr std::size_t kSignals = ceil_div(sizeof(TableSignals), 256) * 256;
  static constexpr std::size_t kLocal = 256;

  static std::size_t triples(std::size_t buckets) { return ceil_div(buckets, Elements<T>::kCount); }
  static std::size_t packets(std::size_t buckets) {
    return triples(buckets) * Elements<T>::kPackets;
  }
  TableLayout(std::size_t buckets, unsigned devices, bool words)
      : slots_bytes(words ? 2 * devices * packets(buckets) * sizeof(Packet) : 0),
        table_begin(kSignals + kLocal + ceil_div(slots_bytes, 256) * 256),
        end(table_begin + buckets * sizeof(T)) {}

  std::byte* local(std::byte* workspace) const { return workspace + kSignals; }
  Packet* slots(std::byte* workspace) const {
    return reinterpret_cast<Packet*>(workspace + kSignals + kLocal);
  }
  T* table(std::byte* workspace) const { return reinterpret_cast<T*>(workspace + table_begin); }
};
/// Whether packets are sent, by a launch of their own or by the one that fills the tables.
inline bool sends_words(const Problem& p, std::size_t element_bytes) {
  if (!p.params.is("exchange", "auto")) return !p.params.is("exchange", "slices");
  return (devices_of(p) - 1) * p.buckets * element_bytes <= DeviceTablesPolicy::kMostWordsBytes;
}

/// All devices' tables as each of them sees these.
template <class T>
struct DeviceTables {
  TableSignals* signals[kMostDevices];
  Packet* slots[kMostDevices];
  T* table[kMostDevices];
  T* results[kMostDevices];  ///< null where a device is not to have them
  unsigned devices, rank, buckets;
  unsigned triples;  ///< how many times three elements a table has
  bool all;          ///< whether every device has the results, not the first alone

  __device__ bool is_other(unsigned other) const { return other < devices && other != rank; }

  // Nobody waits for more than the packets that it combines: those of two calls have slots of their
  // own, so a device may send those of a call when the receiver has read those of the last but one.
  // With results on all, it knows: it has received all packets of the last call, which a device sends
  // after the call before has ended there. With results on one, the others are told.

  /// The number of this block's call.
  __device__ unsigned number_of_call() const { return signals[rank]->calls[blockIdx.x] + 1; }
  /// Tells those that are to be told that the call has begun here.
  __device__ void begin_call(unsigned call) const {
    if (!all && results[rank] != nullptr && blockIdx.x == 0 && is_other(threadIdx.x))
      store_volatile(&signals[threadIdx.x]->begun[rank], flagged::Word{call, 0});
  }
  /// Between this and `number_of_call` the block must meet a barrier.
  __device__ void end_call(unsigned call) const {
    if (threadIdx.x == 0) signals[rank]->calls[blockIdx.x] = call;
  }
  /// Sends elements 3 * i and so on to the devices that are to have the results.
  __device__ void send(unsigned i, const Elements<T>& own, unsigned call) const {
    for (unsigned to = 0; to < devices; ++to) {
      if (to == rank || results[to] == nullptr) continue;
      while (!all && load_volatile(&signals[rank]->begun[to]).bits + 1 < call) wait_hint();
      publish(slot(to, rank, i, call), triples, own, call);
    }
  }
  /// Combines them with what the other devices send, as results of this one, if it is to have any.
  template <class Op>
  __device__ void receive(unsigned i, const Elements<T>& own, unsigned call) const {
    if (results[rank] == nullptr) return;
    Elements<T> total{};
    for (unsigned from = 0; from < devices; ++from) {
      const Elements<T> of =
          from == rank ? own : await<T>(slot(rank, from, i, call), triples, call);
      for (unsigned e = 0; e < Elements<T>::kCount; ++e)
        total.at[e] = from == 0 ? of.at[e] : Op::combine(total.at[e], of.at[e]);
    }
    for (unsigned e = 0; e < Elements<T>::kCount; ++e)
      if (const unsigned bucket = Elements<T>::kCount * i + e; bucket < buckets)
        results[rank][bucket] = total.at[e];
  }

 private:
  /// Where the device of rank `to` has the packets of that of rank `from`.
  __device__ Packet* slot(unsigned to, unsigned from, unsigned i, unsigned call) const {
    return slots[to] + (std::size_t{call % 2} * devices + from) * triples * Elements<T>::kPackets +
           i;
  }
};

/// Whether all values that a cleared table holds are neutral: packets then leave the table cleared
/// behind them, and the launch that fills it need not do so.
template <class T, class Op>
inline constexpr bool kLeavesCleared = Op::template identity<T>() == T{};

/// Every device sends its whole table to those that are to have the results.
template <class T, class Op>
__global__ void __launch_bounds__(DeviceTablesPolicy::kBlock)
    exchange_words_kernel(const __grid_constant__ DeviceTables<T> all) {
  T* const table = all.table[all.rank];
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  const auto read = [&](unsigned i) {
    Elements<T> own{};
    for (unsigned e = 0; e < Elements<T>::kCount; ++e)
      if (const unsigned bucket = Elements<T>::kCount * i + e; bucket < all.buckets)
        own.at[e] = table[bucket];
    return own;
  };
  // Read while the number of the call is on its way; few threads have others.
  const Elements<T> first_elements = read(first);
  const unsigned call = all.number_of_call();
  all.begin_call(call);
  const auto own_at = [&](unsigned i) { return i == first ? first_elements : read(i); };
  for (unsigned i = first; i < all.triples; i += stride) all.send(i, own_at(i), call);
  for (unsigned i = first; i < all.triples; i += stride) {
    all.template receive<Op>(i, own_at(i), call);
    if constexpr (kLeavesCleared<T, Op>)
      for (unsigned e = 0; e < Elements<T>::kCount; ++e)
        if (const unsigned bucket = Elements<T>::kCount * i + e; bucket < all.buckets)
          table[bucket] = T{};
  }
  __syncthreads();
  all.end_call(call);
}

namespace detail {
/// The last block of this device to end notes that the call has; true in its first thread, which
/// then tells the others of all that the device's blocks have written.
__device__ inline bool ends_call(TableSignals* own, unsigned call) {
  __syncthreads();
  if (threadIdx.x != 0) return false;
  __threadfence_system();  // after the barrier, so that it covers the stores of the whole block
  if (atomicAdd(&own->left, 1u) != gridDim.x - 1) return false;
  __threadfence_system();
  atomicExch(&own->left, 0u);
  own->calls[0] = call;
  return true;
}
__device__ inline void await_call(const flagged::Word* word, unsigned call) {
  while (load_volatile(word).bits != call) wait_hint();
}
}  // namespace detail

/// Every device reads a slice of all tables, combines it, and writes it to those that are to have the
/// results. No device begins before all tables are complete, nor ends before all slices are.
template <class T, class Op>
__global__ void __launch_bounds__(DeviceTablesPolicy::kBlock)
    exchange_slices_kernel(const __grid_constant__ DeviceTables<T> all) {
  using Vec = Vector16<T>;
  TableSignals* const own = all.signals[all.rank];
  const unsigned call = own->calls[0] + 1;
  if (all.is_other(threadIdx.x)) {
    if (blockIdx.x == 0) {
      __threadfence_system();
      store_volatile(&all.signals[threadIdx.x]->ready[all.rank], flagged::Word{call, 0});
    }
    detail::await_call(&own->ready[threadIdx.x], call);
    __threadfence_system();
  }
  __syncthreads();
  const auto combine = [&](auto&& read) {
    auto total = read(all.table[0]);
    for (unsigned from = 1; from < all.devices; ++from) {
      const auto value = read(all.table[from]);
#pragma unroll
      for (unsigned e = 0; e < Vec::kCount; ++e)
        total.at[e] = Op::combine(total.at[e], value.at[e]);
    }
    return total;
  };
  // 16 bytes at once, but for the table's last elements, which the last device has.
  const unsigned vectors = all.buckets / Vec::kCount;
  const auto begin_of = [&](unsigned rank) {
    return static_cast<unsigned>(std::size_t{vectors} * rank / all.devices);
  };
  const unsigned stride = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = begin_of(all.rank) + thread; i < begin_of(all.rank + 1); i += stride) {
    const Vec total = combine(
        [&](const T* table) { return load_volatile(reinterpret_cast<const Vec*>(table) + i); });
    for (unsigned to = 0; to < all.devices; ++to)
      if (all.results[to] != nullptr) reinterpret_cast<Vec*>(all.results[to])[i] = total;
  }
  const unsigned i = vectors * Vec::kCount + thread;
  if (all.rank == all.devices - 1 && i < all.buckets) {
    const Vec total = combine([&](const T* table) {
      Vec one{};
      one.at[0] = *const_cast<const volatile T*>(table + i);
      return one;
    });
    for (unsigned to = 0; to < all.devices; ++to)
      if (all.results[to] != nullptr) all.results[to][i] = total.at[0];
  }
  if (!detail::ends_call(own, call)) return;
  for (unsigned other = 0; other < all.devices; ++other)
    if (other != all.rank)
      store_volatile(&all.signals[other]->done[all.rank], flagged::Word{call, 0});
  for (unsigned other = 0; other < all.devices; ++other)
    if (other != all.rank) detail::await_call(&own->done[other], call);
}

/// Calls `f(rank, share)` with the device of each share as the current one.
template <class F>
void on_each_device(std::span<const DeviceShare> shares, F&& f) {
  for (unsigned rank = 0; rank < shares.size(); ++rank) {
#ifdef __CUDACC__
    const CurrentDevice current(shares[rank].stream.device);
#endif
    f(rank, shares[rank]);
  }
}

/// Each device's share as a call of its own, by `Launch` into `results_of(rank)`, which need not be
/// cleared if they are `cleared`.
template <class Launch, class V, class Op, class ResultsOf>
void reduce_shares(const TypedCall<V>& call,
                   const TableLayout<typename TypedCall<V>::Result>& layout, ResultsOf&& results_of,
                   bool cleared = false) {
  on_each_device(call.shares, [&](unsigned rank, const DeviceShare& share) {
    Problem problem = call.problem;
    problem.n = share.n;
    const Call local{.values = share.values,
                     .labels = share.labels,
                     .results = results_of(rank),
                     .workspace = layout.local(share.workspace),
                     .stream = share.stream,
                     .problem = problem};
    Launch::template enqueue<V, Op>(TypedCall<V>{local}, cleared);
  });
}

/// The threads of a grid count buckets in 32 bits, and go beyond the last by as many as they are.
inline std::string tables_restriction(const Problem& p) {
  constexpr std::size_t kMostBuckets = 0xffffffff - 0xffffff;
  if (p.buckets <= kMostBuckets) return {};
  return std::to_string(p.buckets) + " buckets: those of several devices are counted in 32 bits, " +
         std::to_string(kMostBuckets) + " at most";
}

/// What all devices of a call see of each other; each has its own rank in it.
template <class V>
auto device_tables(const TypedCall<V>& call,
                   const TableLayout<typename TypedCall<V>::Result>& layout) {
  DeviceTables<typename TypedCall<V>::Result> all{
      .signals = {},
      .slots = {},
      .table = {},
      .results = {},
      .devices = static_cast<unsigned>(call.shares.size()),
      .rank = 0,
      .buckets = static_cast<unsigned>(call.buckets()),
      .triples = static_cast<unsigned>(layout.triples(call.buckets())),
      .all = results_on_all(call.params())};
  for (unsigned rank = 0; rank < all.devices; ++rank) {
    const DeviceShare& share = call.shares[rank];
    all.signals[rank] = reinterpret_cast<TableSignals*>(share.workspace);
    all.slots[rank] = layout.slots(share.workspace);
    all.table[rank] = layout.table(share.workspace);
    all.results[rank] = call.results(share);
  }
  return all;
}

/// Reduces the shares by `Launch` and combines the devices' tables by `Combine`.
template <class Launch, class Combine, class V, class Op>
void enqueue_spread_tables(const TypedCall<V>& call) {
  using T = typename TypedCall<V>::Result;
  const auto devices = static_cast<unsigned>(call.shares.size());
  const bool words = sends_words(call.problem, sizeof(T));
  const TableLayout<T> layout(call.buckets(), devices, words);
  if (devices == 1)
    return reduce_shares<Launch, V, Op>(call, layout,
                                        [&](unsigned rank) { return call.shares[rank].results; });
  reduce_shares<Launch, V, Op>(
      call, layout, [&](unsigned rank) { return layout.table(call.shares[rank].workspace); },
      words && kLeavesCleared<T, Combine>);
  auto all = device_tables(call, layout);
  using Policy = DeviceTablesPolicy;
  const std::size_t items = words ? all.triples : call.buckets() / Vector16<T>::kCount / devices;
  // All blocks are on the device at once: they wait for blocks of other devices.
  const unsigned most =
      std::min(call.device().sm_count * Policy::kBlocksPerSm, Policy::kMostBlocks);
  const auto blocks =
      static_cast<unsigned>(std::clamp<std::size_t>(ceil_div(items, Policy::kBlock), 1, most));
  launch_on_devices(words ? exchange_words_kernel<T, Combine> : exchange_slices_kernel<T, Combine>,
                    {blocks, Policy::kBlock, 0, {}}, call.shares, [&](unsigned rank) {
                      all.rank = rank;
                      return std::tuple(all);
                    });
}

/// What the tables of a problem take, and move between devices.
template <class T>
Workspace tables_workspace(const Problem& p) {
  const TableLayout<T> layout(p.buckets, devices_of(p), sends_words(p, sizeof(T)));
  return {.device_bytes = layout.end, .zeroed_bytes = layout.end};
}
template <class T>
Traffic tables_traffic(const Problem& p) {
  const std::size_t others = devices_of(p) - 1;
  const std::size_t having = results_on_all(p.params) ? others + 1 : 1;
  const std::size_t table_bytes = p.buckets * sizeof(T);
  Traffic traffic{p.input_bytes(), having * table_bytes};
  if (sends_words(p, sizeof(T))) {
    traffic.link_bytes = others * having * TableLayout<T>::packets(p.buckets) * sizeof(Packet);
  } else {
    // Every device reads its slice of the others' tables, and hands it out.
    traffic.link_bytes = others * table_bytes + (having * others) * table_bytes / (others + 1);
  }
  return traffic;
}

}  // namespace reduce_bench::BACKEND
