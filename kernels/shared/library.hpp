// What the variants that call CUB or Thrust share: the libraries' own operators, by whose type they
// choose tuned kernels and instructions, and bounds that hold for CUB 3, on which Thrust builds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/shared/instantiate.hpp"
#include "kernels/shared/library_counts.hpp"

#ifdef __CUDACC__
#include <cuda/functional>
#include <cuda/std/functional>
#include <new>
#include <utility>
#endif

namespace reduce_bench::BACKEND {

#ifdef __CUDACC__
/// The operators that the libraries know.
template <class Op>
struct LibraryOperatorOf;
template <>
struct LibraryOperatorOf<Sum> {
  using Type = ::cuda::std::plus<>;
};
template <>
struct LibraryOperatorOf<Min> {
  using Type = ::cuda::minimum<>;
};
template <>
struct LibraryOperatorOf<Max> {
  using Type = ::cuda::maximum<>;
};
template <>
struct LibraryOperatorOf<Prod> {
  using Type = ::cuda::std::multiplies<>;
};
template <>
struct LibraryOperatorOf<And> {
  using Type = ::cuda::std::bit_and<>;
};
template <>
struct LibraryOperatorOf<Or> {
  using Type = ::cuda::std::bit_or<>;
};
template <>
struct LibraryOperatorOf<Xor> {
  using Type = ::cuda::std::bit_xor<>;
};
template <class Op>
using LibraryOperator = typename LibraryOperatorOf<Op>::Type;

/// An operator that the libraries lack, as a function object for them.
template <class Op>
struct OrderedOperator {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return Op::combine(a, b);
  }
};
/// The most storage that `bytes_with(op)` asks for: the libraries' tiles, and with them their
/// storage, depend on whether they know the operator. Asks only for operators that the
/// variants have on T anyway (the order-sensitive ones alone where kKnown is false): each one asked
/// for is compiled into kernels.
template <class T, bool kKnown = true, class F>
std::size_t most_library_bytes(F&& bytes_with) {
  std::size_t bytes = 0;
  if constexpr (kKnown) bytes = bytes_with(LibraryOperator<Sum>{});
  if constexpr (std::is_same_v<T, std::int32_t>)
    bytes = std::max<std::size_t>(bytes, bytes_with(OrderedOperator<Right>{}));
  if constexpr (std::is_same_v<T, std::int64_t>)
    bytes = std::max<std::size_t>(bytes, bytes_with(OrderedOperator<Affine>{}));
  return bytes;
}

/// Bits that stand for a T: what a sort moves and never looks at, compiled once for each size.
template <class T>
using Opaque = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// The library's own operator where it has one.
template <class Op>
auto library_operator() {
  if constexpr (commutes(Op::kOp)) return LibraryOperator<Op>{};
  else return OrderedOperator<Op>{};
}

/// Thrust's temporaries, handed out piece by piece from the workspace.
class WorkspaceAllocator {
 public:
  using value_type = std::byte;

  WorkspaceAllocator(std::byte* workspace, std::size_t bytes)
      : next_(workspace), end_(workspace + bytes) {}
  std::byte* allocate(std::ptrdiff_t bytes) {
    constexpr std::ptrdiff_t kAlignment = 256;
    const std::ptrdiff_t padded_bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (padded_bytes > end_ - next_) throw std::bad_alloc();
    return std::exchange(next_, next_ + padded_bytes);
  }
  void deallocate(std::byte*, std::size_t) {}

 private:
  std::byte* next_;
  std::byte* end_;
};
#endif

/// Temporary storage for a reduction: one partial result per block, 42 KB on an H200. With
/// less than they need both libraries refuse to run.
inline constexpr std::size_t kLibraryTemporaryBytes = std::size_t{1} << 20;

/// Temporary storage of Thrust's keyed algorithms besides copies of their inputs: at most two words
/// of state and two pairs of 16 bytes for a tile of at least 128 elements. Their interface does not
/// say how much; an allocation beyond this fails the call.
inline std::size_t thrust_keyed_temporary_bytes(std::size_t n) {
  return kLibraryTemporaryBytes + n / 2;
}

/// CUB shares tiles of at least 256 threads by at most 20 elements evenly among at least 5 blocks
/// per multiprocessor (all tiles, where there are fewer), then folds the partial results, at most
/// 40 per multiprocessor, in one block. A block folds within warps (5 steps), then over its at
/// most 32 warps one after the other. The initial value comes last.
inline std::uint64_t depth_of_library_reduce(const Problem& problem) {
  const std::uint64_t sms = problem.device.sm_count;
  constexpr std::uint64_t kTiles = 2 * 20, kBlock = 5 + 32;
  const std::uint64_t first = problem.n / (256 * 5 * sms) + kTiles + kBlock;
  const std::uint64_t second = 40 * sms / 256 + kTiles + kBlock;
  return std::min<std::uint64_t>(problem.n, first + second + 1);
}

}  // namespace reduce_bench::BACKEND
