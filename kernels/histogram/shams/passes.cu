// shams/passes: a histogram for each warp, several passes over the bins
//
// Source: Shams and Kennedy (2007), first method; eilers section 4.3.1.
// Idea: podlozhnyuk/256 for any number of bins: where shared memory does not hold all bins for each
//   warp of a block they are divided into ranges. Each range takes a pass over all labels, which
//   skips those of other ranges.
// Fixes: podlozhnyuk/256, which has 256 bins and bytes for labels. The price: the labels are read
//   once for each range.
// Launch: for each range one launch, of as many blocks of `warps` warps as are resident, with the
//   range's bins for each warp in shared memory, and a merge with a block for each bin.
// Traffic: n labels read for each range, m counts per block written and read again, m counts
//   written.
// Preconditions: a warp's count has 27 bits.
// Deviations: the tag loop is that of podlozhnyuk/256, with its race since Volta as
//   form=as-published. The publication derives the number of warps from a formula for its cards;
//   here it is a parameter, and a block takes all the shared memory that it can have (as published
//   16 KB: shared_kib=16). Blocks write partial histograms and a second kernel adds them up, where
//   eilers 4.3.1 says that all of these histograms combine them by atomics (merge=atomics).

#include "kernels/histogram/partials.hpp"
#include "kernels/histogram/tags.hpp"

namespace reduce_bench::BACKEND::shams_passes {

/// Counts the labels in [first_bin, first_bin + bins).
template <bool kAsPublished>
__global__ void kernel(const Label* labels, std::size_t n, Label first_bin, unsigned bins,
                       BlockCounts counts) {
  unsigned* histograms = dynamic_shared<unsigned>();
  const unsigned warps = blockDim.x / kWarpSize;
  for (unsigned i = threadIdx.x; i < warps * bins; i += blockDim.x) histograms[i] = 0;
  __syncthreads();

  unsigned* own = histograms + threadIdx.x / kWarpSize * bins;
  const unsigned tag = tag_of_lane();
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t first = std::size_t{blockIdx.x} * blockDim.x; first < n; first += stride) {
    // The difference is unsigned, so labels below the range come out far above it.
    const unsigned bin = first + threadIdx.x < n ? labels[first + threadIdx.x] - first_bin : bins;
    if constexpr (!kAsPublished) count_by_tag(&own[bin < bins ? bin : 0], tag, bin < bins);
    else if (bin < bins) count_by_tag_as_published(&own[bin], tag);
  }
  __syncthreads();

  for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    Count sum = 0;
    for (unsigned warp = 0; warp < warps; ++warp) sum += histograms[warp * bins + bin] & kCountMask;
    counts.put(bin, sum);
  }
}

struct LaunchPlan {
  unsigned bins_per_pass, block, blocks;
  std::size_t shared_bytes;
};

LaunchPlan plan_of(const Problem& p) {
  const unsigned warps = p.params.number("warps");
  const std::size_t limit = p.params.is("shared_kib", "auto")
                                ? p.device.max_shared_bytes_per_block
                                : std::size_t{1024} * p.params.number("shared_kib");
  LaunchPlan plan{};
  plan.bins_per_pass =
      static_cast<unsigned>(std::min(limit / (warps * sizeof(unsigned)), p.buckets));
  plan.block = kWarpSize * warps;
  plan.shared_bytes = warps * plan.bins_per_pass * sizeof(unsigned);
  const unsigned resident = resident_blocks_per_sm(p.device, plan.block, plan.shared_bytes);
  plan.blocks = static_cast<unsigned>(
      std::min<std::size_t>(ceil_div(p.n, plan.block), std::size_t{resident} * p.device.sm_count));
  return plan;
}

struct ShamsPasses {
  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    const LaunchPlan plan = plan_of(call.problem);
    const auto chosen = call.params().is("form", "as-published") ? kernel<true> : kernel<false>;
    for (std::size_t first = 0; first < call.buckets(); first += plan.bins_per_pass) {
      const auto bins =
          static_cast<unsigned>(std::min<std::size_t>(plan.bins_per_pass, call.buckets() - first));
      count_in_blocks(call, plan.blocks, bins, bins, call.results() + first, Edges{},
                      [&](const BlockCounts& counts) {
                        launch(chosen, {plan.blocks, plan.block, plan.shared_bytes, call.stream},
                               call.labels(), call.n(), static_cast<Label>(first), bins, counts);
                      });
    }
  }
};

Variant variant() {
  return {
      .id = "shams/passes",
      .title = "warp histograms, several passes over the bins",
      .source = "Shams and Kennedy 2007; eilers 4.3.1",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kCorrected,
      .params = {{"form", "corrected", {"corrected", "as-published"}, "the tag loop's steps"},
                 {"shared_kib",
                  "auto",
                  {"auto", "16"},
                  "shared memory per block (auto: all; published: 16)"},
                 {"warps", "8", {"4", "8", "16"}, "warps per block"},
                 merge_axis()},
      .defect = [](const Problem& p) -> std::optional<Defect> {
        if (p.params.is("form", "corrected") || p.n < 2) return std::nullopt;
        return tag_defect();
      },
      .traffic =
          [](const Problem& p) {
            const LaunchPlan plan = plan_of(p);
            return traffic_of_partials(p, plan.blocks * p.buckets,
                                       ceil_div(p.buckets, plan.bins_per_pass));
          },
      .workspace =
          [](const Problem& p) {
            const LaunchPlan plan = plan_of(p);
            return Workspace{.device_bytes =
                                 partials_bytes(p, std::size_t{plan.blocks} * plan.bins_per_pass)};
          },
      .enqueue = instantiate_for<ShamsPasses, NoOps, Label>(),
  };
}

}  // namespace reduce_bench::BACKEND::shams_passes
