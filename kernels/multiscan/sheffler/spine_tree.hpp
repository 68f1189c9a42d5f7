// Sheffler's multiscan of a segment of side * side inputs by `side` threads, with the records in
// global or in shared memory.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/multiscan/segment_totals.hpp"

namespace reduce_bench::BACKEND {

/// A node of a spine tree, or a bucket. Inputs form rows of `side`, from the bottom up; the nodes
/// of a label in one row have one parent, in the next row above that has the label (one of its
/// nodes there, a spine element), or the bucket.
template <class T>
struct Spinerec {
  T rowsum;    ///< of a spine element: its children's values
  T spinesum;  ///< of a spine element: all values in the rows below its children's
  Count spine;
  Count is_spine;
};

inline std::size_t spinerec_bytes(const Problem& p) {
  return with_value_type(p.type, [&]<class T>() { return sizeof(Spinerec<T>); });
}

/// The publication's arbitrary concurrent write: threads may store to one word at once, and one of
/// the values stays. Plain stores promise nothing of the kind.
__device__ inline void store_one_of_several(volatile Count& word, Count value) { word = value; }

/// Scans `count` inputs. `records` are side * side nodes, then the buckets, whose `spinesum` in the
/// end is their total in the segment. A barrier stands after every step of the publication.
template <class Op, class T>
__device__ void scan_by_spine_tree(Spinerec<T>* records, const T* values, const Label* labels,
                                   unsigned count, unsigned buckets, bool explicit_flag,
                                   bool inclusive, T* results) {
  const unsigned side = blockDim.x, t = threadIdx.x, nodes = side * side;
  const unsigned rows = (count + side - 1) / side;
  for (unsigned i = t; i < nodes + buckets; i += side)
    records[i] = {Op::template identity<T>(), Op::template identity<T>(), i, 0};
  __syncthreads();

  for (unsigned row = rows; row-- > 0;) {
    const unsigned i = row * side + t;
    if (i < count) {
      const unsigned parent = records[nodes + labels[i]].spine;
      records[i].spine = parent;
      store_one_of_several(records[parent].is_spine, 1);
    }
    __syncthreads();
    if (i < count) store_one_of_several(records[nodes + labels[i]].spine, i);
    __syncthreads();
  }
  for (unsigned column = 0; column < side; ++column) {
    const unsigned i = t * side + column;
    if (i < count) {
      T& rowsum = records[records[i].spine].rowsum;
      rowsum = Op::combine(rowsum, values[i]);
    }
    __syncthreads();
  }
  for (unsigned row = 0; row < rows; ++row) {
    const unsigned i = row * side + t;
    if (i < count) {
      const Spinerec<T> node = records[i];
      if (explicit_flag ? node.is_spine != 0 : node.rowsum != Op::template identity<T>())
        records[node.spine].spinesum = Op::combine(node.spinesum, node.rowsum);
    }
    __syncthreads();
  }
  for (unsigned column = 0; column < side; ++column) {
    const unsigned i = t * side + column;
    if (i < count) {
      T& spinesum = records[records[i].spine].spinesum;
      const T before = spinesum;
      spinesum = Op::combine(before, values[i]);
      results[i] = inclusive ? spinesum : before;
    }
    __syncthreads();
  }
}

/// Block b takes the segments b, b + gridDim.x and so on of `segments`. Their inputs lie in shared
/// memory, the block's records there or in `records`.
template <class T, class Op, bool kSharedRecords>
__global__ void sheffler_kernel(const T* values, const Label* labels, std::size_t n,
                                unsigned segments, unsigned buckets, bool explicit_flag,
                                bool inclusive, Spinerec<T>* records, T* totals, T* results) {
  const unsigned side = blockDim.x, length = side * side;
  Spinerec<T>* own = nullptr;
  T* own_values = nullptr;
  if constexpr (kSharedRecords) {
    own = dynamic_shared<Spinerec<T>>();
    own_values = reinterpret_cast<T*>(own + length + buckets);
  } else {
    own = records + std::size_t{blockIdx.x} * (length + buckets);
    own_values = dynamic_shared<T>();
  }
  auto* own_labels = reinterpret_cast<Label*>(own_values + length);
  for (unsigned segment = blockIdx.x; segment < segments; segment += gridDim.x) {
    const std::size_t first = std::size_t{segment} * length;
    const unsigned count = n - first < length ? static_cast<unsigned>(n - first) : length;
    for (unsigned i = threadIdx.x; i < count; i += side) {
      own_values[i] = values[first + i];
      own_labels[i] = labels[first + i];
    }
    scan_by_spine_tree<Op>(own, own_values, own_labels, count, buckets, explicit_flag, inclusive,
                           results + first);
    // A thread reads the totals whose records it clears for the next segment.
    for (unsigned b = threadIdx.x; b < buckets; b += side)
      totals[std::size_t{b} * segments + segment] = own[length + b].spinesum;
  }
}

// ---- what both variants declare ----------------------------------------------------------------

inline Segments sheffler_segments(const Problem& p) {
  const std::size_t side = p.params.number("threads");
  return segments_of(p.n, side * side);
}
/// Bytes per segment: of the records of its nodes and of the buckets, and of its inputs.
inline std::size_t sheffler_records_bytes(const Problem& p) {
  return (sheffler_segments(p).length + p.buckets) * spinerec_bytes(p);
}
inline std::size_t sheffler_inputs_bytes(const Problem& p) {
  return sheffler_segments(p).length * (p.element_bytes() + sizeof(Label));
}

inline ParamSpec sheffler_form() {
  return {"form", "corrected", {"corrected", "as-published"}, "how spine elements are recognised"};
}
/// What is lost is what a row should pass on from the rows below it to those above: with two rows
/// there is no such row.
inline std::optional<Defect> sheffler_defect(const Problem& p) {
  if (p.params.is("form", "corrected") || p.n <= 2 * p.params.number("threads"))
    return std::nullopt;
  return Defect{.reason =
                    "a spine element is recognised by a row sum that is not the neutral element: "
                    "where the values of a label in a row combine to it, the rows above lose what "
                    "is below",
                .certain = false};
}

/// However labels are spread over the rows: a value passes through its own row, along the rows,
/// through the row of the result, and through the totals.
inline std::uint64_t depth_of_sheffler(const Problem& p) {
  return 3 * std::uint64_t{p.params.number("threads")} + depth_of_totals(p, sheffler_segments(p));
}

}  // namespace reduce_bench::BACKEND
