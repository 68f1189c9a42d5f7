// The kernel of luitjens/vec2 and luitjens/vec4: several neighbouring elements per load.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/reduce/luitjens/params.hpp"
#include "kernels/reduce/persistent.hpp"
#include "kernels/shared/halves.hpp"
#include "kernels/shared/shuffle.hpp"

namespace reduce_bench::BACKEND {

/// `kWidth` elements that the compiler moves by one load of up to 16 bytes, the widest there is on
/// every card; four 8-byte elements take two.
template <class T, unsigned kWidth>
struct alignas(std::min<std::size_t>(16, kWidth * sizeof(T))) Vector {
  T element[kWidth];
};

/// The elements [0, head) lie before the first address that is aligned to a vector; single elements
/// after the last whole vector are the tail.
template <class T, class Op, unsigned kWidth>
__global__ void luitjens_vector_kernel(const T* values, Combined<T>* results, std::size_t n,
                                       unsigned head) {
  using Folded = Combined<T>;
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const auto* vectors = reinterpret_cast<const Vector<T, kWidth>*>(values + head);
  const std::size_t count = (n - head) / kWidth;

  Folded sum = Op::template identity<Folded>();
  for (std::size_t i = thread; i < count; i += stride) {
    const Vector<T, kWidth> vector = vectors[i];
    Folded vector_sum = combined(vector.element[0]);
#pragma unroll
    for (unsigned k = 1; k < kWidth; ++k)
      vector_sum = Op::combine(vector_sum, combined(vector.element[k]));
    sum = Op::combine(sum, vector_sum);
  }
  if (thread < head) sum = Op::combine(sum, combined(values[thread]));
  const std::size_t tail = head + count * kWidth + thread;
  if (tail < n) sum = Op::combine(sum, combined(values[tail]));

  sum = fold_block<Op>(sum, dynamic_shared<Folded>());
  if (threadIdx.x == 0) results[blockIdx.x] = sum;
}

template <class T, unsigned kWidth>
unsigned elements_before_alignment(const T* values, std::size_t n) {
  constexpr std::size_t kAlignment = alignof(Vector<T, kWidth>);
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(values) % kAlignment;
  const std::size_t head = beyond == 0 ? 0 : (kAlignment - beyond) / sizeof(T);
  return static_cast<unsigned>(std::min(head, n));
}

template <class Op, unsigned kWidth, class T>
void reduce_vectors_in_two_passes(const TypedCall<T>& call) {
  const unsigned block = call.params().number("block");
  reduce_in_two_passes(
      call, kWidth,
      [&]<class In>(const In* values, std::size_t n, Combined<T>* results, unsigned blocks) {
        launch(luitjens_vector_kernel<In, Op, kWidth>,
               {blocks, block, kWarpSize * sizeof(Combined<T>), call.stream}, values, results, n,
               elements_before_alignment<In, kWidth>(values, n));
      });
}

/// Each pass adds the chain within a vector, one element of the head and one of the tail.
inline std::uint64_t depth_of_vectors(const Problem& p, unsigned width) {
  return depth_of_two_passes(p, width) + 2 * width;
}

}  // namespace reduce_bench::BACKEND
