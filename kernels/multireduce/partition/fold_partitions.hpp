// The second kernel of partition/multireduce: the pieces of one partition in all tiles, combined in
// private buckets.
#pragma once

#include "kernels/multireduce/partition/fixed_table.hpp"
#include "kernels/multireduce/partition/sampled_table.hpp"
#include "kernels/shared/shares.hpp"

namespace reduce_bench::BACKEND::partition_multireduce {

/// Adds a quad's values to a table.
template <class Op, class T, class Table>
struct AddTo {
  const Table& table;
  __device__ void operator()(unsigned label, T value) const {
    // What fills a piece would queue for the bucket of label 0.
    if (!kQueues<T, Op> || value != Op::template identity<T>()) table.add(label, value);
  }
  __device__ void each(const unsigned (&label)[kQuad], const T (&value)[kQuad]) const
    requires(kQueues<T, Op> &&
             requires(Table t, const bool (&b)[kQuad]) { t.add_each(label, value, b); })
  {
    const bool present[kQuad] = {value[0] != 0, value[1] != 0, value[2] != 0, value[3] != 0};
    table.add_each(label, value, present);
  }
};

/// A team of 2^log2_walkers lanes that walks through the pieces of partition p in kPieces tiles at a
/// time, which lie as far apart as the block has teams. The inputs may all lie in neighbouring
/// tiles: so these go to different teams. A lane has kPieces * kSteps quads in flight.
template <unsigned kPieces, unsigned kSteps, class T>
struct Walk {
  const Tiles<T>& in;
  const Partitioning& parts;
  unsigned log2_walkers;
  unsigned p, last;                                 ///< the partition; the end of the tiles
  unsigned next_begin[kPieces], next_end[kPieces];  ///< bounds in their tiles
  unsigned quad[kPieces], end[kPieces];             ///< this lane's next quads; where pieces end

  __device__ unsigned walkers() const { return 1u << log2_walkers; }
  __device__ unsigned teams() const { return blockDim.x >> log2_walkers; }

  /// Loads the bounds of the pieces in tile `tile` and those that are teams() apart.
  __device__ void load_bounds(unsigned tile) {
#pragma unroll
    for (unsigned k = 0; k < kPieces; ++k) {
      next_begin[k] = next_end[k] = 0;
      if (tile + k * teams() >= last) continue;
      const Short* bounds = in.offsets + parts.offsets_at(tile + k * teams()) + p;
      next_begin[k] = bounds[0];
      next_end[k] = bounds[1];
    }
  }
  /// Begins with the pieces in `tile` and so on, whose bounds were loaded last.
  __device__ void begin(unsigned tile) {
    const unsigned walker = threadIdx.x & (walkers() - 1);
#pragma unroll
    for (unsigned k = 0; k < kPieces; ++k) {
      const unsigned first = (tile + k * teams()) * (places_of(parts) / kQuad);
      quad[k] = first + next_begin[k] + walker;
      end[k] = first + next_end[k];
    }
  }
  /// Adds the next kSteps quads of every piece to the table, and says whether any lane of the warp
  /// has more. All lanes must call.
  template <class Op, class Table>
  __device__ bool add_step(const Table& table) {
    Quad<Short> labels[kPieces][kSteps];
    Quad<T> values[kPieces][kSteps];
#pragma unroll
    for (unsigned k = 0; k < kPieces; ++k) {
#pragma unroll
      for (unsigned u = 0; u < kSteps; ++u) {
        const unsigned at = quad[k] + u * walkers();
        if (at >= end[k]) continue;
        labels[k][u] = reinterpret_cast<const Quad<Short>*>(in.labels)[at];
        values[k][u] = reinterpret_cast<const Quad<T>*>(in.values)[at];
      }
    }
    bool more = false;
#pragma unroll
    for (unsigned k = 0; k < kPieces; ++k) {
#pragma unroll
      for (unsigned u = 0; u < kSteps; ++u) {
        const bool present = quad[k] + u * walkers() < end[k];
        if (!__any_sync(kAllLanes, present)) break;
        unsigned label[kQuad] = {};
        T value[kQuad] = {};
        if (present) {
#pragma unroll
          for (unsigned e = 0; e < kQuad; ++e) {
            label[e] = labels[k][u].at[e];
            value[e] = values[k][u].at[e];
          }
        }
        add_quad<Op>(present, label, value, AddTo<Op, T, Table>{table});
      }
      quad[k] += kSteps * walkers();
      more = more || quad[k] < end[k];
    }
    return __any_sync(kAllLanes, more);
  }
};

/// Combines the pieces of partition p in the tiles [first, last).
template <unsigned kPieces, unsigned kSteps, class Op, class T, class Table>
__device__ void fold_tiles(const Table& table, const Tiles<T>& in, const Partitioning& parts,
                           unsigned log2_walkers, unsigned p, unsigned first, unsigned last) {
  Walk<kPieces, kSteps, T> walk{in, parts, log2_walkers, p, last};
  const unsigned round = kPieces * walk.teams();
  unsigned team = threadIdx.x >> log2_walkers;
  walk.load_bounds(first + team);
#pragma unroll 1
  for (unsigned base = first; base < last; base += round) {
    walk.begin(base + team);
    team = team_of_next_round(team, log2_walkers);
    walk.load_bounds(base + round + team);  // on their way while these pieces are combined
    while (walk.template add_step<Op>(table)) {
    }
  }
}

/// What a partition's values are combined in.
enum class TableKind {
  kPrivate,  ///< a PrivateTable
  kHot,      ///< a HotTable beside it where labels are frequent
  kFixed     ///< a FixedTable, which takes the room of two copies
};

template <unsigned kPieces, unsigned kSteps, class T, class Op, TableKind kTable>
__global__ void __launch_bounds__(Policy::kFoldBlock)
    fold_partitions_kernel(Tiles<T> in, std::size_t n, Partitioning parts, unsigned log2_copies,
                           std::size_t buckets, T* results) {
  const ShareQueue queue{in.totals + parts.count, dynamic_shared<Count>()};
  auto* slots = dynamic_shared<T>() + ShareQueue::kBytes / sizeof(T);
  const std::size_t size = std::size_t{parts.width()} << log2_copies;
  std::size_t beside_table = 0;
  if constexpr (kTable == TableKind::kHot) beside_table = HotTable<T, Op>::bytes();
  auto* starts =
      reinterpret_cast<Count*>(reinterpret_cast<std::byte*>(slots + size) + beside_table);
  Count* const largest_field = starts + parts.count + 1;  // where costs were
  wait_for_launch_before();
  divide_into_shares(in.totals, n, parts.count, parts.tiles, static_cast<Count>(size),
                     Policy::skewed_rounds<T, Op>(), starts);
  // Partitions of as many shares go through the tiles side by side, so that neighbouring pieces are
  // read together.
  for (Count share = blockIdx.x; share < starts[parts.count]; share = queue.taken_share()) {
    const unsigned p = __shfl_sync(kAllLanes, partition_of(share, starts, parts.count), 0);
    const Count shares = starts[p + 1] - starts[p], own = share - starts[p];
    const std::size_t first_label = parts.first_label(p), left = buckets - first_label;
    const auto own_buckets = static_cast<unsigned>(left < parts.width() ? left : parts.width());
    const auto tile_at = [&](Count share_of) {
      return __shfl_sync(kAllLanes,
                         static_cast<unsigned>(std::size_t{parts.tiles} * share_of / shares), 0);
    };
    const unsigned first = tile_at(own), last = tile_at(own + 1);
    const Count most = (last - first) * parts.tile, total = in.totals[p];
    const Count inputs = most < total ? most : total;  // at most
    const bool present = samples_a_piece(in.offsets, parts, p, first, last);
    // `table` is cleared, behind a barrier.
    const auto fold_in = [&](const auto& table) {
      const unsigned log2_walkers =
          __shfl_sync(kAllLanes,
                      log2_walkers_for(total / kQuad, parts.tiles, __syncthreads_count(present),
                                       kSteps, Policy::kLog2MostWalkers),
                      0);
      fold_tiles<kPieces, kSteps, Op>(table, in, parts, log2_walkers, p, first, last);
      if (threadIdx.x == 0) queue.take();
      table.add_to(results + first_label);
    };
    if constexpr (kTable == TableKind::kFixed) {
      const std::size_t place = sampled_place(in, parts, p, first, last, threadIdx.x, blockDim.x);
      const FixedTable table{
          reinterpret_cast<unsigned*>(slots), own_buckets,
          FixedTable::window_for(place == kNoPlace ? 0 : in.values[place], inputs, largest_field),
          results + first_label};
      table.clear();
      fold_in(table);
    } else {
      const PrivateTable<T, Op> plain{slots, own_buckets, log2_copies};
      if constexpr (kTable == TableKind::kHot) {
        const auto label_of = [&](unsigned s, unsigned samples) {
          const std::size_t place = sampled_place(in, parts, p, first, last, s, samples);
          return place == kNoPlace ? kNoLabel : Label{in.labels[place]};
        };
        SampledTable<T, Op> table{{plain}};
        if (HotTable<T, Op>::is_worth_it(inputs) &&
            labels_meet(label_of(threadIdx.x, blockDim.x))) {
          table.clear(inputs, label_of);
        } else {
          table.clear_without();
        }
        fold_in(table);
      } else {
        plain.clear();
        fold_in(plain);
      }
    }
    __syncthreads();
  }
}

}  // namespace reduce_bench::BACKEND::partition_multireduce
