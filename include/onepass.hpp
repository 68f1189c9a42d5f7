// onepass: reductions of one array, and of labelled values, on a GPU. docs/library.md says what each
// function takes, how long it takes and what its results depend on.
//
// Every function is called twice, as CUB's are: without a workspace it says how many bytes it needs, with
// one it puts its work on the stream. It allocates nothing and waits for nothing.
//
//   std::size_t bytes = 0;
//   onepass::multireduce<onepass::Sum>(nullptr, bytes, values, labels, results, n, buckets);
//   cudaMalloc(&workspace, bytes);
//   cudaMemset(workspace, 0, onepass::kZeroedBytes);   // once
//   onepass::multireduce<onepass::Sum>(workspace, bytes, values, labels, results, n, buckets, stream);
//
// Compile with nvcc, -std=c++20 and --expt-relaxed-constexpr. The headers define the macro BACKEND.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <vector>

#include "kernels/histogram/atomic_counts.hpp"
#include "kernels/histogram/onepass/one_launch.hpp"
#include "kernels/histogram/onepass/split_launch.hpp"
#include "kernels/histogram/partition/partition_launch.hpp"
#include "kernels/multireduce/onepass/one_launch.hpp"
#include "kernels/multireduce/onepass/split_launch.hpp"
#include "kernels/multireduce/partition/partition_launch.hpp"
#include "kernels/multiscan/partition/scan_partitions.hpp"
#include "kernels/multiscan/twopass/two_passes.hpp"
#include "kernels/reduce/onepass/exact_sum.hpp"
#include "kernels/reduce/onepass/one_launch.hpp"
#include "kernels/shared/by_capability.hpp"
#ifdef __CUDACC__
#include "kernels/platform/cuda_traits.hpp"
#endif

namespace onepass {

/// Operators. One of your own is a type with two static functions, `identity<T>()` and `combine(T, T)`
/// for the device, and `identity<T>()` for the host, too: `Sum` is an example.
using reduce_bench::BACKEND::And;
using reduce_bench::BACKEND::Max;
using reduce_bench::BACKEND::Min;
using reduce_bench::BACKEND::Or;
using reduce_bench::BACKEND::Prod;
using reduce_bench::BACKEND::Sum;
using reduce_bench::BACKEND::Xor;

/// The bytes at the beginning of a workspace that must be zero before its first call. Every call leaves
/// them zero, so a workspace serves calls of all functions and sizes, one after the other. Room for the
/// partial results of 450 SMs.
inline constexpr std::size_t kZeroedBytes = 64 * 1024;

/// Whether result i of a scan has value i in it.
enum class Scan { kExclusive, kInclusive };

#ifdef __CUDACC__
using ::cudaError_t;
using ::cudaStream_t;
#else  // on the emulator: CUDA's names, as far as these functions need them
using cudaStream_t = void*;
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999
};
#endif

namespace detail {

using namespace reduce_bench::BACKEND;
using reduce_bench::Count;
using reduce_bench::DeviceTraits;
using reduce_bench::Label;

/// Which form serves which number of buckets: on an H200 the one that takes less time for 2^26 inputs
/// with the labels that take it longest (docs/library.md).
struct FormPolicy90 {
  /// multireduce: ways up to which a split table serves, before partitions. Updates of float sums are
  /// loops, which every block takes for its share of each quad.
  template <class T, class Op>
  static constexpr unsigned kMostWays =
      reduce_bench::BACKEND::onepass_multireduce::kQueues<T, Op> ? 3 : 6;
  /// histogram: the same, but not 6 ways, which take up to three times as long with some labels.
  static constexpr unsigned kMostHistogramWays = 5;
  /// multiscan: warps that have a table in shared memory from which on two passes serve, before
  /// partitions.
  static constexpr unsigned kLeastWarps = 4;
  /// The same for fewer inputs than kFewInputs, of which every warp has a short chunk beside its table.
  /// Chosen on an H100.
  static constexpr std::size_t kFewInputs = std::size_t{1} << 22;
  static constexpr unsigned kLeastWarpsOfFew = 8;
  static constexpr unsigned least_warps(std::size_t n) {
    return n < kFewInputs ? kLeastWarpsOfFew : kLeastWarps;
  }
};
using FormPolicy = ByCapability<Row<90, FormPolicy90>>;

// A program may have both: each has a name of its own, since of one name the linker keeps one.
#ifdef __CUDACC__
inline namespace on_cuda {
/// Of the current device; each is asked once, where it is used: asking makes a context on it.
inline const DeviceTraits& device_traits() {
  struct Device {
    std::once_flag asked;
    DeviceTraits traits;
  };
  static std::vector<Device> devices([] {
    int count = 0;
    check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    return static_cast<std::size_t>(count);
  }());
  int current = 0;
  check(cudaGetDevice(&current), "cudaGetDevice");
  Device& device = devices[static_cast<std::size_t>(current)];
  std::call_once(device.asked, [&] { device.traits = traits_of(current); });
  return device.traits;
}
}  // namespace on_cuda
#else
inline namespace emulated {
inline const DeviceTraits& device_traits() { return settings().device; }
}  // namespace emulated
#endif

/// What `f` returns; where it throws, what failed.
template <class F>
cudaError_t code_of(F&& f) {
  try {
    return f();
#ifdef __CUDACC__
  } catch (const CudaError& error) {
    return error.code;
#else
  } catch (const EmuError&) {
    return cudaErrorLaunchFailure;
#endif
  } catch (...) {
    return cudaErrorUnknown;
  }
}

/// The two calls of a function: `zeroed` bytes at the beginning of the workspace and `scratch` behind
/// kZeroedBytes are needed.
template <class F>
cudaError_t two_calls(void* workspace, std::size_t& bytes, std::size_t zeroed, std::size_t scratch,
                      F&& enqueue) {
  if (zeroed > kZeroedBytes) return cudaErrorNotSupported;
  const std::size_t needed = kZeroedBytes + scratch;
  if (workspace == nullptr) {
    bytes = needed;
    return cudaSuccess;
  }
  if (bytes < needed) return cudaErrorInvalidValue;
  enqueue();
  return cudaSuccess;
}

/// The parts of the workspace.
inline std::byte* zeroed_in(void* workspace) { return static_cast<std::byte*>(workspace); }
inline std::byte* scratch_in(void* workspace) { return zeroed_in(workspace) + kZeroedBytes; }

/// Whether labels below `buckets` are labels.
inline bool are_labels(std::size_t n, std::size_t buckets) {
  return buckets <= ~Label{0} && (n == 0 || buckets > 0);
}

template <class T>
constexpr void check_value_type() {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                "values have 4 or 8 bytes and are trivially copyable");
}

/// Whether kernels can read and write each element of these arrays in one access. A structure may
/// have a lower alignment than its size.
template <class... T>
bool are_aligned(const T*... arrays) {
  return ((reinterpret_cast<std::uintptr_t>(arrays) % sizeof(T) == 0) && ...);
}

enum class Form { kTable, kSplitTable, kPartitions, kAtomics };

template <class Op, class T>
Form multireduce_form(const Sizes& sizes) {
  constexpr bool kSlow = reduce_bench::BACKEND::onepass_multireduce::kQueues<T, Op>;
  if (CachedAtomicsPolicy::serves(sizes.n, sizes.buckets, kSlow)) return Form::kAtomics;
  if (sizes.buckets * sizeof(T) <= most_table_bytes(sizes.device, TableTuning{}))
    return Form::kTable;
  const SplitPlan split =
      reduce_bench::BACKEND::onepass_multireduce_split::plan_for<T, Op>(sizes, {});
  if (split.fits && split.ways <= FormPolicy::kMostWays<T, Op>) return Form::kSplitTable;
  namespace partition = reduce_bench::BACKEND::partition_multireduce;
  const partition::Tuning tuning = partition::tuning_for<T, Op>();
  return partition::serves(sizes, tuning) && !partition::is_direct(sizes, tuning)
             ? Form::kPartitions
             : Form::kAtomics;
}

template <class L>
Form histogram_form(const Sizes& sizes) {
  if (sizes.buckets * sizeof(Count) <= most_table_bytes(sizes.device, TableTuning{}))
    return Form::kTable;
  if constexpr (sizeof(L) == 1) return Form::kAtomics;
  // As of a multireduce, few labels for each bin take less time by atomics.
  if (CachedAtomicsPolicy::serves(sizes.n, sizes.buckets)) return Form::kAtomics;
  const SplitPlan split = reduce_bench::BACKEND::onepass_histogram_split::plan_of(sizes, {});
  if (split.fits && split.ways <= FormPolicy::kMostHistogramWays) return Form::kSplitTable;
  if constexpr (sizeof(L) == 4)
    if (reduce_bench::BACKEND::partition_histogram::serves(sizes, {})) return Form::kPartitions;
  return split.fits ? Form::kSplitTable : Form::kAtomics;
}

}  // namespace detail

/// *result = values[0] . values[1] . ... . values[n-1], for an operator that commutes; its identity
/// where n is 0.
template <class Op, class T>
cudaError_t reduce(void* workspace, std::size_t& workspace_bytes, const T* values, T* result,
                   std::size_t n, cudaStream_t stream = nullptr) {
  detail::check_value_type<T>();
  namespace form = reduce_bench::BACKEND::onepass_reduce;
  return detail::code_of([&] {
    if (!detail::are_aligned(values, result)) return cudaErrorInvalidValue;
    const detail::Sizes sizes(n, 0, sizeof(T), detail::device_traits());
    const std::size_t zeroed = form::slots_bytes(form::plan_of(sizes, {}), sizeof(T));
    return detail::two_calls(workspace, workspace_bytes, zeroed, 0, [&] {
      form::enqueue<Op>(detail::Arguments<T>{.values = values,
                                             .results = result,
                                             .workspace = detail::zeroed_in(workspace),
                                             .stream = {.handle = stream},
                                             .sizes = sizes},
                        {});
    });
  });
}

/// *result = the sum of n values of f32 or f64 as if without any rounding, rounded once: it has the same
/// bits whatever their order, the device and the launch.
template <class T>
cudaError_t reduce_exact(void* workspace, std::size_t& workspace_bytes, const T* values, T* result,
                         std::size_t n, cudaStream_t stream = nullptr) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "of f32 or f64 values");
  namespace form = reduce_bench::BACKEND::onepass_reduce_exact;
  return detail::code_of([&] {
    if (!detail::are_aligned(values, result)) return cudaErrorInvalidValue;
    const detail::Sizes sizes(n, 0, sizeof(T), detail::device_traits());
    const auto plan = form::plan_for<T>(sizes, {});
    if (n > form::kMostInputs || plan.shared_bytes > sizes.device.max_shared_bytes_per_block)
      return cudaErrorNotSupported;
    return detail::two_calls(workspace, workspace_bytes, form::workspace_bytes<T>(plan), 0, [&] {
      form::enqueue(detail::Arguments<T>{.values = values,
                                         .results = result,
                                         .workspace = detail::zeroed_in(workspace),
                                         .stream = {.handle = stream},
                                         .sizes = sizes},
                    {});
    });
  });
}

/// results[b] = the values[i] with labels[i] == b, combined by an operator that commutes, for all b below
/// `buckets`; its identity where there is none.
template <class Op, class T>
cudaError_t multireduce(void* workspace, std::size_t& workspace_bytes, const T* values,
                        const std::uint32_t* labels, T* results, std::size_t n, std::size_t buckets,
                        cudaStream_t stream = nullptr) {
  detail::check_value_type<T>();
  namespace kernels = reduce_bench::BACKEND;
  using detail::Form;
  if (!detail::are_labels(n, buckets)) return cudaErrorInvalidValue;
  return detail::code_of([&] {
    if (!detail::are_aligned(values, labels, results)) return cudaErrorInvalidValue;
    const detail::Sizes sizes(n, buckets, sizeof(T), detail::device_traits());
    const Form form = detail::multireduce_form<Op, T>(sizes);
    std::size_t scratch = 0;
    if (form == Form::kPartitions)
      scratch = kernels::partition_multireduce::layout(
                    kernels::partition_multireduce::partitioning(
                        sizes, kernels::partition_multireduce::tuning_for<T, Op>()),
                    sizeof(T))
                    .bytes;
    return detail::two_calls(workspace, workspace_bytes, sizeof(kernels::Clearing), scratch, [&] {
      if (buckets == 0) return;
      detail::Arguments<T> call{.values = values,
                                .labels = labels,
                                .results = results,
                                .workspace = detail::zeroed_in(workspace),
                                .stream = {.handle = stream},
                                .sizes = sizes};
      switch (form) {
        case Form::kTable: return kernels::onepass_multireduce::enqueue<Op>(call, {});
        case Form::kSplitTable: return kernels::onepass_multireduce_split::enqueue<Op>(call, {});
        case Form::kPartitions:
          call.workspace = detail::scratch_in(workspace);
          return kernels::partition_multireduce::enqueue<Op>(
              call, kernels::partition_multireduce::tuning_for<T, Op>());
        case Form::kAtomics: return kernels::enqueue_cached_atomics<Op>(call);
      }
    });
  });
}

/// counts[b] = how many labels[i] == b, for all b below `buckets`, modulo 2^32.
template <class L>
cudaError_t histogram(void* workspace, std::size_t& workspace_bytes, const L* labels,
                      std::uint32_t* counts, std::size_t n, std::size_t buckets,
                      cudaStream_t stream = nullptr) {
  static_assert(std::is_same_v<L, std::uint8_t> || std::is_same_v<L, std::uint16_t> ||
                    std::is_same_v<L, std::uint32_t>,
                "labels are u8, u16 or u32");
  namespace kernels = reduce_bench::BACKEND;
  using detail::Form;
  if (!detail::are_labels(n, buckets)) return cudaErrorInvalidValue;
  return detail::code_of([&] {
    if (!detail::are_aligned(labels, counts)) return cudaErrorInvalidValue;
    const detail::Sizes sizes(n, buckets, sizeof(L), detail::device_traits());
    const Form form = detail::histogram_form<L>(sizes);
    std::size_t scratch = 0;
    if (form == Form::kPartitions)
      scratch = kernels::partition_histogram::layout(
                    kernels::partition_histogram::partitioning(sizes, {}))
                    .bytes;
    return detail::two_calls(workspace, workspace_bytes, sizeof(kernels::Clearing), scratch, [&] {
      if (buckets == 0) return;
      detail::Arguments<std::uint32_t, L> call{.labels = labels,
                                               .results = counts,
                                               .workspace = detail::zeroed_in(workspace),
                                               .stream = {.handle = stream},
                                               .sizes = sizes};
      if (form == Form::kTable) return kernels::onepass_histogram::enqueue(call, {});
      if constexpr (sizeof(L) > 1)  // bytes have few bins
        if (form == Form::kSplitTable) return kernels::onepass_histogram_split::enqueue(call, {});
      if constexpr (sizeof(L) == 4)  // labels of two bytes have no more than 2^16 bins
        if (form == Form::kPartitions) {
          call.workspace = detail::scratch_in(workspace);
          return kernels::partition_histogram::enqueue(call, {});
        }
      if constexpr (sizeof(L) > 1)
        if (kernels::CachedAtomicsPolicy::serves(n, buckets))
          return kernels::enqueue_cached_atomics<kernels::Sum, true>(call);
      kernels::enqueue_atomic_counts(call);
    });
  });
}

/// results[i] = the values[j] with labels[j] == labels[i] and j < i (or j <= i), combined in the order
/// of j; the operator need not commute. Its identity where there is none. All labels lie below
/// `buckets`.
template <class Op, class T>
cudaError_t multiscan(void* workspace, std::size_t& workspace_bytes, const T* values,
                      const std::uint32_t* labels, T* results, std::size_t n, std::size_t buckets,
                      Scan scan = Scan::kExclusive, cudaStream_t stream = nullptr) {
  detail::check_value_type<T>();
  namespace two_passes = reduce_bench::BACKEND::twopass_multiscan;
  namespace partitions = reduce_bench::BACKEND::partition_multiscan;
  if (!detail::are_labels(n, buckets)) return cudaErrorInvalidValue;
  return detail::code_of([&] {
    if (!detail::are_aligned(values, labels, results)) return cudaErrorInvalidValue;
    const detail::Sizes sizes(n, buckets, sizeof(T), detail::device_traits());
    const two_passes::LaunchPlan plan(sizes);
    const auto tuning = partitions::tuning_for(sizes);
    const bool partitioned =
        plan.grid.fit < detail::FormPolicy::least_warps(n) && partitions::serves(sizes, tuning);
    if (!partitioned && plan.grid.fit == 0) return cudaErrorNotSupported;
    return detail::two_calls(
        workspace, workspace_bytes, 0,
        partitioned ? partitions::layout(sizes, tuning).bytes : plan.workspace_bytes(), [&] {
          const detail::Arguments<T> call{.values = values,
                                          .labels = labels,
                                          .results = results,
                                          .workspace = detail::scratch_in(workspace),
                                          .stream = {.handle = stream},
                                          .sizes = sizes};
          const bool inclusive = scan == Scan::kInclusive;
          if (!partitioned) return two_passes::enqueue<Op>(call, inclusive);
          if (n == 0) return;
          // The states are those of the last call, which may have had other sizes.
          reduce_bench::BACKEND::enqueue_fill(
              call.stream, call.template scratch<std::uint64_t>(),
              partitions::zeroed_bytes(sizes, tuning) / sizeof(std::uint64_t), 0);
          partitions::enqueue<Op>(call, inclusive, tuning);
        });
  });
}

}  // namespace onepass
