// eilers/sort-shared: block-wide sort and segmented reduction
//
// Source: eilers Algorithm 4.13, section 4.4.3 (Figures 4.20 to 4.22), on CUB's block radix sort
//   and Modern GPU's segmented scan.
// Idea: a block sorts a tile of `items` inputs per thread by label, in shared memory. Threads then
//   scan their sorted values label by label; a segmented scan over the threads gives each what
//   earlier threads hold of its first label; where a label ends, its result goes to the block's
//   bucket set. The sets are combined at the end. No bucket is ever updated, so labels do not
//   collide, and operators need not commute.
// Fixes: the global sort's traffic; the bucket sets of eilers/shared-thread in shared memory.
// Launch: a fill of the sets; ceil(n / (threads * items)) blocks; then a block for each bucket.
// Traffic: n labels and n values read; a set of m per block filled and read, and in it as many
//   totals written as the block has labels; m results written. A total that lies alone costs a
//   sector of 32 bytes: with m = 2^16 and n = 2^26 an H200 moves 1.3 times these bytes.
// Preconditions: m elements of workspace per block. Order-preserving with transpose=on.
// Deviations: the third phase of the listing adds on the wrong side and clears with 0 instead of
//   the neutral element, and results that no label of a block names are never initialised. The
//   sort and the scan are written out, as the libraries' cannot be emulated: 4 bits per pass, a
//   counter per digit and thread; sort=cub takes CUB's for both, for sums in blocks of 256
//   threads. The listing takes the first labels of the threads from an array that it never sets.
//   Rows of the transposition are padded by one input, as in Algorithm 4.7; Baxter's, which the
//   thesis inserts, are not, so that with 12 items four lanes meet in a bank: padding=off. The
//   last block is filled up with neutral elements. A kernel in order of the blocks replaces Modern
//   GPU's segmented reduction, whose fold of a single segment is not ordered. transpose=off
//   fetches as the listing does, which mixes the order: commutative operators alone.

#include <algorithm>
#include <string>

#include "kernels/shared/combine_sets.hpp"
#include "kernels/shared/cub_block.hpp"
#include "kernels/shared/segmented_scan.hpp"

namespace reduce_bench::BACKEND::eilers_sort_shared {

template <class T, class Op, unsigned kItems, bool kByCub>
__global__ void __launch_bounds__(512)
    kernel(const T* values, const Label* labels, std::size_t n, unsigned buckets, unsigned bits,
           bool transpose, unsigned padding, T* sets) {
  using Block = BlockPairs<T, kItems>;
  const Block block(dynamic_shared<T>());
  const unsigned threads = blockDim.x;
  const std::size_t first = blockIdx.x * std::size_t{threads * kItems};

  Label label[kItems];
  T value[kItems];
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    const std::size_t i = first + threadIdx.x + j * threads;
    label[j] = i < n ? labels[i] : buckets - 1;
    value[j] = i < n ? values[i] : Op::template identity<T>();
  }
  if (transpose) {
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j) {
      const unsigned slot = Block::slot(threadIdx.x + j * threads, padding);
      block.labels[slot] = label[j];
      block.values[slot] = value[j];
    }
    __syncthreads();
#pragma unroll
    for (unsigned j = 0; j < kItems; ++j) {
      const unsigned slot = Block::slot(threadIdx.x * kItems + j, padding);
      label[j] = block.labels[slot];
      value[j] = block.values[slot];
    }
    __syncthreads();
  }
  if constexpr (kByCub) cub_block_sort(label, value, bits, block.values);
  else block_radix_sort(label, value, bits, block);

  block.labels[threadIdx.x] = label[0];
  __syncthreads();
  const Label next_of_thread = threadIdx.x + 1 < threads ? block.labels[threadIdx.x + 1] : buckets;
  __syncthreads();

  bool ends[kItems];
  T scanned[kItems];
  T open = Op::template identity<T>();
  bool any_end = false;
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    open = scanned[j] = Op::combine(open, value[j]);
    ends[j] = label[j] != (j + 1 < kItems ? label[j + 1] : next_of_thread);
    if (ends[j]) open = Op::template identity<T>();
    any_end = any_end || ends[j];
  }
  T before;
  if constexpr (kByCub) before = cub_open_segment_before<Op>(open, any_end, block.values);
  else before = open_segment_before<Op>(open, any_end, block.values, block.labels);
#pragma unroll
  for (unsigned j = 0; j < kItems; ++j) {
    if (!ends[j]) continue;
    sets[std::size_t{label[j]} * gridDim.x + blockIdx.x] = Op::combine(before, scanned[j]);
    before = Op::template identity<T>();
  }
}

std::size_t blocks_of(const Problem& p) {
  return ceil_div(p.n, p.params.number("threads") * p.params.number("items"));
}
std::size_t sets_bytes(const Problem& p) { return blocks_of(p) * p.arrays().output_bytes(); }

struct EilersSortShared {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const std::size_t blocks = blocks_of(call.problem);
    if (call.n() > 0) {
      const unsigned threads = call.params().number("threads");
      const bool transpose = call.params().is("transpose", "on");
      enqueue_fill(call.stream, call.scratch(), blocks * call.buckets(),
                   Op::template identity<T>());
      with_value<4, 8, 12>(call.params().number("items"), [&]<unsigned kItems>() {
        std::size_t shared_bytes = BlockPairs<T, kItems>::bytes(threads);
        auto chosen = kernel<T, Op, kItems, false>;
        if constexpr (kCubBlockSorts<Op>) {
          if (sorts_by_cub(call.params())) {
            shared_bytes = std::max(shared_bytes, cub_block_bytes<T, T, kItems>());
            chosen = kernel<T, Op, kItems, true>;
          }
        }
        launch(chosen, {static_cast<unsigned>(blocks), threads, shared_bytes, call.stream},
               call.values(), call.labels(), call.n(), static_cast<unsigned>(call.buckets()),
               log2_ceil(call.buckets()), transpose, transposition_padding(call.params()),
               call.scratch());
      });
    }
    enqueue_combine_sets<Op>(call.stream, call.scratch(), call.buckets(), blocks, call.results());
  }
};

std::string restriction(const Problem& p) {
  if (!commutes(p.op) && p.params.is("transpose", "off"))
    return "transpose=off mixes the order of the inputs: the operator must commute";
  if (p.buckets > kMostBucketsToCombine)
    return std::to_string(p.buckets) + " buckets: a grid has no block for each";
  if (std::string why = block_sort_restriction(p); !why.empty()) return why;
  return block_pairs_restriction(p, p.element_bytes());
}

Variant variant() {
  return {
      .id = "eilers/sort-shared",
      .title = "block-wide sort and segmented reduction",
      .source = "eilers Algorithm 4.13",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kCorrected,
      .params = {{"threads",
                  "256",
                  {"32", "64", "128", "256", "512"},
                  "threads per block (the publication varies them)"},
                 {"items", "12", {"4", "8", "12"}, "inputs per thread (12 is its fastest)"},
                 {"transpose", "on", {"on", "off"}, "fetch each thread's inputs as neighbours"},
                 transposition_padding_axis(),
                 block_sort_axis()},
      .restriction = restriction,
      // A thread's items, the scans over a warp and over the warps, then the blocks.
      .depth = [](const Problem& p) -> std::uint64_t {
        return p.params.number("items") + 5 + p.params.number("threads") / kWarpSize + 2 +
               depth_of_combine(blocks_of(p));
      },
      .traffic =
          [](const Problem& p) {
            // A block has no more labels than inputs, and no more than buckets.
            const std::size_t totals_bytes = std::min(sets_bytes(p), p.n * p.element_bytes());
            return Traffic{
                .read_bytes = p.input_bytes() + sets_bytes(p),
                .written_bytes = sets_bytes(p) + totals_bytes + p.arrays().output_bytes()};
          },
      .workspace = [](const Problem& p) { return Workspace{.device_bytes = sets_bytes(p)}; },
      .enqueue = instantiate_for<EilersSortShared, BasicAndOrderedOps, std::int32_t, std::int64_t,
                                 float>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_sort_shared
