// podlozhnyuk/256: one histogram of 256 bins for each warp
//
// Source: Podlozhnyuk, Histogram calculation in CUDA (2007), and the CUDA samples' histogram256;
//   eilers section 4.3.1.
// Idea: each warp counts in its own 256 words of shared memory, four labels from each word that it
//   reads. Without atomics in shared memory (method=tags) a lane marks the count that it writes
//   with its number and repeats until it reads its own mark back. At the end the block adds up its
//   warps' histograms, and a second kernel the blocks'.
// Fixes: podlozhnyuk/64, which has no room for 256 bins per thread. The price: equal labels in a
//   warp wait for each other, 32 rounds in the worst case.
// Launch: blocks_per_sm blocks per SM of 6 warps, 1 KB of shared memory for each warp; then a
//   block for each bin.
// Traffic: n labels read, 256 counts per block written and read again, m counts written.
// Preconditions: m <= 256. A warp's count has 27 bits with method=tags.
// Deviations: the tag loop relies on a warp running in lockstep; since Volta that is a race, which
//   form=as-published keeps. The corrected form synchronises the warp between reading, writing and
//   reading back, all its lanes repeating until the last has counted. form changes nothing with
//   method=atomics, which the later samples have. The samples run 240 blocks, which is 8 for each
//   SM of a card with 30; here they are 8 for each SM. Labels outside of whole aligned words are
//   counted by the second kernel. eilers 4.3.1 says that all of these histograms combine their
//   partial ones by atomics (merge=atomics); here a second kernel adds them up by default.

#include "kernels/histogram/partials.hpp"
#include "kernels/histogram/tags.hpp"

namespace reduce_bench::BACKEND::podlozhnyuk_256 {

constexpr unsigned kBins = 256;

enum class Method { kTags, kTagsAsPublished, kAtomics };

template <Method kMethod>
__global__ void kernel(const unsigned* words, std::size_t count, BlockCounts counts) {
  unsigned* histograms = dynamic_shared<unsigned>();
  const unsigned warps = blockDim.x / kWarpSize;
  for (unsigned i = threadIdx.x; i < warps * kBins; i += blockDim.x) histograms[i] = 0;
  __syncthreads();

  unsigned* own = histograms + threadIdx.x / kWarpSize * kBins;
  const unsigned tag = tag_of_lane();
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t first = std::size_t{blockIdx.x} * blockDim.x; first < count; first += stride) {
    const bool inside = first + threadIdx.x < count;
    const unsigned word = inside ? words[first + threadIdx.x] : 0;
    for (unsigned k = 0; k < kLabelsPerWord; ++k) {
      unsigned* bin = &own[label_of(word, k)];
      if constexpr (kMethod == Method::kTags) count_by_tag(bin, tag, inside);
      else if (!inside) continue;
      else if constexpr (kMethod == Method::kAtomics) atomicAdd(bin, 1);
      else count_by_tag_as_published(bin, tag);
    }
  }
  __syncthreads();

  constexpr unsigned kMask = kMethod == Method::kAtomics ? ~0u : kCountMask;
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    Count sum = 0;
    for (unsigned warp = 0; warp < warps; ++warp) sum += histograms[warp * kBins + bin] & kMask;
    counts.put(bin, sum);
  }
}

unsigned blocks_of(const Problem& p) {
  const std::size_t block = kWarpSize * p.params.number("warps");
  return static_cast<unsigned>(
      std::min<std::size_t>(ceil_div(most_words(p), block),
                            std::size_t{p.params.number("blocks_per_sm")} * p.device.sm_count));
}

struct Podlozhnyuk256 {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    const Words words = words_of(call.labels(), call.n());
    const unsigned blocks = blocks_of(call.problem), warps = call.params().number("warps");
    auto chosen = kernel<Method::kTags>;
    if (call.params().is("method", "atomics")) chosen = kernel<Method::kAtomics>;
    else if (call.params().is("form", "as-published")) chosen = kernel<Method::kTagsAsPublished>;
    count_in_blocks(
        call, blocks, kBins, call.buckets(), call.results(), words.edges,
        [&](const BlockCounts& counts) {
          launch(chosen, {blocks, warps * kWarpSize, warps * kBins * sizeof(unsigned), call.stream},
                 words.words, words.count, counts);
        });
  }
};

Variant variant() {
  return {
      .id = "podlozhnyuk/256",
      .title = "one histogram for each warp",
      .source = "Podlozhnyuk 2007; eilers 4.3.1",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kCorrected,
      .params =
          {{"method",
            "tags",
            {"tags", "atomics"},
            "how lanes share a bin (2007: tags; later samples: atomics)"},
           {"form", "corrected", {"corrected", "as-published"}, "the tag loop's steps"},
           {"warps", "6", {"2", "4", "6", "8", "16"}, "warps per block (published: 6)"},
           {"blocks_per_sm", "8", {"1", "2", "4", "8"}, "blocks per SM (the samples: 240 blocks)"},
           merge_axis()},
      .defect = [](const Problem& p) -> std::optional<Defect> {
        if (p.params.is("method", "atomics") || p.params.is("form", "corrected") ||
            p.n < 2 * kLabelsPerWord)
          return std::nullopt;
        return tag_defect();
      },
      .traffic =
          [](const Problem& p) {
            return traffic_of_partials(p, std::size_t{blocks_of(p)} * kBins);
          },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = partials_bytes(p, std::size_t{blocks_of(p)} * kBins)};
          },
      .enqueue = instantiate_for<Podlozhnyuk256, NoOps, std::uint8_t>(),
  };
}

}  // namespace reduce_bench::BACKEND::podlozhnyuk_256
