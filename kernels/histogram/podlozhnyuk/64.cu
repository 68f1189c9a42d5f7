// podlozhnyuk/64: a private histogram of 64 byte counters for each thread
//
// Source: Podlozhnyuk, Histogram calculation in CUDA (2007), and the CUDA samples' histogram64;
//   eilers section 4.3.1.
// Idea: counters of one byte let every thread have its own 64 bins in shared memory: no two threads
//   ever write the same one. Counter b of all threads lies in row b, where bits of the thread index
//   are swapped so that neighbouring threads, as many as there are banks, access different banks. A
//   thread takes 63 words, 252 labels, so that no counter overflows; then the block adds up its
//   rows, and a second kernel the blocks'.
// Fixes: it is the first histogram for CUDA, which had no atomics in shared memory then. Its time
//   does not depend on the labels.
// Launch: ceil(n / 252 B) blocks of B = 4 banks * groups threads, 64 B bytes of shared memory; then
//   a block for each bin.
// Traffic: n labels read, 64 counts per block written and read again, m counts written.
// Preconditions: m <= 64; B a multiple of 4 banks.
// Deviations: the publication swaps bits for 16 banks, so that lanes l and l + 16 of a warp
//   conflict on cards with 32; that form is banks=16, and groups=3 is its block of 192 threads. The
//   samples take the upper six bits of a byte for the bin, here the label is the bin. Labels
//   outside of whole aligned words are counted by the second kernel. eilers 4.3.1 says that all of
//   these histograms combine their partial ones by atomics (merge=atomics); here a second kernel
//   adds them up by default.

#include "kernels/histogram/partials.hpp"

namespace reduce_bench::BACKEND::podlozhnyuk_64 {

constexpr unsigned kBins = 64;
/// A counter of one byte does not overflow with so many, whatever the labels are.
constexpr unsigned kWordsPerThread = 255 / kLabelsPerWord;

__global__ void kernel(const unsigned* words, std::size_t count, unsigned banks,
                       BlockCounts counts) {
  unsigned* shared = dynamic_shared<unsigned>();
  auto* counters = reinterpret_cast<unsigned char*>(shared);
  const unsigned t = threadIdx.x, block = blockDim.x;
  for (unsigned i = t; i < kBins * block / sizeof(unsigned); i += block) shared[i] = 0;
  __syncthreads();

  // `banks` neighbouring threads take the same byte of neighbouring words.
  unsigned char* own =
      counters + ((t & ~(4 * banks - 1)) | (t & (banks - 1)) << 2 | (t & 3 * banks) / banks);
  const std::size_t stride = std::size_t{gridDim.x} * block;
  for (std::size_t i = std::size_t{blockIdx.x} * block + t; i < count; i += stride) {
    const unsigned word = words[i];
    for (unsigned k = 0; k < kLabelsPerWord; ++k) ++own[label_of(word, k) * block];
  }
  __syncthreads();

  // Each thread begins its row at a different bank.
  for (unsigned bin = t; bin < kBins; bin += block) {
    Count sum = 0;
    unsigned position = 4 * (t & (banks - 1));
    for (unsigned i = 0; i < block / 4; ++i) {
      for (unsigned k = 0; k < 4; ++k) sum += counters[bin * block + position + k];
      position += 4;
      if (position == block) position = 0;
    }
    counts.put(bin, sum);
  }
}

unsigned block_of(const Problem& p) {
  return 4 * p.params.number("banks") * p.params.number("groups");
}
unsigned blocks_of(const Problem& p) {
  return static_cast<unsigned>(ceil_div(most_words(p), std::size_t{block_of(p)} * kWordsPerThread));
}

struct Podlozhnyuk64 {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    const Words words = words_of(call.labels(), call.n());
    const unsigned block = block_of(call.problem), blocks = blocks_of(call.problem);
    count_in_blocks(call, blocks, kBins, call.buckets(), call.results(), words.edges,
                    [&](const BlockCounts& counts) {
                      launch(kernel, {blocks, block, std::size_t{kBins} * block, call.stream},
                             words.words, words.count, call.params().number("banks"), counts);
                    });
  }
};

Variant variant() {
  return {
      .id = "podlozhnyuk/64",
      .title = "private byte counters for 64 bins",
      .source = "Podlozhnyuk 2007; eilers 4.3.1",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kAdapted,
      .params = {{"banks", "32", {"16", "32"}, "for which bits are swapped (published: 16)"},
                 {"groups", "3", {"1", "2", "3"}, "of 4 banks threads per block (published: 3)"},
                 merge_axis()},
      .restriction = [](const Problem& p) -> std::string {
        if (p.buckets <= kBins) return {};
        return std::to_string(p.buckets) + " buckets: the publication has 64 bins";
      },
      .traffic =
          [](const Problem& p) {
            return traffic_of_partials(p, std::size_t{blocks_of(p)} * kBins);
          },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = partials_bytes(p, std::size_t{blocks_of(p)} * kBins)};
          },
      .enqueue = instantiate_for<Podlozhnyuk64, NoOps, std::uint8_t>(),
  };
}

}  // namespace reduce_bench::BACKEND::podlozhnyuk_64
