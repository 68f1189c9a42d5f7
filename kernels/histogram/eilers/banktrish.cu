// eilers/banktrish: TRISH with F threads on each of the 64 histograms
//
// Source: eilers section 4.5.2, Figures 4.23, A.1 and A.2.
// Idea: brown/trish with 64 F threads on the same 64 histograms: in shared memory a thread acts as
//   brown/trish's thread of its index modulo 64, elsewhere as itself. Updates are atomic additions
//   to words. Of the four labels in a word that a thread reads, those whose counters share a word
//   are bundled into one update.
// Fixes: brown/trish leaves most of the SM's threads unused. The price: updates of one histogram
//   by F threads at once are serialised, at most F-fold; bundling avoids that for runs of equal
//   labels.
// Launch: blocks_per_sm blocks per SM of 64 F threads, 16 KB of shared memory; then a block for
//   each bin.
// Traffic: n labels read, 256 counts per block written and read again, m counts written.
// Preconditions: m <= 256.
// Deviations: F threads fill the byte counters that one fills in brown/trish, so a block must
//   flush after 63 / F words per thread instead of 63, which the text does not say. Nor does it
//   say how the 64 F threads share the flush: each of the F groups adds up its part of every row
//   in registers, and at the end the groups add theirs together in shared memory. The publication
//   fits 3 blocks into the 48 KB of an SM; auto takes as many as are resident. Labels outside of
//   whole aligned words are counted by the second kernel. Each thread first loads all 63 / F words
//   of a flush into registers and then counts them, unless fetch=word; the text says that TRISH
//   fetches several words in a batch, four in its example. Partial histograms are combined as in
//   brown/trish, by a second kernel or with merge=atomics.

#include "kernels/histogram/byte_counters.hpp"

namespace reduce_bench::BACKEND::eilers_banktrish {

/// One atomic for all labels of the word whose counters are in the same row.
__device__ inline void count_bundled(unsigned* own, unsigned word) {
  unsigned row[kLabelsPerWord], increment[kLabelsPerWord];
#pragma unroll
  for (unsigned k = 0; k < kLabelsPerWord; ++k) {
    row[k] = row_of(label_of(word, k));
    increment[k] = increment_of(label_of(word, k));
#pragma unroll
    for (unsigned j = 0; j < k; ++j) {
      if (row[j] != row[k]) continue;
      increment[j] += increment[k];
      increment[k] = 0;
      break;
    }
  }
#pragma unroll
  for (unsigned k = 0; k < kLabelsPerWord; ++k)
    if (increment[k] != 0) atomicAdd(&own[row[k] * kTrishSets], increment[k]);
}

template <unsigned kFactor, bool kBatched>
__global__ void kernel(const unsigned* words, std::size_t count, std::size_t per_block,
                       BlockCounts output) {
  constexpr unsigned kBlock = kFactor * kTrishSets;
  constexpr unsigned kWords = kWordsPerFlush / kFactor;
  unsigned* counters = dynamic_shared<unsigned>();
  const unsigned t = threadIdx.x, set = t % kTrishSets, group = t / kTrishSets;
  for (unsigned i = t; i < kTrishRows * kTrishSets; i += kBlock) counters[i] = 0;

  // In the flush each thread of a group adds up its group's part of one row's words. It starts at a
  // word shifted by the row, so that the threads of a warp access different banks.
  const unsigned row = set;
  const unsigned part = group * kTrishSets / kFactor;
  const unsigned sets = (group + 1) * kTrishSets / kFactor - part;
  Count counts[4] = {};
  const std::size_t first = blockIdx.x * per_block;
  const std::size_t last = first + per_block < count ? first + per_block : count;
  for (std::size_t flush = first; flush < last; flush += kWords * kBlock) {
    __syncthreads();  // rows are cleared before their words count again
    if constexpr (kBatched) {
      unsigned fetched[kWords];
#pragma unroll
      for (unsigned j = 0; j < kWords; ++j)
        fetched[j] = flush + j * kBlock + t < last ? words[flush + j * kBlock + t] : 0;
#pragma unroll
      for (unsigned j = 0; j < kWords; ++j)
        if (flush + j * kBlock + t < last) count_bundled(counters + set, fetched[j]);
    } else {
      // Each word is counted before the next is loaded: the compiler may not move the loads ahead.
#pragma unroll 1
      for (unsigned j = 0; j < kWords; ++j)
        if (flush + j * kBlock + t < last)
          count_bundled(counters + set, words[flush + j * kBlock + t]);
    }
    __syncthreads();
    flush_row(counters + row * kTrishSets, part + row, sets, counts);
  }

  __syncthreads();  // all counters are zero again
  for (unsigned j = 0; j < 4; ++j) atomicAdd(&counters[j * kTrishRows + row], counts[j]);
  __syncthreads();
  for (unsigned bin = t; bin < kTrishBins; bin += kBlock) output.put(bin, counters[bin]);
}

unsigned block_of(const Problem& p) { return kTrishSets * p.params.number("F"); }
Shares shares(const Problem& p) {
  return shares_of(most_words(p), filling_blocks(p, block_of(p), kTrishSharedBytes), block_of(p));
}

struct EilersBankTrish {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    const Words words = words_of(call.labels(), call.n());
    const auto [per_block, blocks] = shares(call.problem);
    const bool batched = call.params().is("fetch", "flush");
    const auto count = [&](const BlockCounts& counts) {
      with_value<2, 3, 4, 5, 6, 7, 8>(call.params().number("F"), [&]<unsigned kFactor>() {
        launch(batched ? kernel<kFactor, true> : kernel<kFactor, false>,
               {blocks, kFactor * kTrishSets, kTrishSharedBytes, call.stream}, words.words,
               words.count, per_block, counts);
      });
    };
    count_in_blocks(call, blocks, kTrishBins, call.buckets(), call.results(), words.edges, count);
  }
};

Variant variant() {
  return {
      .id = "eilers/banktrish",
      .title = "TRISH with several threads per histogram",
      .source = "eilers 4.5.2, Figure 4.23",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kCorrected,
      .params = {{"F",
                  "8",
                  {"2", "3", "4", "5", "6", "7", "8"},
                  "threads per histogram (published: 2 to 8, fastest 8)"},
                 block_count_param("3"),
                 {"fetch",
                  "flush",
                  {"flush", "word"},
                  "words that a thread loads before it counts them: all of a flush, or one"},
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
      .enqueue = instantiate_for<EilersBankTrish, NoOps, std::uint8_t>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_banktrish
