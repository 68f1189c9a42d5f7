// The second kernel of partition/histogram: the pieces of one partition in all tiles, counted in
// private bins.
#pragma once

#include "kernels/histogram/partition/tile.hpp"
#include "kernels/shared/shares.hpp"

namespace reduce_bench::BACKEND::partition_histogram {

/// Counts the pieces of partition p in the tiles [first, last). A team of 2^log2_walkers lanes walks
/// through the pieces in kPieces tiles at a time, which lie as far apart as the block has teams.
template <unsigned kPieces, unsigned kSteps>
__device__ void count_pieces(const PrivateTable<Count, Sum>& table, const OrderedTiles& in,
                             const Partitioning& parts, unsigned log2_walkers, unsigned p,
                             unsigned first, unsigned last) {
  const unsigned walkers = 1u << log2_walkers;
  const unsigned walker = threadIdx.x & (walkers - 1);
  unsigned team = threadIdx.x >> log2_walkers;
  const unsigned teams = blockDim.x >> log2_walkers, octets_per_tile = places_of(parts) / kOctet;
  const auto* octets = reinterpret_cast<const Octet*>(in.labels);
  unsigned next_begin[kPieces], next_end[kPieces];
  const auto load_bounds = [&](unsigned tile) {
#pragma unroll
    for (unsigned k = 0; k < kPieces; ++k) {
      next_begin[k] = next_end[k] = 0;
      if (tile + k * teams >= last) continue;
      const Short* bounds = in.offsets + parts.offsets_at(tile + k * teams) + p;
      next_begin[k] = bounds[0];
      next_end[k] = bounds[1];
    }
  };
  load_bounds(first + team);
  for (unsigned base = first; base < last; base += kPieces * teams) {
    std::size_t at[kPieces], end[kPieces];
#pragma unroll
    for (unsigned k = 0; k < kPieces; ++k) {
      const std::size_t begin = std::size_t{base + team + k * teams} * octets_per_tile;
      at[k] = begin + next_begin[k] + walker;
      end[k] = begin + next_end[k];
    }
    team = team_of_next_round(team, log2_walkers);
    load_bounds(base + team + kPieces * teams);  // on their way while these pieces are counted
    for (bool more = true; more;) {
      Octet labels[kPieces][kSteps];
#pragma unroll
      for (unsigned k = 0; k < kPieces; ++k) {
#pragma unroll
        for (unsigned u = 0; u < kSteps; ++u)
          if (at[k] + u * walkers < end[k]) labels[k][u] = octets[at[k] + u * walkers];
      }
      more = false;
#pragma unroll
      for (unsigned k = 0; k < kPieces; ++k) {
#pragma unroll
        for (unsigned u = 0; u < kSteps; ++u) {
          if (at[k] + u * walkers >= end[k]) continue;
#pragma unroll
          for (const Short label : labels[k][u].at) table.add(label, 1);
        }
        at[k] += kSteps * walkers;
        more = more || at[k] < end[k];
      }
      more = __any_sync(kAllLanes, more);
    }
  }
}

template <unsigned kPieces, unsigned kSteps>
__global__ void __launch_bounds__(Policy::kFoldBlock)
    count_partitions_kernel(OrderedTiles in, std::size_t n, Partitioning parts, std::size_t buckets,
                            Count* counts) {
  auto* slots = dynamic_shared<Count>();
  auto* starts = slots + table_size(parts);
  wait_for_launch_before();
  divide_into_shares(in.totals, n, parts.count, parts.tiles, table_size(parts),
                     Policy::kSkewedRounds, starts);
  const ShareQueue queue{in.totals + parts.count, starts + parts.count + 1};  // where costs were
  for (Count share = blockIdx.x; share < starts[parts.count]; share = queue.taken_share()) {
    const unsigned p = partition_of(share, starts, parts.count);
    const Count shares = starts[p + 1] - starts[p], own = share - starts[p];
    const std::size_t first_bin = parts.first_label(p), left = buckets - first_bin;
    // What lies beyond the bins is counted, too, and never read.
    const PrivateTable<Count, Sum> table{
        slots, static_cast<unsigned>(left < parts.width() ? left : parts.width()), 0};
    table.clear();
    const auto tile_at = [&](Count share_of) {
      return static_cast<unsigned>(std::size_t{parts.tiles} * share_of / shares);
    };
    const unsigned first = tile_at(own), last = tile_at(own + 1);
    const unsigned present =
        __syncthreads_count(samples_a_piece(in.offsets, parts, p, first, last));
    const unsigned log2_walkers =
        __shfl_sync(kAllLanes,
                    log2_walkers_for(in.totals[p] / kOctet, parts.tiles, present, kSteps,
                                     Policy::kLog2MostWalkers),
                    0);
    count_pieces<kPieces, kSteps>(table, in, parts, log2_walkers, p, first, last);
    if (threadIdx.x == 0) queue.take();
    table.add_to(counts + first_bin);
    __syncthreads();
  }
}

}  // namespace reduce_bench::BACKEND::partition_histogram
