// A call as our algorithms take it, from a variant or from the library (include/onepass.hpp): C++ types
// and numbers alone, so that any type and any operator will do.
#pragma once

#include "kernels/shared/instantiate.hpp"

namespace reduce_bench::BACKEND {

/// What a launch plan depends on, beside its tuning.
struct Sizes {
  std::size_t n;            ///< inputs
  std::size_t buckets;      ///< labels lie below; 0 where there are none
  std::size_t value_bytes;  ///< of one value; of a label where there are no values
  DeviceTraits device;

  Sizes(std::size_t n_, std::size_t buckets_, std::size_t value_bytes_, const DeviceTraits& device_)
      : n(n_), buckets(buckets_), value_bytes(value_bytes_), device(device_) {}
  Sizes(const Problem& p) : Sizes(p.n, p.buckets, p.element_bytes(), p.device) {}
};

/// The arrays, workspace and stream. T is the type of the values and, but for halves, of the results; a
/// histogram has no values, and Count for T.
template <class T, class L = Label>
struct Arguments {
  const T* values = nullptr;
  const L* labels = nullptr;
  Combined<T>* results = nullptr;
  std::byte* workspace = nullptr;
  Stream stream;
  Sizes sizes;

  std::size_t n() const { return sizes.n; }
  std::size_t buckets() const { return sizes.buckets; }
  /// The workspace from `offset_bytes` on as an array.
  template <class U = T>
  U* scratch(std::size_t offset_bytes = 0) const {
    return reinterpret_cast<U*>(workspace + offset_bytes);
  }
  /// Whether the arrays can be read by 16-byte loads from their first element on.
  bool aligned() const {
    return (reinterpret_cast<std::uintptr_t>(values) | reinterpret_cast<std::uintptr_t>(labels)) %
               16 ==
           0;
  }
};

/// Those of a variant's call.
template <class T>
auto arguments_of(const TypedCall<T>& call) {
  using Value = std::conditional_t<is_label(kTypeOf<T>), Count, T>;
  Arguments<Value, typename TypedCall<T>::LabelType> arguments{.labels = call.labels(),
                                                               .results = call.results(),
                                                               .workspace = call.workspace,
                                                               .stream = call.stream,
                                                               .sizes = call.problem};
  if constexpr (!is_label(kTypeOf<T>)) arguments.values = call.values();
  return arguments;
}

}  // namespace reduce_bench::BACKEND
