// brown/trish: 64 threads with private byte counters, flushed to registers
//
// Source: Brown and Snoeyink's TRISH (Threaded Registers, Independent, Strided Histogram); eilers
//   Algorithm 4.3, section 4.3.1.
// Idea: counters of one byte halve the memory of nugteren/private, so that twice as many threads
//   run. Before a counter can overflow, after 63 words of four labels, the block adds up all 64
//   histograms: each thread sums the four bins of one row into registers, two 16-bit sums in one
//   addition, and clears the row. Words are fetched in batches, whose loads overlap.
// Fixes: nugteren/private, whose 96 threads per SM hide too little latency. The time is as
//   independent of the labels as there.
// Launch: blocks_per_sm blocks per SM of 64 threads, 16 KB of shared memory; then a block for each
//   bin.
// Traffic: n labels read, 256 counts per block written and read again, m counts written.
// Preconditions: m <= 256.
// Deviations: the listing's inner loop reuses the index of the outer one and reads the same 63
//   words each time; here it advances. The listing leaves barriers to its notation (section
//   3.2.1), as it does that n divides evenly, and never clears the counters before the first
//   round; here there are barriers, shares are bounds-checked, and counters begin at 0. It does
//   not say which four counters share a word; here they are those that a thread flushes. A batch
//   has 7 words, or 9, or 1, which divide the 63 of a flush; the thesis's example has four. The
//   publication fits 3 blocks into the 48 KB of an SM; auto takes as many as fit. Labels outside
//   of whole aligned words are counted by the second kernel. eilers 4.3.1 says that partial
//   histograms are combined by atomics (merge=atomics), but Algorithm 4.3 by a second kernel, as
//   here.

#include "kernels/histogram/byte_counters.hpp"

namespace reduce_bench::BACKEND::brown_trish {

template <unsigned kBatch>
__global__ void kernel(const unsigned* words, std::size_t count, std::size_t per_block,
                       BlockCounts output) {
  static_assert(kWordsPerFlush % kBatch == 0);
  unsigned* counters = dynamic_shared<unsigned>();
  const unsigned t = threadIdx.x;
  for (unsigned row = 0; row < kTrishRows; ++row) counters[row * kTrishSets + t] = 0;

  unsigned* own = counters + t;
  Count counts[4] = {};
  const std::size_t first = blockIdx.x * per_block;
  const std::size_t last = first + per_block < count ? first + per_block : count;
  for (std::size_t flush = first; flush < last; flush += kWordsPerFlush * kTrishSets) {
    __syncthreads();  // rows are cleared before their words count again
    for (unsigned batch = 0; batch < kWordsPerFlush; batch += kBatch) {
      const std::size_t i = flush + batch * kTrishSets + t;
      unsigned fetched[kBatch];
#pragma unroll
      for (unsigned j = 0; j < kBatch; ++j)
        fetched[j] = i + j * kTrishSets < last ? words[i + j * kTrishSets] : 0;
#pragma unroll
      for (unsigned j = 0; j < kBatch; ++j) {
        if (i + j * kTrishSets >= last) break;
#pragma unroll
        for (unsigned k = 0; k < kLabelsPerWord; ++k) {
          const unsigned label = label_of(fetched[j], k);
          own[row_of(label) * kTrishSets] += increment_of(label);
        }
      }
    }
    __syncthreads();
    flush_row(counters + t * kTrishSets, t, kTrishSets, counts);
  }

  for (unsigned j = 0; j < 4; ++j) output.put(j * kTrishRows + t, counts[j]);
}

Shares shares(const Problem& p) {
  return shares_of(most_words(p), filling_blocks(p, kTrishSets, kTrishSharedBytes), kTrishSets);
}

struct BrownTrish {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    const Words words = words_of(call.labels(), call.n());
    const auto [per_block, blocks] = shares(call.problem);
    const auto count = [&](const BlockCounts& counts) {
      with_value<1, 7, 9>(call.params().number("batch"), [&]<unsigned kBatch>() {
        launch(kernel<kBatch>, {blocks, kTrishSets, kTrishSharedBytes, call.stream}, words.words,
               words.count, per_block, counts);
      });
    };
    count_in_blocks(call, blocks, kTrishBins, call.buckets(), call.results(), words.edges, count);
  }
};

Variant variant() {
  return {
      .id = "brown/trish",
      .title = "TRISH: private byte counters, flushed to registers",
      .source = "Brown and Snoeyink; eilers Algorithm 4.3",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kCorrected,
      .params = {block_count_param("3"),
                 {"batch", "7", {"1", "7", "9"}, "words fetched at once by a thread"},
                 merge_axis()},
      .traffic =
          [](const Problem& p) {
            return traffic_of_partials(p, std::size_t{shares(p).blocks} * kTrishBins);
          },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes =
                                 partials_bytes(p, std::size_t{shares(p).blocks} * kTrishBins)};
          },
      .enqueue = instantiate_for<BrownTrish, NoOps, std::uint8_t>(),
  };
}

}  // namespace reduce_bench::BACKEND::brown_trish
