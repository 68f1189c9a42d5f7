// cub/histogram: CUB's histogram of even bins
//
// Source: no publication; what a CUDA programmer would call: cub::DeviceHistogram::HistogramEven of
//   the CUDA Toolkit.
// Idea: privatised histograms in shared memory, one per block, added to the global one at the end;
//   beyond 256 bins, atomics on the global one directly.
// Fixes: nothing: it is the library that the other variants are measured against.
// Launch: chosen by the library for the device and the type; an initialising kernel and a sweep.
// Traffic: n labels read, m counts written; the blocks' partial counts are not counted.
// Preconditions: none.
// Deviations: bins of width 1 from 0 to m. The temporary storage is allocated beforehand. For an
//   empty input the counts are filled with zeros, which the library would not do.

#include "kernels/shared/library.hpp"

#ifdef __CUDACC__
#include <cub/device/device_histogram.cuh>
#endif

namespace reduce_bench::BACKEND::cub_histogram {

#ifdef __CUDACC__
template <class L>
void histogram(void* temporary, std::size_t& temporary_bytes, const L* labels, Count* counts,
               const Problem& p, cudaStream_t stream) {
  const auto buckets = static_cast<std::int64_t>(p.buckets);
  check(cub::DeviceHistogram::HistogramEven(temporary, temporary_bytes, labels, counts,
                                            static_cast<int>(buckets + 1), std::int64_t{0}, buckets,
                                            static_cast<std::int64_t>(p.n), stream),
        "cub::DeviceHistogram::HistogramEven");
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
      .source = "CUDA Toolkit, CUB",
      .operation = Operation::kHistogram,
      .fidelity = Fidelity::kBaseline,
      .restriction = [](const Problem& p) -> std::string {
        constexpr std::size_t kMost = std::size_t{1} << 30;
        if (p.buckets <= kMost) return {};
        return std::to_string(p.buckets) + " buckets: the library counts bins in 32 bits";
      },
      .workspace = workspace_of<CubHistogram>(),
      .enqueue = instantiate_histogram<CubHistogram>(),
  };
}

}  // namespace reduce_bench::BACKEND::cub_histogram
