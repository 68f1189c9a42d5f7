// The partitioning of the multiscan (eilers Algorithm 5.2), for any algorithm that scans segments.
//
//   1. A variant's own kernel scans every segment by itself. It stores the segment's results, and
//      in `totals`, laid out as [bucket][segment], what each bucket holds at the segment's end.
//   2. Every row of the totals is scanned, exclusively and in the order of the segments.
//   3. Each input's result is combined with the total of its bucket in all segments before, which
//      is the left operand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

/// Segment s begins at s * length; the last ones may be cut short by n, or empty.
struct Segments {
  std::size_t count, length;
};

inline Segments segments_of(std::size_t n, std::size_t length) {
  return {ceil_div(n, length), length};
}
inline std::size_t totals_bytes(const Problem& p, const Segments& segments) {
  return segments.count * p.buckets * p.element_bytes();
}

// ---- the second step ---------------------------------------------------------------------------

/// Elements of a row that a thread takes at a time.
inline constexpr unsigned kTotalsItems = 8;

/// Block b scans row b, tile by tile.
template <class T, class Op>
__global__ void scan_totals_kernel(T* totals, std::size_t segments) {
  T* warp_totals = dynamic_shared<T>();
  T* row = totals + blockIdx.x * segments;
  const unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  T carry = Op::template identity<T>();
  for (std::size_t tile = 0; tile < segments; tile += blockDim.x * kTotalsItems) {
    const std::size_t first = tile + threadIdx.x * kTotalsItems;
    T items[kTotalsItems];
    T sum = Op::template identity<T>();
#pragma unroll
    for (unsigned k = 0; k < kTotalsItems; ++k) {
      items[k] = first + k < segments ? row[first + k] : Op::template identity<T>();
      sum = Op::combine(sum, items[k]);
    }
    for (unsigned distance = 1; distance < kWarpSize; distance *= 2) {
      const T before = __shfl_up_sync(kAllLanes, sum, distance);
      if (lane >= distance) sum = Op::combine(before, sum);
    }
    if (lane == kWarpSize - 1) warp_totals[warp] = sum;
    T before = __shfl_up_sync(kAllLanes, sum, 1);
    if (lane == 0) before = Op::template identity<T>();
    __syncthreads();
    for (unsigned w = 0; w < blockDim.x / kWarpSize; ++w) {
      if (w == warp) before = Op::combine(carry, before);
      carry = Op::combine(carry, warp_totals[w]);
    }
#pragma unroll
    for (unsigned k = 0; k < kTotalsItems; ++k) {
      if (first + k < segments) row[first + k] = before;
      before = Op::combine(before, items[k]);
    }
    __syncthreads();
  }
}

/// Thread b scans row b by itself.
template <class T, class Op>
__global__ void scan_few_totals_kernel(T* totals, std::size_t buckets, std::size_t segments) {
  const std::size_t bucket = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (bucket >= buckets) return;
  T* row = totals + bucket * segments;
  T before = Op::template identity<T>();
  for (std::size_t first = 0; first < segments; first += kTotalsItems) {
    T items[kTotalsItems];
#pragma unroll
    for (unsigned k = 0; k < kTotalsItems; ++k)
      items[k] = first + k < segments ? row[first + k] : Op::template identity<T>();
#pragma unroll
    for (unsigned k = 0; k < kTotalsItems; ++k) {
      if (first + k < segments) row[first + k] = before;
      before = Op::combine(before, items[k]);
    }
  }
}

/// One thread scans each row where segments are few, or rows are enough to keep the card busy.
inline bool one_thread_scans_totals(std::size_t buckets, std::size_t segments) {
  constexpr std::size_t kManySegments = 1024;
  return segments < kManySegments || segments < buckets;
}

inline unsigned threads_of_totals(std::size_t segments) {
  return static_cast<unsigned>(std::min<std::size_t>(
      ceil_div(ceil_div(segments, kTotalsItems), kWarpSize) * kWarpSize, 1024));
}

template <class Op, class T>
void enqueue_scan_totals(const Stream& stream, T* totals, std::size_t buckets,
                         std::size_t segments) {
  if (one_thread_scans_totals(buckets, segments)) {
    constexpr unsigned kBlock = 128;
    launch(scan_few_totals_kernel<T, Op>,
           {static_cast<unsigned>(ceil_div(buckets, kBlock)), kBlock, 0, stream}, totals, buckets,
           segments);
    return;
  }
  const unsigned threads = threads_of_totals(segments);
  // Rounded up to four: ptxas loads as many at once, and memcheck reports a load beyond the end.
  const std::size_t warp_totals_bytes = ceil_div(threads / kWarpSize, 4) * 4 * sizeof(T);
  launch(scan_totals_kernel<T, Op>,
         {static_cast<unsigned>(buckets), threads, warp_totals_bytes, stream}, totals, segments);
}

// ---- the third step ----------------------------------------------------------------------------

/// Block s completes segment s. It first brings the totals of all buckets before the segment to
/// shared memory.
template <class T, class Op>
__global__ void add_fetched_totals_kernel(const Label* labels, std::size_t n, std::size_t length,
                                          unsigned buckets, const T* totals, T* results) {
  T* before = dynamic_shared<T>();
  for (unsigned b = threadIdx.x; b < buckets; b += blockDim.x)
    before[b] = totals[std::size_t{b} * gridDim.x + blockIdx.x];
  __syncthreads();
  const std::size_t first = blockIdx.x * length;
  const std::size_t end = first + length < n ? first + length : n;
  for (std::size_t i = first + threadIdx.x; i < end; i += blockDim.x)
    results[i] = Op::combine(before[labels[i]], results[i]);
}

inline constexpr unsigned kAddBlock = 256, kAddItems = 4;

/// The same with the totals read from global memory; a block's inputs may lie in several segments.
template <class T, class Op>
__global__ void add_totals_kernel(const Label* labels, std::size_t n, Segments segments,
                                  const T* totals, T* results) {
  const std::size_t first = std::size_t{blockIdx.x} * kAddBlock * kAddItems + threadIdx.x;
#pragma unroll
  for (unsigned k = 0; k < kAddItems; ++k) {
    const std::size_t i = first + k * kAddBlock;
    if (i >= n) return;
    results[i] = Op::combine(totals[labels[i] * segments.count + i / segments.length], results[i]);
  }
}

/// Where the third step reads the totals, for variants that leave the choice open.
inline ParamSpec totals_axis() {
  return {
      "totals",
      "auto",
      {"auto", "shared", "global"},
      "memory that the last step reads totals from (auto: shared for m < 2^10, as in the thesis, "
      "if a segment has m inputs)"};
}

/// "The shared memory version has better performance if nBuckets < 2^10"; a segment shorter than m
/// would fetch more than it uses.
inline bool fetches_totals(const Problem& p, const Segments& segments) {
  if (p.params.has("totals") && !p.params.is("totals", "auto"))
    return p.params.is("totals", "shared");
  return p.buckets < 1024 && p.buckets <= segments.length;
}

/// The second and the third step; `totals` are scanned in place. A single segment needs neither.
template <class Op, class T>
void enqueue_add_totals(const TypedCall<T>& call, const Segments& segments, T* totals) {
  if (segments.count < 2) return;
  const std::size_t buckets = call.buckets();
  enqueue_scan_totals<Op>(call.stream.aside(), totals, buckets, segments.count);
  if (fetches_totals(call.problem, segments)) {
    const auto block = static_cast<unsigned>(
        std::min<std::size_t>(ceil_div(segments.length, kWarpSize) * kWarpSize, kAddBlock));
    launch(add_fetched_totals_kernel<T, Op>,
           {static_cast<unsigned>(segments.count), block, buckets * sizeof(T), call.stream.aside()},
           call.labels(), call.n(), segments.length, static_cast<unsigned>(buckets), totals,
           call.results());
  } else {
    launch(add_totals_kernel<T, Op>,
           {static_cast<unsigned>(ceil_div(call.n(), kAddBlock * kAddItems)), kAddBlock, 0,
            call.stream.aside()},
           call.labels(), call.n(), segments, totals, call.results());
  }
}

// ---- what it costs -----------------------------------------------------------------------------

/// The grids have a block for each bucket, and one for each segment; where blocks fetch totals, those
/// of all buckets fit into shared memory.
inline std::string partition_restriction(const Problem& p, const Segments& segments) {
  constexpr std::size_t kMostBlocks = 0x7fffffff;
  if (segments.count > 1 && fetches_totals(p, segments) &&
      p.buckets > p.device.max_shared_bytes_per_block / p.element_bytes())
    return "the totals of " + std::to_string(p.buckets) + " buckets do not fit into the " +
           std::to_string(p.device.max_shared_bytes_per_block) +
           " bytes of a block's shared memory: choose totals=global";
  if (std::max(p.buckets, segments.count) <= kMostBlocks) return {};
  return std::to_string(p.buckets) + " buckets and " + std::to_string(segments.count) +
         " segments: a grid has no block for each";
}

/// Most operators that a segment's total passes through on the way to a result.
inline std::uint64_t depth_of_totals(const Problem& p, const Segments& segments) {
  if (one_thread_scans_totals(p.buckets, segments.count)) return segments.count + 1;
  const unsigned threads = threads_of_totals(segments.count);
  const std::uint64_t tiles = ceil_div(segments.count, threads * kTotalsItems);
  return 2 * kTotalsItems + 5 + tiles * (threads / kWarpSize) + 2;
}

/// The variant's kernel reads the inputs and writes the results and the totals; the second step
/// reads and writes the totals; the third reads labels, results and totals and writes the results.
/// It reads all totals where blocks fetch them, otherwise at most one for each input.
inline Traffic traffic_of_partition(const Problem& p, const Segments& segments) {
  const Arrays arrays = p.arrays();
  if (segments.count < 2) return {arrays.input_bytes(), arrays.output_bytes()};
  const std::size_t totals = totals_bytes(p, segments);
  const std::size_t used =
      fetches_totals(p, segments) ? totals : std::min(totals, arrays.results.bytes());
  return {.read_bytes =
              arrays.input_bytes() + arrays.labels.bytes() + arrays.output_bytes() + totals + used,
          .written_bytes = 2 * arrays.output_bytes() + 2 * totals};
}

}  // namespace reduce_bench::BACKEND
