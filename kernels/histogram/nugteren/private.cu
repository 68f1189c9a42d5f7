// nugteren/private: 32 threads with private histograms of 16-bit counters
//
// Source: Nugteren, van den Braak, Corporaal and Mesman (2011), second method; eilers Algorithm
//   4.2, section 4.3.1, Figure 4.3.
// Idea: podlozhnyuk/64 for 256 bins: a block is one warp, and all counters of a thread lie in the
//   bank of its number, two of 16 bits in a word. No word is ever written by two threads and no
//   bank accessed by two lanes, so the time does not depend on the labels.
// Fixes: the worst case of podlozhnyuk/256, where equal labels wait for each other. The price: 16
//   KB for each warp leave the SM few of them.
// Launch: blocks_per_sm blocks per SM of 32 threads, 16 KB of shared memory; then a block for each
//   bin.
// Traffic: n labels read, 256 counts per block written and read again, m counts written.
// Preconditions: m <= 256.
// Deviations: as printed the counters are never zeroed, the gather index multiplies where it must
//   add, its loop ends one bin late, and 16 bits overflow where a thread gets 2^16 equal labels;
//   all are corrected, the last by more blocks, so that a thread takes at most 16383 words. A
//   block's share is bounds-checked, where the listing needs n to divide evenly. The publication
//   fits 3 blocks into the 48 KB of an SM; auto takes as many as fit. Labels outside of whole
//   aligned words are counted by the second kernel. eilers 4.3.1 says that partial histograms are
//   combined by atomics (merge=atomics), but Algorithm 4.2 by a second kernel, as here.

#include "kernels/histogram/partials.hpp"

namespace reduce_bench::BACKEND::nugteren_private {

constexpr unsigned kBins = 256;
constexpr std::size_t kSharedBytes = kBins * kWarpSize * sizeof(std::uint16_t);
/// A counter of 16 bits does not overflow with so many, whatever the labels are.
constexpr std::size_t kMostWordsPerThread = 65535 / kLabelsPerWord;

/// The index of a thread's counter of `bin`: two bins share a word, 32 threads a row of words.
__device__ unsigned address_of(unsigned thread, unsigned bin) {
  return 2 * (thread + kWarpSize * (bin / 2)) + bin % 2;
}

__global__ void kernel(const unsigned* words, std::size_t count, std::size_t per_block,
                       BlockCounts counts) {
  unsigned* shared = dynamic_shared<unsigned>();
  auto* histograms = reinterpret_cast<std::uint16_t*>(shared);
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < kBins * kWarpSize / 2; i += kWarpSize) shared[i] = 0;
  __syncthreads();

  const std::size_t first = blockIdx.x * per_block;
  const std::size_t last = first + per_block < count ? first + per_block : count;
  for (std::size_t i = first + t; i < last; i += kWarpSize) {
    const unsigned word = words[i];
    for (unsigned k = 0; k < kLabelsPerWord; ++k) ++histograms[address_of(t, label_of(word, k))];
  }
  __syncthreads();

  for (unsigned bin = t; bin < kBins; bin += kWarpSize) {
    Count sum = 0;
    for (unsigned j = 0; j < kWarpSize; ++j) sum += histograms[address_of(j, bin)];
    counts.put(bin, sum);
  }
}

Shares shares(const Problem& p) {
  const std::size_t words = most_words(p);
  const std::size_t blocks = std::max<std::size_t>(
      filling_blocks(p, kWarpSize, kSharedBytes), ceil_div(words, kMostWordsPerThread * kWarpSize));
  return shares_of(words, blocks, kWarpSize);
}

struct NugterenPrivate {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    const Words words = words_of(call.labels(), call.n());
    const auto [per_block, blocks] = shares(call.problem);
    count_in_blocks(call, blocks, kBins, call.buckets(), call.results(), words.edges,
                    [&](const BlockCounts& counts) {
                      launch(kernel, {blocks, kWarpSize, kSharedBytes, call.stream}, words.words,
                             words.count, per_block, counts);
                    });
  }
};

Variant variant() {
  return {
      .id = "nugteren/private",
      .title = "private 16-bit counters, one bank per thread",
      .source = "Nugteren et al. 2011; eilers Algorithm 4.2",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kCorrected,
      .params = {block_count_param("3"), merge_axis()},
      .traffic =
          [](const Problem& p) {
            return traffic_of_partials(p, std::size_t{shares(p).blocks} * kBins);
          },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes =
                                 partials_bytes(p, std::size_t{shares(p).blocks} * kBins)};
          },
      .enqueue = instantiate_for<NugterenPrivate, NoOps, std::uint8_t>(),
  };
}

}  // namespace reduce_bench::BACKEND::nugteren_private
