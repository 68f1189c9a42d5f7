// The emulated platform: CUDA's execution model on one host thread, for verification only.
//
// Every CUDA thread is a fiber. A fiber runs until it reaches a barrier, a warp collective or an
// atomic (where it may give way). The seed decides in which order threads, warps and blocks
// interleave, from "one warp as far as it can go" to "all warps in step"; a fault shows under some
// seeds, so run several. What hardware leaves undefined is made visible:
//   * shared memory starts as poison, and a shuffle from an absent lane returns poison: far below
//     all sensible values in one launch, far above in another, so that both min and max notice;
//   * lanes of a warp are not in lockstep: code that relies on it fails under some seed;
//   * threads at different barriers, or exited ones, are reported with their source lines;
//   * when nothing can run any more, or nothing but spinning happens, a report names the threads;
//   * the shared memory of a block is one heap allocation of exactly the requested size, so that
//     AddressSanitizer sees accesses beyond it.
// Blocks become resident in shuffled order; when all resident blocks wait, more are admitted, so a
// block may wait for any other.
//
// One host thread runs all fibers, so a data race or a missing __threadfence changes no result here.
// The traced build, namespace `traced`, compiles this file and the kernels once more with each of
// their accesses reported to kernels/platform/trace.hpp, which finds both.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "kernels/api/variant.hpp"
#include "kernels/platform/emu_device.hpp"
#include "kernels/platform/trace.hpp"
#include "kernels/platform/warp.hpp"

#define __host__
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(bytes) alignas(bytes)
#define threadIdx (::reduce_bench::BACKEND::thread_index())
#define blockIdx (::reduce_bench::BACKEND::block_index())
#define blockDim (::reduce_bench::BACKEND::block_shape())
#define gridDim (::reduce_bench::BACKEND::grid_shape())

namespace reduce_bench::BACKEND {

// The harness's side of the emulator is the same for both builds of it.
using namespace reduce_bench::emu;

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  Stream stream;
  unsigned cluster = 1;         ///< blocks along x that see each other's shared memory
  bool overlapping = false;     ///< it may begin while the launch before runs
  unsigned shared_percent = 0;  ///< no matter here
};

// ---- what kernels see -------------------------------------------------------------------------

struct ThreadView {
  dim3 index;
  unsigned lane;
};
struct BlockView {
  dim3 index;
  dim3 threads;
  dim3 blocks;
  void* shared;
};

namespace detail {
// Plain globals, not thread_local: one host thread runs everything.
inline const ThreadView* current_thread = nullptr;
inline const BlockView* current_block = nullptr;
inline unsigned yield_points_to_skip = 0;
inline std::uint64_t yields_without_progress = 0;

void give_way(Where where);
}  // namespace detail

UNTRACED inline dim3 thread_index() { return detail::current_thread->index; }
UNTRACED inline dim3 block_index() { return detail::current_block->index; }
UNTRACED inline dim3 block_shape() { return detail::current_block->threads; }
UNTRACED inline dim3 grid_shape() { return detail::current_block->blocks; }

template <class T>
UNTRACED T* dynamic_shared() {
  return static_cast<T*>(detail::current_block->shared);
}

template <class T>
UNTRACED T* held_shared(T* array) {
  return array;
}

void __syncthreads(Where where = Where::current());
int __syncthreads_or(int predicate, Where where = Where::current());
int __syncthreads_and(int predicate, Where where = Where::current());
int __syncthreads_count(int predicate, Where where = Where::current());
void __syncwarp(unsigned mask = kAllLanes, Where where = Where::current());

// Launches do not overlap here. The traced build reports what a thread of an overlapping launch may not
// touch before it waits.
inline void let_next_launch_begin() {}
UNTRACED inline void wait_for_launch_before(Where where = Where::current()) {
  trace::wait_for_launch_before(where);
}

// These do what kernels/platform/cuda.hpp says. A call for a block that has not begun, or has
// ended, is reported; an access through what an earlier call returned is not.
unsigned cluster_rank();
void cluster_sync(Where where = Where::current());
namespace detail {
void* cluster_shared(void* own, unsigned rank, Where where);
}
template <class T>
T* cluster_shared(T* own, unsigned rank, Where where = Where::current()) {
  return static_cast<T*>(detail::cluster_shared(own, rank, where));
}

/// A place where the scheduler may switch to another thread: about every eighth does, since a
/// switch at each would cost more than it uncovers. Spin loops must reach one.
UNTRACED inline void yield_point(Where where = Where::current()) {
  if (detail::yield_points_to_skip == 0) detail::give_way(where);
  else --detail::yield_points_to_skip;
}
/// Fences change nothing here (see above) but let other threads run.
inline void __threadfence(Where where = Where::current()) {
  trace::fence(trace::Scope::kDevice, where);
  yield_point(where);
}
inline void __threadfence_system(Where where = Where::current()) { __threadfence(where); }
inline void __threadfence_block(Where where = Where::current()) {
  trace::fence(trace::Scope::kBlock, where);
  yield_point(where);
}
namespace detail {
[[noreturn]] void refuse_misaligned(const void* from, std::size_t alignment, Where where);
}
/// A load; what it asks of the caches means nothing here. A GPU refuses addresses that are not aligned,
/// and an x86 processor reads most of them.
template <class Vector>
UNTRACED Vector load_ahead(const Vector* from, Where where = Where::current()) {
  if (reinterpret_cast<std::uintptr_t>(from) % alignof(Vector) != 0)
    detail::refuse_misaligned(from, alignof(Vector), where);
  trace::access(from, sizeof(Vector), trace::Kind::kRead, where);
  return *from;
}
/// Fibers switch only where they ask to: an access of any size is seen whole.
template <class T>
UNTRACED T load_volatile(const T* from, Where where = Where::current()) {
  trace::access(from, sizeof(T), trace::Kind::kStrongRead, where);
  return *from;
}
template <class T>
UNTRACED void store_volatile(T* to, const T& value, Where where = Where::current()) {
  trace::access(to, sizeof(T), trace::Kind::kStrongWrite, where);
  *to = value;
}
/// Inside a spin loop: always gives way.
inline void wait_hint(Where where = Where::current()) { detail::give_way(where); }
inline void __nanosleep(unsigned, Where where = Where::current()) { detail::give_way(where); }

namespace detail {
/// All lanes of `mask` deposit eight bytes and receive those of lane `source`; poison where that
/// lane is not in the mask.
std::uint64_t exchange(unsigned mask, std::uint64_t value, unsigned source, Where where);
/// All lanes of `mask` deposit eight bytes and receive those of each other: all[i] is that of lane i,
/// valid where the mask has it.
void gather(unsigned mask, std::uint64_t value, std::uint64_t (&all)[kWarpSize], Where where);
UNTRACED inline unsigned lane() { return current_thread->lane; }

template <class T>
  requires(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>)
T shuffle(unsigned mask, T value, unsigned source, Where where) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = exchange(mask, bits, source, where);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

template <class T, class F>
UNTRACED T update(T* address, Where where, F&& next) {
  yield_point(where);
  trace::access(address, sizeof(T), trace::Kind::kAtomic, where);
  const T old = *address;
  const T updated = next(old);
  if (std::memcmp(&old, &updated, sizeof(T)) != 0) yields_without_progress = 0;
  *address = updated;
  return old;
}
}  // namespace detail

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = kWarpSize,
              Where where = Where::current()) {
  const unsigned base = detail::lane() & ~static_cast<unsigned>(width - 1);
  return detail::shuffle(mask, value, base + (static_cast<unsigned>(source) & (width - 1)), where);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = kWarpSize,
                   Where where = Where::current()) {
  const unsigned lane = detail::lane(), in_segment = lane & (width - 1);
  const bool inside = in_segment + delta < static_cast<unsigned>(width);
  return detail::shuffle(mask, value, inside ? lane + delta : lane, where);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = kWarpSize,
                 Where where = Where::current()) {
  const unsigned lane = detail::lane(), in_segment = lane & (width - 1);
  return detail::shuffle(mask, value, in_segment >= delta ? lane - delta : lane, where);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = kWarpSize,
                  Where where = Where::current()) {
  const unsigned lane = detail::lane(), target = lane ^ static_cast<unsigned>(lane_mask);
  const bool inside = target / width <= lane / width;
  return detail::shuffle(mask, value, inside ? target : lane, where);
}

unsigned __ballot_sync(unsigned mask, int predicate, Where where = Where::current());
int __any_sync(unsigned mask, int predicate, Where where = Where::current());
int __all_sync(unsigned mask, int predicate, Where where = Where::current());

template <class T>
unsigned __match_any_sync(unsigned mask, T value, Where where = Where::current()) {
  std::uint64_t bits = 0, all[kWarpSize];
  std::memcpy(&bits, &value, sizeof(T));
  detail::gather(mask, bits, all, where);
  unsigned same = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    if ((mask >> lane & 1u) && all[lane] == bits) same |= 1u << lane;
  return same;
}

namespace detail {
template <class T, class F>
T reduce_lanes(unsigned mask, T value, F&& combine, Where where) {
  std::uint64_t all[kWarpSize];
  gather(mask, static_cast<std::uint32_t>(value), all, where);
  bool first = true;
  T result{};
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    if (!(mask >> lane & 1u)) continue;
    const T other = static_cast<T>(static_cast<std::uint32_t>(all[lane]));
    result = first ? other : combine(result, other);
    first = false;
  }
  return result;
}
}  // namespace detail
template <class T>
  requires(std::integral<T> && sizeof(T) == 4)
T __reduce_add_sync(unsigned mask, T value, Where where = Where::current()) {
  return detail::reduce_lanes(
      mask, value,
      [](T a, T b) { return static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b)); },
      where);
}
template <class T>
  requires(std::integral<T> && sizeof(T) == 4)
T __reduce_min_sync(unsigned mask, T value, Where where = Where::current()) {
  return detail::reduce_lanes(mask, value, [](T a, T b) { return b < a ? b : a; }, where);
}
template <class T>
  requires(std::integral<T> && sizeof(T) == 4)
T __reduce_max_sync(unsigned mask, T value, Where where = Where::current()) {
  return detail::reduce_lanes(mask, value, [](T a, T b) { return a < b ? b : a; }, where);
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value, Where where = Where::current()) {
  return detail::reduce_lanes(mask, value, [](unsigned a, unsigned b) { return a | b; }, where);
}

inline int __popc(unsigned x) { return std::popcount(x); }
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1; }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
/// No convergence is promised, so a lane can count on nobody but itself.
inline unsigned __activemask() { return 1u << detail::lane(); }
template <class T>
UNTRACED T __ldg(const T* address, Where where = Where::current()) {
  trace::access(address, sizeof(T), trace::Kind::kRead, where);
  return *address;
}

// Atomics: indivisible because a fiber gives way only before one.
template <class T>
concept AtomicInteger = std::same_as<T, int> || std::same_as<T, unsigned> ||
                        std::same_as<T, long long> || std::same_as<T, unsigned long long>;
template <class T>
concept AtomicAddable = std::same_as<T, int> || std::same_as<T, unsigned> ||
                        std::same_as<T, unsigned long long> || std::floating_point<T>;

template <AtomicAddable T>
T atomicAdd(T* address, std::type_identity_t<T> value, Where where = Where::current()) {
  return detail::update(address, where, [=](T old) {
    if constexpr (std::is_same_v<T, int>)
      return static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value));
    else return static_cast<T>(old + value);
  });
}
template <AtomicInteger T>
T atomicMin(T* address, std::type_identity_t<T> value, Where where = Where::current()) {
  return detail::update(address, where, [=](T old) { return value < old ? value : old; });
}
template <AtomicInteger T>
T atomicMax(T* address, std::type_identity_t<T> value, Where where = Where::current()) {
  return detail::update(address, where, [=](T old) { return old < value ? value : old; });
}
template <AtomicInteger T>
T atomicAnd(T* address, std::type_identity_t<T> value, Where where = Where::current()) {
  return detail::update(address, where, [=](T old) { return old & value; });
}
template <AtomicInteger T>
T atomicOr(T* address, std::type_identity_t<T> value, Where where = Where::current()) {
  return detail::update(address, where, [=](T old) { return old | value; });
}
template <AtomicInteger T>
T atomicXor(T* address, std::type_identity_t<T> value, Where where = Where::current()) {
  return detail::update(address, where, [=](T old) { return old ^ value; });
}
template <class T>
T atomicExch(T* address, std::type_identity_t<T> value, Where where = Where::current()) {
  return detail::update(address, where, [=](T) { return value; });
}
template <AtomicInteger T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> desired,
            Where where = Where::current()) {
  return detail::update(address, where, [=](T old) { return old == expected ? desired : old; });
}
inline unsigned atomicInc(unsigned* address, unsigned limit, Where where = Where::current()) {
  return detail::update(address, where, [=](unsigned old) { return old >= limit ? 0u : old + 1; });
}

inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }

// ---- the host side ----------------------------------------------------------------------------

/// What every thread of a grid calls: a kernel with its arguments.
struct Program {
  const void* kernel;  ///< its address, for messages
  void (*call)(const void* arguments);
  const void* arguments;
};

/// Runs grids of one shape beside each other, one of each program, before it returns; throws EmuError
/// where the kernel is at fault.
void run_grids(const LaunchShape& shape, std::span<const Program> programs);

template <class... Parameters, class... Arguments>
UNTRACED void launch(void (*kernel)(Parameters...), const LaunchShape& shape,
                     Arguments... arguments) {
  const auto thread = [=]() UNTRACED { kernel(static_cast<Parameters>(arguments)...); };
  using Thread = decltype(thread);
  const Program program{reinterpret_cast<const void*>(kernel),
                        [](const void* kept) UNTRACED { (*static_cast<const Thread*>(kept))(); },
                        &thread};
  run_grids(shape, {&program, 1});
  if (LaunchLog* log = shape.stream.log; log != nullptr)
    log->add(shape.grid.x, shape.block.x, shape.shared_bytes, shape.stream.is_aside);
}

/// Does what kernels/platform/cuda.hpp says. The devices are of one memory.
template <class... Parameters, class Arguments>
UNTRACED void launch_on_devices(void (*kernel)(Parameters...), LaunchShape shape,
                                std::span<const DeviceShare> shares,
                                const Arguments& arguments_of) {
  struct Thread {
    void (*kernel)(Parameters...);
    std::tuple<Parameters...> arguments;
  };
  std::vector<Thread> threads;
  std::vector<Program> programs;
  for (unsigned rank = 0; rank < shares.size(); ++rank)
    threads.push_back({kernel, arguments_of(rank)});
  for (const Thread& thread : threads)
    programs.push_back({reinterpret_cast<const void*>(kernel),
                        [](const void* kept) UNTRACED {
                          const auto* const of = static_cast<const Thread*>(kept);
                          std::apply(of->kernel, of->arguments);
                        },
                        &thread});
  run_grids(shape, programs);
  if (LaunchLog* log = shares.front().stream.log; log != nullptr)
    log->add(shape.grid.x, shape.block.x, shape.shared_bytes, shape.stream.is_aside);
}

inline void copy_to_host(void* destination, const void* source, std::size_t bytes, const Stream&) {
  std::memcpy(destination, source, bytes);
}

}  // namespace reduce_bench::BACKEND
