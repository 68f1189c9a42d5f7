// A stable radix sort of labels with their values, as passes that any variant can enqueue.
//
// A pass orders by b bits as eilers Algorithm 3.1 does: element i sets its flag in the vector of
// its digit, the exclusive scan over all 2^b * n flags is where each element goes. No flag is
// stored: blocks count the flags of their share (one kernel), the counts are scanned (another), and
// the third kernel ranks each element within its share while it moves it.
//
// Those of the thesis's variants that no variant of CUB stands beside can sort by CUB instead
// (sort=cub), to show what difference the suite's own sort makes to them: the thesis calls the SRTS
// library, which its author has continued in CUB.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "kernels/shared/instantiate.hpp"
#include "kernels/shared/library_counts.hpp"

namespace reduce_bench::BACKEND {

inline constexpr unsigned kSortBlock = 256, kSortItems = 8, kSortTile = kSortBlock * kSortItems;
inline constexpr unsigned kSortWarps = kSortBlock / kWarpSize;

/// Bits per pass: the thesis's SRTS sort, which "works fastest if sortBits is a multiple of five".
inline constexpr unsigned kBitsPerSortPass = 5;

/// Labels and the values that go with them.
template <class L, class T>
struct Pairs {
  L* labels;
  T* values;
};

/// The bits that a pass orders by.
struct Digit {
  unsigned shift, mask;
  __host__ __device__ unsigned of(Label label) const { return (label >> shift) & mask; }
  __host__ __device__ unsigned count() const { return mask + 1; }
};

struct RadixSort;
/// Bytes of temporary storage of CUB's sort, for values of 4 or 8 bytes. On CUDA alone.
std::size_t cub_sort_bytes(const RadixSort& sort, std::size_t value_bytes);

/// One sort of n pairs by the bits [first_bit, end_bit) of their labels.
struct RadixSort {
  std::size_t n = 0;
  unsigned first_bit = 0, end_bit = 0;
  unsigned bits_per_pass = kBitsPerSortPass;  ///< at most 8
  unsigned blocks = 0;
  std::size_t per_block = 0;
  bool by_cub = false;

  /// Without a bit to order by, the one pass copies.
  unsigned passes() const {
    return std::max(1u, static_cast<unsigned>(ceil_div(end_bit - first_bit, bits_per_pass)));
  }
  Digit digit(unsigned pass) const {
    const unsigned shift = first_bit + pass * bits_per_pass;
    return {shift, (1u << std::min(bits_per_pass, end_bit - shift)) - 1};
  }
  std::size_t counts_bytes() const { return aligned((sizeof(Count) << bits_per_pass) * blocks); }
  /// What `enqueue_radix_sort` needs: the counts, and from the second pass on a second set of
  /// pairs.
  std::size_t workspace_bytes(std::size_t value_bytes) const {
#ifdef __CUDACC__
    if (by_cub) return cub_sort_bytes(*this, value_bytes);
#endif
    if (passes() == 1) return counts_bytes();
    return counts_bytes() + aligned(n * sizeof(Label)) + aligned(n * value_bytes);
  }
  /// Every pass reads the labels twice and the values once, and writes both. Of CUB's one pass is
  /// counted, which reads the labels once.
  Traffic traffic(std::size_t value_bytes) const {
    if (by_cub)
      return {.read_bytes = n * (sizeof(Label) + value_bytes),
              .written_bytes = n * (sizeof(Label) + value_bytes)};
    return {.read_bytes = passes() * n * (2 * sizeof(Label) + value_bytes),
            .written_bytes = passes() * n * (sizeof(Label) + value_bytes)};
  }
  static std::size_t aligned(std::size_t bytes) { return ceil_div(bytes, 256) * 256; }
};

/// The axis of the thesis's variants whose sort the thesis takes from a library.
inline ParamSpec sort_axis(
    std::string meaning =
        "whose radix sort (the publication's: SRTS, which its author continued in CUB)") {
  return {"sort", "suite", {"suite", "cub"}, std::move(meaning), {"cub"}};
}
inline bool sorts_by_cub(const Params& params) {
  return params.has("sort") && params.is("sort", "cub");
}
/// The width of the counts that CUB's sort is given; 0 where the suite's sorts, or nothing is sorted.
inline unsigned sort_count_bits(const Problem& p) {
  return sorts_by_cub(p.params) && p.n > 0 ? library_count_bits(p) : 0;
}

/// Labels below m, ordered by their upper `sort_bits` bits (all of them, if they have no more). As
/// many blocks as are resident; each takes one contiguous share of the input.
inline RadixSort plan_radix_sort(const Problem& p, unsigned sort_bits,
                                 unsigned bits_per_pass = kBitsPerSortPass) {
  const unsigned bits = log2_ceil(p.buckets);
  RadixSort sort{
      .n = p.n, .end_bit = bits, .bits_per_pass = bits_per_pass, .by_cub = sorts_by_cub(p.params)};
  sort.first_bit = bits - std::min(bits, sort_bits);
  const std::size_t resident =
      std::size_t{p.device.sm_count} * std::max(1u, p.device.max_threads_per_sm / kSortBlock);
  sort.per_block = ceil_div(ceil_div(p.n, resident), kSortTile) * kSortTile;
  sort.blocks = p.n == 0 ? 0 : static_cast<unsigned>(ceil_div(p.n, sort.per_block));
  return sort;
}

/// Places are counted in 32 bits.
inline std::string radix_sort_restriction(const Problem& p) {
  if (p.n <= ~Count{0}) return {};
  return std::to_string(p.n) + " inputs: the radix sort counts them in 32 bits";
}

/// counts[d * blocks + block]: how many labels of the block's share have the digit d.
template <class L>
__global__ void count_digits_kernel(const L* labels, std::size_t n, std::size_t per_block,
                                    Digit digit, Count* counts) {
  Count* block_counts = dynamic_shared<Count>();
  for (unsigned d = threadIdx.x; d < digit.count(); d += blockDim.x) block_counts[d] = 0;
  __syncthreads();
  const std::size_t first = blockIdx.x * per_block;
  const std::size_t last = first + per_block < n ? first + per_block : n;
  for (std::size_t i = first + threadIdx.x; i < last; i += blockDim.x)
    atomicAdd(&block_counts[digit.of(labels[i])], 1u);
  __syncthreads();
  for (unsigned d = threadIdx.x; d < digit.count(); d += blockDim.x)
    counts[d * gridDim.x + blockIdx.x] = block_counts[d];
}

/// Inclusive sum over the lanes of a full warp.
template <class C>
__device__ C warp_inclusive_sum(C sum) {
  for (unsigned distance = 1; distance < kWarpSize; distance *= 2) {
    const C before = __shfl_up_sync(kAllLanes, sum, distance);
    if (threadIdx.x % kWarpSize >= distance) sum += before;
  }
  return sum;
}

/// Exclusive sums in place, by one full warp; returns the sum of all.
template <class C>
__device__ C warp_exclusive_sums(C* values, unsigned n) {
  const unsigned lane = threadIdx.x % kWarpSize;
  C carry = 0;
  for (unsigned from = 0; from < n; from += kWarpSize) {
    const C own = from + lane < n ? values[from + lane] : 0;
    const C sum = warp_inclusive_sum(own);
    if (from + lane < n) values[from + lane] = carry + sum - own;
    carry += __shfl_sync(kAllLanes, sum, kWarpSize - 1);
  }
  return carry;
}

/// Exclusive sums in place, by one block with room for one element per warp.
template <class C>
__global__ void exclusive_sum_kernel(C* values, std::size_t n) {
  C* warp_sums = dynamic_shared<C>();
  const unsigned warp = threadIdx.x / kWarpSize;
  C carry = 0;
  for (std::size_t start = 0; start < n; start += blockDim.x) {
    const std::size_t i = start + threadIdx.x;
    const C own = i < n ? values[i] : 0;
    const C sum = warp_inclusive_sum(own);
    if (threadIdx.x % kWarpSize == kWarpSize - 1) warp_sums[warp] = sum;
    __syncthreads();
    C before = carry;
    for (unsigned w = 0; w < blockDim.x / kWarpSize; ++w) {
      if (w == warp) before = carry;
      carry += warp_sums[w];
    }
    if (i < n) values[i] = before + sum - own;
    __syncthreads();
  }
}

/// Moves every pair of the block's share to where the counts and its rank among equal digits say.
/// A tile is ordered in shared memory first, so that the stores of a digit lie side by side.
template <class T>
__global__ void move_by_digit_kernel(Pairs<const Label, const T> in, std::size_t n,
                                     std::size_t per_block, Digit digit, const Count* offsets,
                                     Pairs<Label, T> out) {
  const unsigned digits = digit.count();
  T* tile_values = dynamic_shared<T>();
  auto* tile_labels = reinterpret_cast<Label*>(tile_values + kSortTile);
  Count* warp_counts = tile_labels + kSortTile;  // [warp][digit]
  Count* starts = warp_counts + kSortWarps * digits;
  Count* next = starts + digits;

  const unsigned lane = threadIdx.x % kWarpSize;
  Count* own_counts = warp_counts + threadIdx.x / kWarpSize * digits;
  for (unsigned d = threadIdx.x; d < digits; d += blockDim.x)
    next[d] = offsets[d * gridDim.x + blockIdx.x];

  const std::size_t first = blockIdx.x * per_block;
  const std::size_t last = first + per_block < n ? first + per_block : n;
  for (std::size_t tile = first; tile < last; tile += kSortTile) {
    const unsigned count = last - tile < kSortTile ? static_cast<unsigned>(last - tile) : kSortTile;
    for (unsigned i = threadIdx.x; i < kSortWarps * digits; i += blockDim.x) warp_counts[i] = 0;
    __syncthreads();

    // A warp takes kSortItems rows of kWarpSize neighbours, so that ranks grow in the input's order.
    const unsigned mine = threadIdx.x / kWarpSize * kWarpSize * kSortItems + lane;
    Label labels[kSortItems];
    T values[kSortItems];
    Count ranks[kSortItems];
#pragma unroll
    for (unsigned j = 0; j < kSortItems; ++j) {
      const unsigned i = mine + kWarpSize * j;
      labels[j] = i < count ? in.labels[tile + i] : 0;
      if (i < count) values[j] = in.values[tile + i];
    }
#pragma unroll
    for (unsigned j = 0; j < kSortItems; ++j) {
      const bool present = mine + kWarpSize * j < count;
      const unsigned d = present ? digit.of(labels[j]) : digits;
      const unsigned peers = __match_any_sync(kAllLanes, d);
      const auto before = static_cast<unsigned>(__popc(peers & ((1u << lane) - 1)));
      const Count counted = present ? own_counts[d] : 0;
      ranks[j] = counted + before;
      __syncwarp();
      if (present && before == 0) own_counts[d] = counted + static_cast<unsigned>(__popc(peers));
      __syncwarp();
    }
    __syncthreads();

    for (unsigned d = threadIdx.x; d < digits; d += blockDim.x) {
      Count total = 0;
      for (unsigned w = 0; w < kSortWarps; ++w) {
        const Count of_warp = warp_counts[w * digits + d];
        warp_counts[w * digits + d] = total;
        total += of_warp;
      }
      starts[d] = total;
    }
    __syncthreads();
    if (threadIdx.x < kWarpSize) warp_exclusive_sums(starts, digits);
    __syncthreads();

#pragma unroll
    for (unsigned j = 0; j < kSortItems; ++j) {
      if (mine + kWarpSize * j >= count) continue;
      const unsigned d = digit.of(labels[j]);
      const Count place = starts[d] + own_counts[d] + ranks[j];
      tile_labels[place] = labels[j];
      tile_values[place] = values[j];
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
      const Label label = tile_labels[i];
      const unsigned d = digit.of(label);
      const Count place = next[d] + (i - starts[d]);
      out.labels[place] = label;
      out.values[place] = tile_values[i];
    }
    __syncthreads();
    for (unsigned d = threadIdx.x; d < digits; d += blockDim.x)
      next[d] += (d + 1 < digits ? starts[d + 1] : count) - starts[d];
  }
}

/// In radix_sort.cu: what `enqueue_radix_sort` does, by CUB.
void enqueue_cub_sort(const Stream& stream, const RadixSort& sort, std::size_t value_bytes,
                      Pairs<const Label, const void> in, Pairs<Label, void> out,
                      std::byte* workspace);

/// Sorts the n pairs of `in` into `out`; `workspace` has `sort.workspace_bytes(sizeof(T))` bytes.
/// The three arrays are distinct, and `in` is left as it is.
template <class T>
void enqueue_radix_sort(const Stream& stream, const RadixSort& sort, Pairs<const Label, const T> in,
                        Pairs<Label, T> out, std::byte* workspace) {
  if (sort.n == 0) return;
#ifdef __CUDACC__
  if (sort.by_cub)
    return enqueue_cub_sort(stream, sort, sizeof(T), {in.labels, in.values},
                            {out.labels, out.values}, workspace);
#endif
  auto* counts = reinterpret_cast<Count*>(workspace);
  std::byte* second = workspace + sort.counts_bytes();
  Pairs<Label, T> spare{reinterpret_cast<Label*>(second),
                        reinterpret_cast<T*>(second + RadixSort::aligned(sort.n * sizeof(Label)))};
  if (sort.passes() % 2 == 0) std::swap(out, spare);  // the last pass writes to `out`
  for (unsigned pass = 0; pass < sort.passes(); ++pass) {
    const Digit digit = sort.digit(pass);
    const unsigned digits = digit.count();
    launch(count_digits_kernel<Label>, {sort.blocks, kSortBlock, digits * sizeof(Count), stream},
           in.labels, sort.n, sort.per_block, digit, counts);
    launch(exclusive_sum_kernel<Count>, {1, 1024, 1024 / kWarpSize * sizeof(Count), stream}, counts,
           std::size_t{digits} * sort.blocks);
    const std::size_t shared_bytes =
        kSortTile * (sizeof(T) + sizeof(Label)) + (kSortWarps + 2) * digits * sizeof(Count);
    launch(move_by_digit_kernel<T>, {sort.blocks, kSortBlock, shared_bytes, stream}, in, sort.n,
           sort.per_block, digit, counts, out);
    in = {out.labels, out.values};
    std::swap(out, spare);
  }
}

}  // namespace reduce_bench::BACKEND
