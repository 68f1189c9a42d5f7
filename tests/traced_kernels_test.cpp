// The race detector on small kernels, each once with what orders its accesses and once without.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "expect_error.hpp"
#include "kernels/platform/platform.hpp"

// The compiler calls it in the constructors of the tests below; no kernel has a virtual function.
extern "C" void __tsan_vptr_update(void**, void*) {}

namespace reduce_bench::traced {
namespace {

constexpr unsigned kThreads = 64;

/// What is reported of the launch; empty where it does not race.
template <class... Parameters, class... Arguments>
std::string race_of(void (*kernel)(Parameters...), const LaunchShape& shape,
                    Arguments... arguments) {
  settings().tracing = Tracing::kRaces;
  reseed(1);
  try {
    launch(kernel, shape, arguments...);
  } catch (const EmuError& error) {
    return error.what();
  }
  return "";
}

#define EXPECT_RACE(race) EXPECT_CONTAINS(race, "race in ")
#define EXPECT_NO_RACE(race) EXPECT_EQ(race, "")

LaunchShape blocks_of(unsigned blocks, unsigned threads = kThreads) {
  return {blocks, threads, threads * sizeof(int), {}};
}

// ---- within a block ---------------------------------------------------------------------------

template <bool kBarrier>
__global__ void reverse(int* results) {
  int* const shared = dynamic_shared<int>();
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (kBarrier) __syncthreads();
  results[blockIdx.x * blockDim.x + threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

TEST(TracedKernels, ABarrierOrdersABlock) {
  std::vector<int> results(3 * kThreads);
  EXPECT_NO_RACE(race_of(reverse<true>, blocks_of(3), results.data()));
  const std::string race = race_of(reverse<false>, blocks_of(3), results.data());
  EXPECT_RACE(race);
  EXPECT_CONTAINS(race, "of shared memory");
  EXPECT_CONTAINS(race, "traced_kernels_test.cpp:44");
  EXPECT_CONTAINS(race, "traced_kernels_test.cpp:46");
}

template <bool kBarrier>
__global__ void shift(int* results) {
  int* const shared = dynamic_shared<int>();
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  const int next = shared[(threadIdx.x + 1) % blockDim.x];
  if (kBarrier) __syncthreads();
  shared[threadIdx.x] = next;
  results[threadIdx.x] = shared[threadIdx.x];
}

TEST(TracedKernels, AReadBeforeAWriteNeedsABarrierToo) {
  std::vector<int> results(kThreads);
  EXPECT_NO_RACE(race_of(shift<true>, blocks_of(1), results.data()));
  EXPECT_RACE(race_of(shift<false>, blocks_of(1), results.data()));
}

__global__ void exchange(unsigned mask, unsigned distance, int* results) {
  int* const shared = dynamic_shared<int>();
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  if ((mask >> threadIdx.x & 1u) != 0) __syncwarp(mask);
  results[threadIdx.x] = shared[threadIdx.x ^ distance];
}

TEST(TracedKernels, AWarpBarrierOrdersItsMaskAlone) {
  std::vector<int> results(kWarpSize);
  const LaunchShape shape = blocks_of(1, kWarpSize);
  EXPECT_NO_RACE(race_of(exchange, shape, kAllLanes, 1u, results.data()));
  EXPECT_NO_RACE(race_of(exchange, shape, kAllLanes, 16u, results.data()));
  EXPECT_RACE(race_of(exchange, shape, 0xffffu, 16u, results.data()));
  EXPECT_RACE(race_of(exchange, shape, 0u, 1u, results.data()));
}

__global__ void shuffled(int* results) {
  int* const shared = dynamic_shared<int>();
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  const int other = __shfl_xor_sync(kAllLanes, shared[threadIdx.x], 1);
  results[threadIdx.x] = other + shared[threadIdx.x ^ 1u];
}

TEST(TracedKernels, AShuffleOrdersNoMemory) {
  std::vector<int> results(kWarpSize);
  EXPECT_RACE(race_of(shuffled, blocks_of(1, kWarpSize), results.data()));
}

// ---- between blocks ---------------------------------------------------------------------------

template <bool kAtomic>
__global__ void add(int* sum) {
  if (kAtomic) atomicAdd(sum, 1);
  else *sum += 1;
}

TEST(TracedKernels, AtomicsDoNotRaceWithEachOther) {
  int sum = 0;
  EXPECT_NO_RACE(race_of(add<true>, blocks_of(4, 1), &sum));
  EXPECT_RACE(race_of(add<false>, blocks_of(4, 1), &sum));
  EXPECT_NO_RACE(race_of(add<false>, blocks_of(1, 1), &sum));
}

__global__ void barrier_of_each_block(int* word) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *word = 1;
  __syncthreads();
  if (blockIdx.x == 1 && threadIdx.x == 1) *word = 2;
}

TEST(TracedKernels, ABarrierDoesNotOrderBlocks) {
  int word = 0;
  EXPECT_RACE(race_of(barrier_of_each_block, blocks_of(2), &word));
}

template <bool kReleases, bool kAcquires>
__global__ void pass_on(int* data, unsigned* flag, int* result) {
  if (blockIdx.x == 0) {
    *data = 5;
    if (kReleases) __threadfence();
    store_volatile(flag, 1u);
  } else {
    while (load_volatile(flag) == 0) wait_hint();
    if (kAcquires) __threadfence();
    *result = *data;
  }
}

TEST(TracedKernels, AFlagNeedsAFenceOnEitherSide) {
  const auto race = [](auto kernel) {
    int data = 0, result = 0;
    unsigned flag = 0;
    return race_of(kernel, blocks_of(2, 1), &data, &flag, &result);
  };
  EXPECT_NO_RACE(race(pass_on<true, true>));
  EXPECT_RACE(race(pass_on<false, true>));
  EXPECT_RACE(race(pass_on<true, false>));
}

enum class Fence { kNone, kBeforeBarrier, kBehindBarrier };

/// The last block to take a ticket adds what all have stored.
template <bool kBarrier, Fence kFence>
__global__ void last_adds(int* parts, unsigned* tickets, int* sum) {
  unsigned* const ticket = dynamic_shared<unsigned>();
  parts[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  if (kFence == Fence::kBeforeBarrier) __threadfence();
  if (kBarrier) __syncthreads();
  if (threadIdx.x == 0) {
    if (kFence == Fence::kBehindBarrier) __threadfence();
    *ticket = atomicAdd(tickets, 1u);
  }
  __syncthreads();
  if (*ticket != gridDim.x - 1 || threadIdx.x != 0) return;
  __threadfence();
  for (unsigned i = 0; i < gridDim.x * blockDim.x; ++i) *sum += parts[i];
}

// A thread releases what it knows at its own fence (PTX ISA, release patterns), so the one that takes
// the ticket needs it behind the barrier.
TEST(TracedKernels, ATicketOrdersWhatABlockDidBeforeAFence) {
  const auto race = [](auto kernel) {
    std::vector<int> parts(5 * kThreads);
    unsigned tickets = 0;
    int sum = 0;
    return race_of(kernel, blocks_of(5), parts.data(), &tickets, &sum);
  };
  EXPECT_NO_RACE(race(last_adds<true, Fence::kBehindBarrier>));
  EXPECT_RACE(race(last_adds<true, Fence::kBeforeBarrier>));
  EXPECT_RACE(race(last_adds<true, Fence::kNone>));
  EXPECT_RACE(race(last_adds<false, Fence::kBehindBarrier>));
}

template <bool kBarrier>
__global__ void read_neighbour(int* results) {
  int* const shared = dynamic_shared<int>();
  cluster_sync();  // both have begun
  shared[threadIdx.x] = static_cast<int>(blockIdx.x);
  if (kBarrier) cluster_sync();
  results[blockIdx.x * blockDim.x + threadIdx.x] =
      cluster_shared(shared, 1 - cluster_rank())[threadIdx.x];
  cluster_sync();  // neither has ended
}

TEST(TracedKernels, AClusterBarrierOrdersItsBlocks) {
  std::vector<int> results(4 * kThreads);
  LaunchShape shape = blocks_of(4);
  shape.cluster = 2;
  EXPECT_NO_RACE(race_of(read_neighbour<true>, shape, results.data()));
  EXPECT_RACE(race_of(read_neighbour<false>, shape, results.data()));
}

template <bool kWaits>
__global__ void add_to_cleared(int* sum) {
  let_next_launch_begin();
  if (kWaits) wait_for_launch_before();
  atomicAdd(sum, 1);
}
__global__ void clear(int* sum) {
  let_next_launch_begin();
  *sum = 0;
}
__global__ void clear_another(int* other) {
  let_next_launch_begin();
  wait_for_launch_before();
  *other = 0;
}

TEST(TracedKernels, AnOverlappingLaunchMustWaitForWhatThoseBeforeTouch) {
  int sum = 0, other = 0;
  LaunchShape overlapping = blocks_of(1, 1);
  overlapping.overlapping = true;
  const auto race = [&](auto kernel, const LaunchShape& shape) {
    launch(clear, blocks_of(1, 1), &sum);
    return race_of(kernel, shape, &sum);
  };
  EXPECT_NO_RACE(race(add_to_cleared<true>, overlapping));
  EXPECT_NO_RACE(race(add_to_cleared<false>, blocks_of(1, 1)));  // which begins after
  const std::string fault = race(add_to_cleared<false>, overlapping);
  EXPECT_RACE(fault);
  EXPECT_CONTAINS(fault, "before it has waited for the launch before, which writes at");
  // The one between may have begun before the first has ended.
  launch(clear, blocks_of(1, 1), &sum);
  launch(clear_another, overlapping, &other);
  EXPECT_RACE(race_of(add_to_cleared<false>, overlapping, &sum));
}

__global__ void do_nothing() { let_next_launch_begin(); }

TEST(TracedKernels, AnOverlappingLaunchMustWaitForThoseBehindIt) {
  // The last launch waits for the one before it, which may end while the first still runs.
  int sum = 0;
  LaunchShape overlapping = blocks_of(1, 1);
  overlapping.overlapping = true;
  launch(clear, blocks_of(1, 1), &sum);
  EXPECT_CONTAINS(race_of(do_nothing, overlapping), "since none of its threads waits");
}

TEST(TracedKernels, ALaunchComesAfterTheLastOne) {
  int sum = 0;
  for (unsigned i = 0; i < 3; ++i) EXPECT_NO_RACE(race_of(add<false>, blocks_of(1, 1), &sum));
}

}  // namespace
}  // namespace reduce_bench::traced
