// Sort and segmented scan within a block of 256 threads by CUB, to show what difference the suite's
// own make to the thesis's kernels. The thesis takes its block sort from CUB, and its segmented scan
// from Modern GPU, which is no longer developed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "kernels/shared/block_radix_sort.hpp"

#ifdef __CUDACC__
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
#endif

namespace reduce_bench::BACKEND {

inline constexpr unsigned kCubBlockThreads = 256;

/// Whether `kernel<T, Op, ..., true>` is built: CUB's code takes long to compile.
template <class Op>
inline constexpr bool kCubBlockSorts =
#ifdef __CUDACC__
    std::is_same_v<Op, Sum>;
#else
    false;
#endif

/// The axis of variants that sort and scan in blocks.
inline ParamSpec block_sort_axis() {
  return sort_axis(
      "whose sort and scan in a block (the publication's: CUB's sort, Modern GPU's scan)");
}
/// Why a variant with this axis and `threads` cannot run; empty where it can.
inline std::string block_sort_restriction(const Problem& p) {
  if (!sorts_by_cub(p.params)) return {};
  if (p.op != Op::kSum) return "sort=cub: only sums are built with CUB's sort in a block";
  if (p.params.number("threads") != kCubBlockThreads)
    return "sort=cub: blocks have " + std::to_string(kCubBlockThreads) + " threads";
  return {};
}

/// Bytes of shared memory that CUB needs where the suite needs those of BlockPairs.
template <class T, class V, unsigned kItems>
std::size_t cub_block_bytes();

/// What block_radix_sort does; `room` is shared memory of `cub_block_bytes`.
template <class V, unsigned kItems>
__device__ void cub_block_sort(Label (&labels)[kItems], V (&values)[kItems], unsigned bits,
                               void* room);

/// What open_segment_before does.
template <class Op, class T>
__device__ T cub_open_segment_before(T value, bool began, void* room);

#ifdef __CUDACC__
template <class V, unsigned kItems>
using CubBlockSort =
    cub::BlockRadixSort<Label, kCubBlockThreads, kItems, V, static_cast<int>(kBlockSortBits)>;

template <class T>
struct OpenSegment {
  T value;
  bool began;
};
/// A segment that begins in `later` leaves nothing of `earlier`.
template <class Op>
struct CombineOpenSegments {
  template <class T>
  __device__ OpenSegment<T> operator()(const OpenSegment<T>& earlier,
                                       const OpenSegment<T>& later) const {
    return {later.began ? later.value : Op::combine(earlier.value, later.value),
            earlier.began || later.began};
  }
};
template <class T>
using CubBlockScan = cub::BlockScan<OpenSegment<T>, kCubBlockThreads>;

template <class T, class V, unsigned kItems>
std::size_t cub_block_bytes() {
  return std::max(sizeof(typename CubBlockSort<V, kItems>::TempStorage),
                  sizeof(typename CubBlockScan<T>::TempStorage));
}

template <class V, unsigned kItems>
__device__ void cub_block_sort(Label (&labels)[kItems], V (&values)[kItems], unsigned bits,
                               void* room) {
  using Sort = CubBlockSort<V, kItems>;
  Sort(*static_cast<typename Sort::TempStorage*>(room))
      .Sort(labels, values, 0, static_cast<int>(bits > 0 ? bits : 1));
  __syncthreads();
}

template <class Op, class T>
__device__ T cub_open_segment_before(T value, bool began, void* room) {
  using Scan = CubBlockScan<T>;
  OpenSegment<T> before;
  Scan(*static_cast<typename Scan::TempStorage*>(room))
      .ExclusiveScan(OpenSegment<T>{value, began}, before,
                     OpenSegment<T>{Op::template identity<T>(), false}, CombineOpenSegments<Op>());
  return before.value;
}
#endif

}  // namespace reduce_bench::BACKEND
