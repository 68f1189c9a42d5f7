// From a variant's templates to its enqueue table: the typed call, the operator sets, and the
// instantiation of compile-time axes.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/api/devices.hpp"
#include "kernels/api/variant.hpp"
#include "kernels/platform/platform.hpp"
#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/ops.hpp"

namespace reduce_bench::BACKEND {

/// `Call` with the element types filled in. T is that of the values; a histogram has none, there T
/// is that of the labels, and the results are counts. Halves are reduced to a float.
template <class T>
struct TypedCall : Call {
  using LabelType = std::conditional_t<is_label(kTypeOf<T>), T, Label>;
  using Result = std::conditional_t<is_label(kTypeOf<T>), Count, Combined<T>>;

  const T* values() const { return static_cast<const T*>(Call::values); }
  const LabelType* labels() const { return static_cast<const LabelType*>(Call::labels); }
  Result* results() const { return static_cast<Result*>(Call::results); }
  static const T* values(const DeviceShare& share) { return static_cast<const T*>(share.values); }
  static const LabelType* labels(const DeviceShare& share) {
    return static_cast<const LabelType*>(share.labels);
  }
  static Result* results(const DeviceShare& share) { return static_cast<Result*>(share.results); }
  Label* result_labels() const { return static_cast<Label*>(Call::result_labels); }
  /// reduce-by-key: how many results there are.
  Count* result_count() const { return static_cast<Count*>(Call::result_count); }
  std::size_t n() const { return problem.n; }
  std::size_t buckets() const { return problem.buckets; }
  const Params& params() const { return problem.params; }
  /// Whether a scan is inclusive.
  bool inclusive() const { return is_inclusive(problem.params); }
  const DeviceTraits& device() const { return problem.device; }
  /// The workspace from `offset_bytes` on as an array.
  template <class U = T>
  U* scratch(std::size_t offset_bytes = 0) const {
    return reinterpret_cast<U*>(workspace + offset_bytes);
  }
};

template <class... Ops>
struct OpList {};
template <class... A, class... B>
OpList<A..., B...> operator+(OpList<A...>, OpList<B...>);

/// Every variant: sum, min, max.
using BasicOps = OpList<Sum, Min, Max>;
/// The representatives of each family (jradi 1.1 names these operators).
using AllOps = OpList<Sum, Min, Max, Prod, And, Or, Xor>;
/// Variants that preserve order add these.
using OrderedOps = OpList<Right, Affine>;
using BasicAndOrderedOps = decltype(BasicOps{} + OrderedOps{});
using AllAndOrderedOps = decltype(AllOps{} + OrderedOps{});
/// Operations without an operator.
using NoOps = OpList<None>;

/// Whether this is the host compiler's build of a variant that only nvcc compiles: its declaration,
/// so that every build lists it. Its `Launch` is an incomplete type there.
#ifdef REDUCE_BENCH_CUDA_DECLARATIONS
inline constexpr bool kDeclarationsOnly = true;
#else
inline constexpr bool kDeclarationsOnly = false;
#endif

namespace detail {
/// The entry of a table. In a build that has the declaration alone it only says that the
/// combination is provided: the catalog gives no variant to call there.
template <class Launch, class T, class Operator>
void enqueue_erased(const Call& call) {
  if constexpr (kDeclarationsOnly) std::abort();
  else Launch::template enqueue<T, Operator>(TypedCall<T>{call});
}

/// Whether T is the first of `Types` of its size.
template <class T, class... Types>
constexpr bool first_of_size() {
  constexpr std::size_t sizes[] = {sizeof(Types)...};
  constexpr bool same[] = {std::is_same_v<T, Types>...};
  for (std::size_t i = 0; i < sizeof...(Types); ++i)
    if (sizes[i] == sizeof(T)) return same[i];
  return false;
}
/// Whether Operator is the first of `Ops` that commutes, or of those that do not.
template <class Operator, class... Ops>
constexpr bool first_of_kind() {
  constexpr bool kinds[] = {commutes(Ops::kOp)...};
  constexpr bool same[] = {std::is_same_v<Operator, Ops>...};
  for (std::size_t i = 0; i < sizeof...(Ops); ++i)
    if (kinds[i] == commutes(Operator::kOp)) return same[i];
  return false;
}

template <class Launch, class T, bool kFew, class... Ops>
void fill_row(EnqueueTable& table, OpList<Ops...>) {
  auto fill_one = [&]<class Operator>() {
    if constexpr (defined_on(Operator::kOp, kTypeOf<T>) &&
                  (!kFew || first_of_kind<Operator, Ops...>())) {
      table[index_of(kTypeOf<T>)][index_of(Operator::kOp)] = &enqueue_erased<Launch, T, Operator>;
    }
  };
  (fill_one.template operator()<Ops>(), ...);
}
}  // namespace detail

/// What a kernel accesses depends on the size of the type, hardly on the operator: emulated under
/// sanitizers or traced, one of each will do.
#if defined(REDUCE_BENCH_EMU) && (defined(REDUCE_BENCH_SANITIZE) || defined(REDUCE_BENCH_TRACED))
inline constexpr bool kFewInstances = true;
#else
inline constexpr bool kFewInstances = false;
#endif

/// Instantiates `Launch::enqueue<T, Op>` for the operators of `Ops` on every type given.
template <class Launch, class Ops, class... Types>
EnqueueTable instantiate_for() {
  EnqueueTable table{};
  const auto fill = [&]<class T>() {
    if constexpr (!kFewInstances || detail::first_of_size<T, Types...>())
      detail::fill_row<Launch, T, kFewInstances>(table, Ops{});
  };
  (fill.template operator()<Types>(), ...);
  return table;
}
template <class Launch, class Ops>
EnqueueTable instantiate() {
  return instantiate_for<Launch, Ops, std::int32_t, std::int64_t, float, double>();
}
/// Fills the table of reductions that also combine halves, in f32.
template <class Launch, class Ops>
EnqueueTable instantiate_with_halves() {
  EnqueueTable table = instantiate<Launch, Ops>();
  detail::fill_row<Launch, F16, kFewInstances>(table, Ops{});
  if constexpr (!kFewInstances) detail::fill_row<Launch, Bf16, false>(table, Ops{});
  return table;
}
/// Fills the table of variants that preserve order: with the types of 4 bytes, and with those of 8
/// for the order-sensitive operator on them alone.
template <class Launch>
EnqueueTable instantiate_ordered() {
  EnqueueTable table = instantiate_for<Launch, BasicAndOrderedOps, std::int32_t, float>();
  detail::fill_row<Launch, std::int64_t, kFewInstances>(table, OrderedOps{});
  return table;
}
/// Instantiates a histogram, `Launch::enqueue<L, None>`, for all types of labels.
template <class Launch>
EnqueueTable instantiate_histogram() {
  return instantiate_for<Launch, NoOps, std::uint8_t, std::uint16_t, std::uint32_t>();
}

/// The declaration's `workspace` where it is `Launch::workspace`, which asks a library that only nvcc
/// compiles for its size; null in a build of the declaration alone.
template <class Launch>
constexpr auto workspace_of() -> Workspace (*)(const Problem&) {
  if constexpr (kDeclarationsOnly) return nullptr;
  else return &Launch::workspace;
}

/// Calls `f.template operator()<value>()` for a compile-time axis with the values `kValues`.
template <unsigned... kValues, class F>
void with_value(unsigned value, F&& f) {
  const bool found = ((value == kValues && (f.template operator()<kValues>(), true)) || ...);
  if (!found) throw std::logic_error("value " + std::to_string(value) + " is not instantiated");
}

#if defined(__CUDACC__) || defined(REDUCE_BENCH_EMU)
/// Chosen on an H200 (docs/kernels/README.md).
struct FillPolicy90 {
  static constexpr unsigned kItems = 16;  ///< stores of a thread
};
using FillPolicy = ByCapability<Row<90, FillPolicy90>>;
/// A launch whose kernel waits for the launch before: it begins early where the device lets it.
inline LaunchShape overlapping(LaunchShape shape, const DeviceTraits& device) {
  shape.overlapping = device.overlapping_launches;
  return shape;
}
/// The launch for `n` stores.
inline LaunchShape fill_shape(std::size_t n, const Stream& stream) {
  const unsigned block = n < 256 ? kWarpSize : 256;
  return {static_cast<unsigned>(ceil_div(n, FillPolicy::kItems * block)), block, 0, stream.aside()};
}
/// The block's part of `n` stores (or fewer than the launch was sized for). Blocks go from the end
/// to the beginning, so that what the next kernel reads first is still in the L2 cache.
template <class T>
__device__ void fill_tile(T* values, std::size_t n, std::type_identity_t<T> value) {
  let_next_launch_begin();
  const std::size_t block = gridDim.x - 1 - blockIdx.x;
  const std::size_t first = block * FillPolicy::kItems * blockDim.x + threadIdx.x;
#pragma unroll
  for (unsigned k = 0; k < FillPolicy::kItems; ++k)
    if (first + k * blockDim.x < n) values[first + k * blockDim.x] = value;
}
template <class T>
__global__ void fill_kernel(T* values, std::size_t n, T value) {
  fill_tile(values, n, value);
}
/// Stores `value` n times, as a kernel of its own: part of the timed operation.
template <class T>
void enqueue_fill(const Stream& stream, T* values, std::size_t n, std::type_identity_t<T> value) {
  launch(fill_kernel<T>, fill_shape(n, stream), values, n, value);
}
#endif

}  // namespace reduce_bench::BACKEND
