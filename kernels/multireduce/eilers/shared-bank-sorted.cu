// eilers/shared-bank-sorted: partial sort, then shared buckets for each segment of 256 labels
//
// Source: eilers Algorithm 4.11, section 4.3.6 (Figure 4.16).
// Idea: sorted by all bits but the lowest eight, the input consists of segments whose labels lie
//   in a range of 256. A kernel finds where each segment begins. A block then runs over its share
//   as eilers/shared-bank does, segment by segment: it clears its sets, combines its part of the
//   segment with them without checking labels, and adds its sets to the results.
// Fixes: the passes of eilers/shared-bank-multipass, whose number grows with m.
// Launch: a fill of the results; eilers/radix-sort's kernels, 5 bits per pass; a thread for each
//   segment's offset; eilers/shared-bank's grid. Up to 256 buckets nothing is sorted.
// Traffic: the sort's passes, then n labels and n values read, m results written.
// Preconditions: n < 2^32; 8192 elements of shared memory; the operator commutes.
// Deviations: those of eilers/shared-bank. The listing advances its offset by the number of the
//   segment instead of its length, lacks the offsets' last entry, does not cut a block's last
//   segment at the end of its share, counts up to a thread's share instead of the block's, takes
//   labels that are not reduced modulo 256, and leaves the sort out. How offsets are found is not
//   stated; here each is found by a binary search. The suite's radix sort replaces the thesis's
//   SRTS sort; sort=cub takes CUB's, of whose passes one counts as traffic. A block reads the
//   number of its next segment from its next label, which skips empty segments.

#include "kernels/multireduce/eilers/bank_sets.hpp"
#include "kernels/shared/radix_sort.hpp"

namespace reduce_bench::BACKEND::eilers_shared_bank_sorted {

constexpr unsigned kSegmentBits = 8;
static_assert(kMostBankBuckets == 1u << kSegmentBits);

/// Finds offsets[s], the first of the n sorted labels that belongs to segment s or a later one.
template <class L>
__global__ void find_segments_kernel(const L* labels, std::size_t n, std::size_t segments,
                                     Count* offsets) {
  const std::size_t segment = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (segment > segments) return;
  std::size_t low = 0, high = n;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if ((labels[middle] >> kSegmentBits) < segment) low = middle + 1;
    else high = middle;
  }
  offsets[segment] = static_cast<Count>(low);
}

template <class T, class Op, bool kMerge>
__global__ void kernel(const T* values, const Label* labels, std::size_t n, std::size_t per_block,
                       std::size_t all_buckets, unsigned set_buckets, const Count* offsets,
                       T* results) {
  T* sets = dynamic_shared<T>();
  const std::size_t first = blockIdx.x * per_block;
  const std::size_t last = first + per_block < n ? first + per_block : n;
  for (std::size_t at = first; at < last;) {
    const Label segment = labels[at] >> kSegmentBits, low = segment << kSegmentBits;
    const std::size_t end_of_segment = offsets[segment + 1];
    const std::size_t end = end_of_segment < last ? end_of_segment : last;
    const unsigned buckets =
        all_buckets - low < set_buckets ? static_cast<unsigned>(all_buckets - low) : set_buckets;
    reset_bank_sets<Op>(sets, buckets);
    __syncthreads();
    take_into_bank_sets<Op, kMerge, false>(sets, values, labels, at, end, low, buckets);
    __syncthreads();
    add_bank_sets<Op>(sets, buckets, results + low);
    __syncthreads();
    at = end;
  }
}

/// Offsets into the workspace.
struct Places {
  RadixSort sort;
  std::size_t segments;
  std::size_t labels, values, sorting, end;  ///< the offsets come first
};

Places places(const Problem& p) {
  const unsigned bits = log2_ceil(p.buckets);
  Places at{.sort = plan_radix_sort(p, bits - std::min(bits, kSegmentBits))};
  at.segments = ceil_div(p.buckets, kMostBankBuckets);
  at.labels = RadixSort::aligned((at.segments + 1) * sizeof(Count));
  at.values = at.labels + RadixSort::aligned(p.n * sizeof(Label));
  at.sorting = at.values + RadixSort::aligned(p.n * p.element_bytes());
  at.end = at.sorting + at.sort.workspace_bytes(p.element_bytes());
  if (at.segments == 1) at.end = at.labels;
  return at;
}

struct EilersSharedBankSorted {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    enqueue_fill(call.stream, call.results(), call.buckets(), Op::template identity<T>());
    if (call.n() == 0) return;
    const Places at = places(call.problem);
    const Label* labels = call.labels();
    const T* values = call.values();
    if (at.segments > 1) {
      const Pairs<Label, T> sorted{call.template scratch<Label>(at.labels),
                                   call.scratch(at.values)};
      enqueue_radix_sort<T>(call.stream, at.sort, {labels, values}, sorted,
                            call.workspace + at.sorting);
      labels = sorted.labels;
      values = sorted.values;
    }
    Count* offsets = call.template scratch<Count>();
    constexpr unsigned kBlock = 256;
    launch(find_segments_kernel<Label>,
           {static_cast<unsigned>(ceil_div(at.segments + 1, kBlock)), kBlock, 0, call.stream},
           labels, call.n(), at.segments, offsets);
    const BankSetsPlan plan = plan_bank_sets(call.problem);
    const auto chosen =
        call.params().is("merge", "on") ? kernel<T, Op, true> : kernel<T, Op, false>;
    launch(chosen, {plan.blocks, plan.threads, plan.shared_bytes, call.stream}, values, labels,
           call.n(), plan.per_block, call.buckets(), plan.buckets, offsets, call.results());
  }
};

std::string restriction(const Problem& p) {
  const std::string reason = radix_sort_restriction(p);
  return reason.empty() ? bank_sets_restriction(p) : reason;
}

Variant variant() {
  return {
      .id = "eilers/shared-bank-sorted",
      .title = "eilers/shared-bank on segments of a partial sort",
      .source = "eilers Algorithm 4.11",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kCorrected,
      .params = {bank_sets_warps(), bank_sets_merge(), sort_axis()},
      .restriction = restriction,
      .depth = [](const Problem& p) -> std::uint64_t { return plan_bank_sets(p).depth(); },
      .traffic =
          [](const Problem& p) {
            const Places at = places(p);
            Traffic traffic{};
            if (at.segments > 1) traffic = at.sort.traffic(p.element_bytes());
            traffic.read_bytes += p.input_bytes();
            traffic.written_bytes += p.arrays().output_bytes();
            return traffic;
          },
      .workspace = [](const Problem& p) { return Workspace{.device_bytes = places(p).end}; },
      .count_bits =
          [](const Problem& p) { return places(p).segments > 1 ? sort_count_bits(p) : 0; },
      .enqueue = instantiate<EilersSharedBankSorted, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_shared_bank_sorted
