// shams/spill: private histograms in global memory behind counters of a few bits
//
// Source: Shams and Kennedy (2007), second method; eilers section 4.3.1.
// Idea: each thread has a histogram of 32-bit counts of its own in global memory, and in shared
//   memory a small one of b bits per bin. Only when a small counter overflows, once in 2^b equal
//   labels, its thread adds 2^b to the large one. At the end it adds what is left, and a second
//   kernel adds up the threads' histograms.
// Fixes: shams/passes, whose time depends on the labels and which reads them several times. The
//   price: global memory for each thread, and writes to it that are not coalesced.
// Launch: as many blocks of B threads as are resident, B * m * b bits of shared memory; then a
//   block for each bin.
// Traffic: n labels read, m counts per thread cleared, read and written, and read again; m counts
//   written; not counted: the overflows.
// Preconditions: B * m * b bits fit into a block's shared memory.
// Deviations: neither b nor B is known to us: b is 8, 4, 2 or 1, so that whole counters fill a
//   word; auto takes the largest that fits. Threads' words are interleaved in shared memory, one
//   bank for each lane, and their counts in global memory, so that clearing and merging are
//   coalesced. The thread clears its counts, which is part of the measured time. eilers 4.3.1 says
//   that all of these histograms combine their partial ones by atomics (merge=atomics); here a
//   second kernel adds them up by default.

#include "kernels/histogram/partials.hpp"

namespace reduce_bench::BACKEND::shams_spill {

__global__ void kernel(const Label* labels, std::size_t n, unsigned buckets, unsigned bits,
                       Count* counts, Count* onto) {
  // Nothing is shared: no barrier is needed.
  unsigned* own = dynamic_shared<unsigned>() + threadIdx.x;
  const unsigned per_word = 32 / bits, most = (1u << bits) - 1;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (unsigned bin = 0; bin < buckets; bin += per_word) own[bin / per_word * blockDim.x] = 0;
  for (unsigned bin = 0; bin < buckets; ++bin) counts[bin * threads + thread] = 0;

  for (std::size_t i = thread; i < n; i += threads) {
    const Label bin = labels[i];
    unsigned& word = own[bin / per_word * blockDim.x];
    const unsigned shift = bin % per_word * bits;
    if ((word >> shift & most) == most) {
      word &= ~(most << shift);
      counts[bin * threads + thread] += most + 1;
    } else {
      word += 1u << shift;
    }
  }

  for (unsigned bin = 0; bin < buckets; ++bin) {
    const unsigned left = own[bin / per_word * blockDim.x] >> bin % per_word * bits & most;
    if (onto == nullptr) {
      if (left > 0) counts[bin * threads + thread] += left;
    } else if (const Count own_count = counts[bin * threads + thread] + left; own_count > 0) {
      atomicAdd(&onto[bin], own_count);
    }
  }
}

std::size_t shared_bytes_with(const Problem& p, unsigned bits) {
  return ceil_div(p.buckets, 32 / bits) * p.params.number("block") * sizeof(unsigned);
}
unsigned bits_of(const Problem& p) {
  if (!p.params.is("bits", "auto")) return p.params.number("bits");
  unsigned bits = 8;
  while (bits > 1 && shared_bytes_with(p, bits) > p.device.max_shared_bytes_per_block) bits /= 2;
  return bits;
}
std::size_t shared_bytes_of(const Problem& p) { return shared_bytes_with(p, bits_of(p)); }

unsigned blocks_of(const Problem& p) {
  const unsigned block = p.params.number("block");
  const unsigned resident = resident_blocks_per_sm(p.device, block, shared_bytes_of(p));
  return static_cast<unsigned>(
      std::min<std::size_t>(ceil_div(p.n, block), std::size_t{resident} * p.device.sm_count));
}
std::size_t threads_of(const Problem& p) {
  return std::size_t{blocks_of(p)} * p.params.number("block");
}

struct ShamsSpill {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    const Problem& p = call.problem;
    const std::size_t threads = threads_of(p);
    Count* counts = call.template scratch<Count>();
    const bool atomics = merged_by_atomics(p);
    const auto bins = static_cast<unsigned>(call.buckets());
    if (atomics) enqueue_edges(call.stream, Edges{}, bins, call.results());
    if (threads > 0)
      launch(kernel, {blocks_of(p), p.params.number("block"), shared_bytes_of(p), call.stream},
             call.labels(), call.n(), bins, bits_of(p), counts, atomics ? call.results() : nullptr);
    if (!atomics)
      enqueue_merge(call.stream, {counts, threads, 1, threads}, Edges{}, bins, call.results());
  }
};

Variant variant() {
  return {
      .id = "shams/spill",
      .title = "private global histograms behind counters of a few bits",
      .source = "Shams and Kennedy 2007; eilers 4.3.1",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kAdapted,
      .params = {{"bits", "auto", {"auto", "1", "2", "4", "8"}, "per counter (auto: what fits)"},
                 {"block", "64", {"32", "64", "128"}, "threads"},
                 merge_axis()},
      .restriction = [](const Problem& p) -> std::string {
        const std::size_t needed = shared_bytes_of(p), limit = p.device.max_shared_bytes_per_block;
        if (needed <= limit) return {};
        return std::to_string(needed) + " bytes of shared memory are needed, a block has " +
               std::to_string(limit);
      },
      .traffic =
          [](const Problem& p) {
            // The counts of the threads lie in global memory however they are added up.
            Traffic traffic = traffic_of_partials(p, 2 * threads_of(p) * p.buckets);
            if (!merged_by_atomics(p)) return traffic;
            const std::size_t bytes = threads_of(p) * p.buckets * sizeof(Count);
            traffic.read_bytes += bytes;
            traffic.written_bytes += bytes;
            return traffic;
          },
      .workspace =
          [](const Problem& p) {
            return Workspace{.device_bytes = threads_of(p) * p.buckets * sizeof(Count)};
          },
      .enqueue = instantiate_for<ShamsSpill, NoOps, Label>(),
  };
}

}  // namespace reduce_bench::BACKEND::shams_spill
