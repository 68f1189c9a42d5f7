// A stable radix sort within a block, after CUB's BlockRadixSort: thread t holds kItems pairs of the
// block from the (t * kItems)-th on, before and after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/shared/radix_sort.hpp"

namespace reduce_bench::BACKEND {

/// Bits per pass: CUB's default.
inline constexpr unsigned kBlockSortBits = 4, kBlockSortDigits = 1u << kBlockSortBits;

/// Bytes of shared memory for a block that sorts `items` values per thread with their labels.
inline std::size_t block_pairs_bytes(std::size_t value_bytes, unsigned items, unsigned threads) {
  return threads * ((items + 1) * (value_bytes + sizeof(Label)) +
                    kBlockSortDigits * sizeof(std::uint16_t)) +
         threads / kWarpSize * sizeof(Count);
}
/// Why a variant with the axes `threads` and `items` cannot sort in a block; empty where it can.
inline std::string block_pairs_restriction(const Problem& p, std::size_t value_bytes) {
  const std::size_t needed =
      block_pairs_bytes(value_bytes, p.params.number("items"), p.params.number("threads"));
  if (needed <= p.device.max_shared_bytes_per_block) return {};
  return std::to_string(needed) + " bytes of shared memory are needed to sort in a block, which " +
         "gets " + std::to_string(p.device.max_shared_bytes_per_block);
}

/// Shared memory for blocks of `threads` threads (whole warps) with kItems pairs each.
template <class T, unsigned kItems>
struct BlockPairs {
  static constexpr unsigned kBits = kBlockSortBits, kDigits = kBlockSortDigits;

  T* values;
  Label* labels;
  std::uint16_t* counters;  ///< [digit][thread]
  Count* warp_sums;

  __device__ explicit BlockPairs(T* room)
      : values(room),
        labels(reinterpret_cast<Label*>(room + (kItems + 1) * blockDim.x)),
        counters(reinterpret_cast<std::uint16_t*>(labels + (kItems + 1) * blockDim.x)),
        warp_sums(reinterpret_cast<Count*>(counters + kDigits * blockDim.x)) {}

  static std::size_t bytes(unsigned threads) {
    return block_pairs_bytes(sizeof(T), kItems, threads);
  }
  /// Rows of kItems pairs are padded by one, so that the lanes of a warp read different banks; with a
  /// `padding` of 0 they are not.
  __device__ static unsigned slot(unsigned place, unsigned padding = 1) {
    return place + padding * (place / kItems);
  }
};

/// Of variants that transpose their inputs in shared memory before they sort them.
inline ParamSpec transposition_padding_axis() {
  return {"padding",
          "on",
          {"on", "off"},
          "whether rows of the transposition are padded by one input (the publication's: off)"};
}
inline unsigned transposition_padding(const Params& params) {
  return params.is("padding", "on") ? 1 : 0;
}

/// Orders the block's pairs by the lowest `bits` bits of their labels.
template <class T, unsigned kItems>
__device__ void block_radix_sort(Label (&labels)[kItems], T (&values)[kItems], unsigned bits,
                                 const BlockPairs<T, kItems>& block) {
  using Block = BlockPairs<T, kItems>;
  const unsigned threads = blockDim.x, warp = threadIdx.x / kWarpSize;
  for (unsigned shift = 0; shift < bits; shift += Block::kBits) {
    const Digit digit{shift,
                      (1u << (bits - shift < Block::kBits ? bits - shift : Block::kBits)) - 1};
    for (unsigned d = 0; d < Block::kDigits; ++d) block.counters[d * threads + threadIdx.x] = 0;
    unsigned places[kItems];
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j)
      places[j] = block.counters[digit.of(labels[j]) * threads + threadIdx.x]++;
    __syncthreads();

    // The exclusive sum over all counters, digit by digit, thread by thread.
    std::uint16_t* const neighbours = block.counters + threadIdx.x * Block::kDigits;
    Count own = 0;
    for (unsigned k = 0; k < Block::kDigits; ++k) own += neighbours[k];
    const Count sum = warp_inclusive_sum(own);
    if (threadIdx.x % kWarpSize == kWarpSize - 1) block.warp_sums[warp] = sum;
    __syncthreads();
    Count before = sum - own;
    for (unsigned w = 0; w < warp; ++w) before += block.warp_sums[w];
    for (unsigned k = 0; k < Block::kDigits; ++k) {
      const std::uint16_t count = neighbours[k];
      neighbours[k] = static_cast<std::uint16_t>(before);
      before += count;
    }
    __syncthreads();

#pragma unroll
    for (unsigned j = 0; j < kItems; ++j) {
      const unsigned slot =
          Block::slot(places[j] + block.counters[digit.of(labels[j]) * threads + threadIdx.x]);
      block.labels[slot] = labels[j];
      block.values[slot] = values[j];
    }
    __syncthreads();
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j) {
      labels[j] = block.labels[Block::slot(threadIdx.x * kItems + j)];
      values[j] = block.values[Block::slot(threadIdx.x * kItems + j)];
    }
    __syncthreads();
  }
}

}  // namespace reduce_bench::BACKEND
