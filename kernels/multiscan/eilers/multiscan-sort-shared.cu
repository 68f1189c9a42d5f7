// eilers/multiscan-sort-shared: block-wide sort and segmented scan
//
// Source: eilers Algorithm 5.4, section 5.5.3 (Figure 5.8), on CUB's block radix sort and Modern
//   GPU's segmented scan.
// Idea: as eilers/sort-shared: a block sorts a tile of `items` inputs per thread by label, in
//   shared memory, together with their positions. Threads scan their sorted values label by label,
//   a segmented scan over the threads gives each what earlier threads hold of its first label, and
//   every result goes to its position. Where a label ends, the block's total of it is handed to
//   the partitioning.
// Fixes: the global sort's traffic. No bucket is ever updated, so labels do not collide.
// Launch: a fill of the totals; ceil(n / (threads * items)) blocks; then a scan of each bucket's
//   totals, and a pass over the inputs.
// Traffic: n labels and n values read, n results written; labels and results read and results
//   written again; m totals for each block filled, scanned in place and read, and in them as many
//   written as the block has labels.
// Preconditions: m elements of workspace per block. Order-preserving.
// Deviations: the listing leaves its accumulator uninitialised, clears with 0 instead of the
//   neutral element, sizes its buckets by nThreads instead of nBlocks, fetches all threads' first
//   labels from an array that is not yet set, and never initialises the totals of labels that a
//   block lacks. The sort and the scan are written out, as the libraries' cannot be emulated: 4
//   bits per pass, a counter per digit and thread; sort=cub takes CUB's for both, for sums. The
//   last block is filled up with neutral elements. Pairs of value and index are transposed, and
//   rows are padded by one as in Algorithm 4.7; the listing passes values, then labels, through
//   one array without padding, of which padding=off has the latter. `items` is not stated but for
//   being lower than the multireduce's 12.

#include "kernels/multiscan/index_values.hpp"
#include "kernels/multiscan/segment_totals.hpp"
#include "kernels/shared/cub_block.hpp"
#include "kernels/shared/segmented_scan.hpp"

namespace reduce_bench::BACKEND::eilers_multiscan_sort_shared {

template <class T, class Op, unsigned kItems, bool kByCub>
__global__ void __launch_bounds__(512)
    kernel(const T* values, const Label* labels, std::size_t n, unsigned buckets, unsigned bits,
           bool inclusive, unsigned padding, T* totals, T* results) {
  using Pair = IndexValue<T>;
  using Block = BlockPairs<Pair, kItems>;
  const Block block(dynamic_shared<Pair>());
  const unsigned threads = blockDim.x;
  const std::size_t first = blockIdx.x * std::size_t{threads * kItems};

#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const unsigned place = threadIdx.x + j * threads;
    const std::size_t i = first + place;
    const unsigned slot = Block::slot(place, padding);
    block.labels[slot] = i < n ? labels[i] : buckets - 1;
    block.values[slot] = {i < n ? values[i] : Op::template identity<T>(), place};
  }
  __syncthreads();
  Label label[kItems];
  Pair pair[kItems];
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const unsigned slot = Block::slot(threadIdx.x * kItems + j, padding);
    label[j] = block.labels[slot];
    pair[j] = block.values[slot];
  }
  __syncthreads();
  if constexpr (kByCub) cub_block_sort(label, pair, bits, block.values);
  else block_radix_sort(label, pair, bits, block);

  block.labels[threadIdx.x] = label[0];
  __syncthreads();
  const Label next_of_thread = threadIdx.x + 1 < threads ? block.labels[threadIdx.x + 1] : buckets;
  __syncthreads();

  const auto ends = [&](unsigned j) {
    return label[j] != (j + 1 < kItems ? label[j + 1] : next_of_thread);
  };
  T scanned[kItems];
  T open = Op::template identity<T>();
  bool any_end = false;
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    scanned[j] = open;
    open = Op::combine(open, pair[j].value);
    if (ends(j)) {
      open = Op::template identity<T>();
      any_end = true;
    }
  }
  T before;
  if constexpr (kByCub) before = cub_open_segment_before<Op>(open, any_end, block.values);
  else
    before =
        open_segment_before<Op>(open, any_end, reinterpret_cast<T*>(block.values), block.labels);
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const T exclusive = Op::combine(before, scanned[j]);
    const T with_own = Op::combine(exclusive, pair[j].value);
    if (first + pair[j].index < n)
      results[first + pair[j].index] = inclusive ? with_own : exclusive;
    if (!ends(j)) continue;
    totals[std::size_t{label[j]} * gridDim.x + blockIdx.x] = with_own;
    before = Op::template identity<T>();
  }
}

Segments segments(const Problem& p) {
  return segments_of(p.n, p.params.number("threads") * p.params.number("items"));
}

struct EilersMultiscanSortShared {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    const Segments of_blocks = segments(call.problem);
    const unsigned threads = call.params().number("threads");
    enqueue_fill(call.stream, call.scratch(), of_blocks.count * call.buckets(),
                 Op::template identity<T>());
    with_value<4, 8>(call.params().number("items"), [&]<unsigned kItems>() {
      std::size_t shared_bytes = BlockPairs<IndexValue<T>, kItems>::bytes(threads);
      auto chosen = kernel<T, Op, kItems, false>;
      if constexpr (kCubBlockSorts<Op>) {
        if (sorts_by_cub(call.params())) {
          shared_bytes = std::max(shared_bytes, cub_block_bytes<T, IndexValue<T>, kItems>());
          chosen = kernel<T, Op, kItems, true>;
        }
      }
      launch(chosen, {static_cast<unsigned>(of_blocks.count), threads, shared_bytes, call.stream},
             call.values(), call.labels(), call.n(), static_cast<unsigned>(call.buckets()),
             log2_ceil(call.buckets()), call.inclusive(), transposition_padding(call.params()),
             call.scratch(), call.results());
    });
    enqueue_add_totals<Op>(call, of_blocks, call.scratch());
  }
};

std::string restriction(const Problem& p) {
  if (std::string why = block_sort_restriction(p); !why.empty()) return why;
  const std::size_t pair_bytes = 2 * p.element_bytes();  // an IndexValue
  if (std::string why = block_pairs_restriction(p, pair_bytes); !why.empty()) return why;
  return partition_restriction(p, segments(p));
}

Variant variant() {
  return {
      .id = "eilers/multiscan-sort-shared",
      .title = "block-wide sort and segmented scan",
      .source = "eilers Algorithm 5.4",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kCorrected,
      .params = {scan_axis(),
                 {"threads",
                  "256",
                  {"128", "256", "512"},
                  "threads per block (the publication varies them)"},
                 {"items", "8", {"4", "8"}, "inputs per thread (fewer than the multireduce's 12)"},
                 totals_axis(),
                 transposition_padding_axis(),
                 block_sort_axis()},
      .restriction = restriction,
      // A thread's items, the scans over a warp and over the warps, then the totals.
      .depth = [](const Problem& p) -> std::uint64_t {
        return p.params.number("items") + 5 + p.params.number("threads") / kWarpSize + 3 +
               depth_of_totals(p, segments(p));
      },
      .traffic =
          [](const Problem& p) {
            Traffic traffic = traffic_of_partition(p, segments(p));
            // A block has no more labels than inputs, and no more than buckets.
            traffic.written_bytes +=
                std::min(totals_bytes(p, segments(p)), p.n * p.element_bytes());
            return traffic;
          },
      .workspace =
          [](const Problem& p) { return Workspace{.device_bytes = totals_bytes(p, segments(p))}; },
      .enqueue = instantiate_ordered<EilersMultiscanSortShared>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_multiscan_sort_shared
