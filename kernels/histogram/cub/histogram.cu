// cub/histogram: CUB's histogram of even bins
//
// Source: no publication; what a CUDA programmer would call: cub::DeviceHistogram::HistogramEven of
//   CCCL.
// Idea: privatised histograms in shared memory, one per block, added to the global one at the end;
//   beyond 256 bins, each block has its own in global memory.
// Fixes: nothing: it is the library that the other variants are measured against.
// Launch: chosen by the library for the device and the type; an initialising kernel and a sweep.
// Traffic: n labels read, m counts written; the blocks' partial counts are not counted. With m =
//   2^16 these do not fit into the L2 together, and each input is an atomic on one of them: an H200
//   moves 15 times these bytes.
// Preconditions: none.
// Deviations: bins of width 1 from 0 to m. The temporary storage is allocated beforehand. For an
//   empty input the counts are filled with zeros, which the library would not do.
// Choice: counts have 32 bits where n allows, and the levels are an int each, as a user passes
//   them. On one H200, 2^26 u32 labels (m = 256): 154 us, with 64-bit levels 162; the width of the
//   count makes no difference, and u8 labels take 38 us in every form. HistogramRange, which
//   searches for each label's bin, takes 854 us (with m = 4096, 1086 for 741), of u8 labels 38.

#include "kernels/shared/library.hpp"

#ifdef __CUDACC__
#include <cub/device/device_histogram.cuh>
#endif

namespace reduce_bench::BACKEND::cub_histogram {

#ifdef __CUDACC__
template <class L>
void histogram(void* temporary, std::size_t& temporary_bytes, const L* labels, Count* counts,
               const Problem& p, cudaStream_t stream) {
  const int buckets = static_cast<int>(p.buckets);
  with_library_count(p.n, [&](auto count) {
    check(cub::DeviceHistogram::HistogramEven(temporary, temporary_bytes, labels, counts,
                                              buckets + 1, 0, buckets, count, stream),
          "cub::DeviceHistogram::HistogramEven");
  });
}

std::size_t temporary_bytes_of(const Problem& p) {
  std::size_t bytes = 0;
  with_label_type(p.type,
                  [&]<class L>() { histogram<L>(nullptr, bytes, nullptr, nullptr, p, nullptr); });
  return bytes;
}

struct CubHistogram {
  static Workspace workspace(const Problem& p) { return {.device_bytes = temporary_bytes_of(p)}; }

  template <class L, class Op>
  static void enqueue(const TypedCall<L>& call) {
    if (call.n() == 0) return enqueue_fill(call.stream, call.results(), call.buckets(), 0);
    std::size_t bytes = temporary_bytes_of(call.problem);
    histogram(call.workspace, bytes, call.labels(), call.results(), call.problem,
              native(call.stream));
  }
};
#else
struct CubHistogram;
#endif

Variant variant() {
  return {
      .id = "cub/histogram",
      .title = "CUB HistogramEven",
      .source = "CCCL, CUB",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kBaseline,
      .restriction = [](const Problem& p) -> std::string {
        constexpr std::size_t kMost = std::size_t{1} << 30;
        if (p.buckets <= kMost) return {};
        return std::to_string(p.buckets) + " buckets: the library counts bins in 32 bits";
      },
      .workspace = workspace_of<CubHistogram>(),
      .count_bits = library_count_bits,
      .enqueue = instantiate_histogram<CubHistogram>(),
  };
}

}  // namespace reduce_bench::BACKEND::cub_histogram
