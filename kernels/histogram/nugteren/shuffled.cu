// nugteren/shuffled: a histogram for each warp, whose lanes read far from each other
//
// Source: Nugteren, van den Braak, Corporaal and Mesman (2011), first method; eilers section 4.3.1.
// Idea: podlozhnyuk/256 with hardware atomics, and with the inputs shuffled: neighbouring pixels of
//   an image are often equal, so the lanes of a warp take words that lie n / 128 words apart, and
//   seldom count the same bin.
// Fixes: podlozhnyuk/256 on images. Where all labels are equal it is as slow as that. The price:
//   the loads of a warp are not coalesced; neighbouring warps use the rest of each sector.
// Launch: blocks_per_sm blocks per SM of `warps` warps, 1 KB of shared memory for each warp; then a
//   block for each bin.
// Traffic: n labels read, 256 counts per block written and read again, m counts written. With
//   n = 2^28 labels of a byte an H200 reads 2.4 times these from memory: a sector may have left the
//   L2 before neighbouring warps ask for the rest of it.
// Preconditions: m <= 256.
// Deviations: the thesis names the aim, not the ways of shuffling; the paper has several. Here lane
//   l takes its words from the l-th of 32 equal segments of the input; shuffle=none reads as
//   podlozhnyuk/256 does. The number of blocks is not stated; here as many as are resident. Labels
//   outside of whole aligned words are counted by the second kernel. eilers 4.3.1 says that all of
//   these histograms combine their partial ones by atomics (merge=atomics); here a second kernel
//   adds them up by default.

#include "kernels/histogram/partials.hpp"

namespace reduce_bench::BACKEND::nugteren_shuffled {

constexpr unsigned kBins = 256;

__global__ void kernel(const unsigned* words, std::size_t count, bool shuffle, BlockCounts counts) {
  unsigned* histograms = dynamic_shared<unsigned>();
  const unsigned warps = blockDim.x / kWarpSize;
  for (unsigned i = threadIdx.x; i < warps * kBins; i += blockDim.x) histograms[i] = 0;
  __syncthreads();

  const unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  unsigned* own = histograms + warp * kBins;
  const std::size_t steps = (count + kWarpSize - 1) / kWarpSize;  // of one warp for all words
  for (std::size_t step = std::size_t{blockIdx.x} * warps + warp; step < steps;
       step += std::size_t{gridDim.x} * warps) {
    const std::size_t i = shuffle ? lane * steps + step : step * kWarpSize + lane;
    if (i >= count) continue;
    const unsigned word = words[i];
    for (unsigned k = 0; k < kLabelsPerWord; ++k) atomicAdd(&own[label_of(word, k)], 1);
  }
  __syncthreads();

  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    Count sum = 0;
    for (unsigned w = 0; w < warps; ++w) sum += histograms[w * kBins + bin];
    counts.put(bin, sum);
  }
}

unsigned block_of(const Problem& p) { return kWarpSize * p.params.number("warps"); }
std::size_t shared_bytes_of(const Problem& p) {
  return p.params.number("warps") * kBins * sizeof(unsigned);
}
unsigned blocks_of(const Problem& p) {
  return static_cast<unsigned>(std::min<std::size_t>(
      ceil_div(most_words(p), block_of(p)), filling_blocks(p, block_of(p), shared_bytes_of(p))));
}

struct NugterenShuffled {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    const Words words = words_of(call.labels(), call.n());
    const unsigned blocks = blocks_of(call.problem);
    count_in_blocks(
        call, blocks, kBins, call.buckets(), call.results(), words.edges,
        [&](const BlockCounts& counts) {
          launch(kernel,
                 {blocks, block_of(call.problem), shared_bytes_of(call.problem), call.stream},
                 words.words, words.count, call.params().is("shuffle", "segments"), counts);
        });
  }
};

Variant variant() {
  return {
      .id = "nugteren/shuffled",
      .title = "warp histograms on shuffled inputs",
      .source = "Nugteren et al. 2011; eilers 4.3.1",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kAdapted,
      .params = {{"shuffle", "segments", {"segments", "none"}, "which words a warp takes together"},
                 {"warps", "6", {"2", "4", "6", "8", "16"}, "warps per block (as Podlozhnyuk: 6)"},
                 block_count_param("not stated"),
                 merge_axis()},
      .traffic =
          [](const Problem& p) {
            return traffic_of_partials(p, std::size_t{blocks_of(p)} * kBins);
          },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = partials_bytes(p, std::size_t{blocks_of(p)} * kBins)};
          },
      .enqueue = instantiate_for<NugterenShuffled, NoOps, std::uint8_t>(),
  };
}

}  // namespace reduce_bench::BACKEND::nugteren_shuffled
