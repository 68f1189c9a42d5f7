// The emulator: what CUDA promises holds under every seed, and what it does not promise shows under
// some.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/platform/platform.hpp"

namespace reduce_bench::emu {
namespace {

constexpr unsigned kSeeds = 50;
constexpr unsigned kAll = 0xffffffffu;

class Emu : public testing::Test {
 protected:
  void SetUp() override { reseed(1); }
  void TearDown() override { settings() = Settings{}; }
};

/// The message with which the emulator refuses the kernel; empty where it does not.
template <class... Parameters, class... Arguments>
std::string fault_of(void (*kernel)(Parameters...), const LaunchShape& shape,
                     Arguments... arguments) {
  try {
    launch(kernel, shape, arguments...);
  } catch (const EmuError& error) {
    return error.what();
  }
  return "";
}

template <class Run>
void under_every_seed(Run&& run) {
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    reseed(seed);
    run();
  }
}

/// Seeds under which `run` returns false.
template <class Run>
unsigned failing_seeds(Run&& run) {
  unsigned failing = 0;
  under_every_seed([&] { failing += !run(); });
  return failing;
}

std::string at_line(unsigned line) { return std::string(__FILE__) + ":" + std::to_string(line); }

#define EXPECT_CONTAINS(whole, part) EXPECT_PRED2(contains, whole, part)
bool contains(const std::string& whole, const std::string& part) {
  return whole.find(part) != std::string::npos;
}

std::vector<unsigned> numbers(std::size_t n) {
  std::vector<unsigned> values(n);
  std::iota(values.begin(), values.end(), 1u);
  return values;
}

// ---- indices and limits -----------------------------------------------------------------------

__global__ void count_visits(int* visits) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  EXPECT_EQ(detail::lane(), thread % 32);
  ++visits[block * blockDim.x * blockDim.y * blockDim.z + thread];
}

TEST_F(Emu, EveryThreadOfEveryBlockRunsOnce) {
  const dim3 grid{3, 2, 5}, block{7, 3, 2};
  std::vector<int> visits(3 * 2 * 5 * 7 * 3 * 2);
  launch(count_visits, {grid, block, 0, {}}, visits.data());
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
}

__global__ void nothing() {}

TEST_F(Emu, LaunchesBeyondALimitAreRefused) {
  const std::size_t most = settings().device.max_shared_bytes_per_block;
  EXPECT_EQ(fault_of(nothing, {1, 1024, most, {}}), "");
  EXPECT_CONTAINS(fault_of(nothing, {1, 1025, 0, {}}), "1025 x 1 x 1 threads");
  EXPECT_CONTAINS(fault_of(nothing, {1, {32, 33}, 0, {}}), "32 x 33 x 1 threads");
  EXPECT_CONTAINS(fault_of(nothing, {1, {1, 1, 65}, 0, {}}), "1 x 1 x 65 threads");
  EXPECT_CONTAINS(fault_of(nothing, {1, 0, 0, {}}), "invalid configuration");
  EXPECT_CONTAINS(fault_of(nothing, {0, 1, 0, {}}), "a grid of 0 x 1 x 1");
  EXPECT_CONTAINS(fault_of(nothing, {{1, 65536}, 1, 0, {}}), "a grid of 1 x 65536 x 1");
  EXPECT_CONTAINS(fault_of(nothing, {1, 1, most + 1, {}}), std::to_string(most + 1) + " bytes");
  EXPECT_EQ(fault_of(nothing, {.grid = 4, .shared_bytes = 0, .cluster = 2}), "");
  EXPECT_CONTAINS(fault_of(nothing, {.grid = 5, .shared_bytes = 0, .cluster = 2}), "clusters of 2");
  EXPECT_CONTAINS(fault_of(nothing, {.grid = 8, .shared_bytes = 0, .cluster = 4}), "clusters of 4");
  EXPECT_CONTAINS(fault_of(nothing, {.grid = 4, .shared_bytes = 0, .cluster = 0}), "clusters of 0");
}

TEST_F(Emu, TheLogRecordsTheFirstLaunch) {
  LaunchLog log;
  launch(nothing, {3, 64, 16, {nullptr, &log}});
  launch(nothing, {1, 32, 0, {nullptr, &log}});
  EXPECT_EQ(log.kernels, 2u);
  EXPECT_EQ(log.grid, 3u);
  EXPECT_EQ(log.block, 64u);
  EXPECT_EQ(log.shared_bytes, 16u);
}

TEST_F(Emu, ALaunchAsideIsRecordedWhereThereIsNoOther) {
  LaunchLog log;
  const Stream stream{nullptr, &log};
  launch(nothing, {2, 32, 0, stream.aside()});
  launch(nothing, {4, 128, 0, stream.aside()});
  EXPECT_EQ(log.grid, 4u);
  launch(nothing, {3, 64, 16, stream});
  EXPECT_EQ(log.grid, 3u);
  launch(nothing, {256, 128, 0, stream.aside()});
  EXPECT_EQ(log.grid, 3u);
  EXPECT_EQ(log.block, 64u);
  EXPECT_EQ(log.kernels, 4u);
}

__global__ void launch_nothing() { launch(nothing, {1, 1, 0, {}}); }

TEST_F(Emu, KernelsDoNotLaunchKernels) {
  EXPECT_CONTAINS(fault_of(launch_nothing, {1, 1, 0, {}}), "launch from the host");
  EXPECT_EQ(fault_of(nothing, {1, 1, 0, {}}), "");
}

// ---- shared memory and the block barrier ------------------------------------------------------

enum class Between { kBarrier, kWarpBarrier, kNothing };

template <Between between>
__global__ void tree(const unsigned* input, unsigned* output) {
  unsigned* partial = dynamic_shared<unsigned>();
  const unsigned t = threadIdx.x;
  partial[t] = input[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) partial[t] += partial[t + s];
    if constexpr (between == Between::kBarrier) __syncthreads();
    if constexpr (between == Between::kWarpBarrier) __syncwarp();
  }
  if (t == 0) output[blockIdx.x] = partial[0];
}

template <Between between>
bool tree_is_right(unsigned block) {
  constexpr unsigned kBlocks = 9;
  const std::vector<unsigned> input = numbers(kBlocks * block);
  std::vector<unsigned> output(kBlocks), expected(kBlocks);
  for (unsigned i = 0; i < input.size(); ++i) expected[i / block] += input[i];
  launch(tree<between>, {kBlocks, block, block * sizeof(int), {}}, input.data(), output.data());
  return output == expected;
}

TEST_F(Emu, BlockReductionIsRightUnderEverySeed) {
  for (unsigned block : {1u, 16u, 32u, 128u, 512u})
    EXPECT_EQ(failing_seeds([&] { return tree_is_right<Between::kBarrier>(block); }), 0u) << block;
}

TEST_F(Emu, MissingBlockBarrierShows) {
  EXPECT_GT(failing_seeds([] { return tree_is_right<Between::kNothing>(128); }), kSeeds / 4);
}

TEST_F(Emu, WarpBarrierInPlaceOfBlockBarrierShows) {
  EXPECT_GT(failing_seeds([] { return tree_is_right<Between::kWarpBarrier>(128); }), kSeeds / 4);
  // Within one warp it is enough.
  EXPECT_EQ(failing_seeds([] { return tree_is_right<Between::kWarpBarrier>(32); }), 0u);
}

template <bool synchronised>
__global__ void warp_tail(const unsigned* input, unsigned* output) {
  volatile unsigned* partial = dynamic_shared<unsigned>();
  const unsigned t = threadIdx.x;
  partial[t] = input[t];
  partial[t + 32] = 0;
  if constexpr (synchronised) __syncwarp();
  for (unsigned s = 16; s > 0; s /= 2) {
    const unsigned sum = partial[t] + partial[t + s];
    if constexpr (synchronised) __syncwarp();
    partial[t] = sum;
    if constexpr (synchronised) __syncwarp();
  }
  if (t == 0) *output = partial[0];
}

template <bool synchronised>
bool warp_tail_is_right() {
  const std::vector<unsigned> input = numbers(32);
  unsigned output = 0;
  launch(warp_tail<synchronised>, {1, 32, 64 * sizeof(int), {}}, input.data(), &output);
  return output == 32 * 33 / 2;
}

TEST_F(Emu, WarpSynchronousCodeNeedsWarpBarriers) {
  EXPECT_EQ(failing_seeds(warp_tail_is_right<true>), 0u);
  EXPECT_GT(failing_seeds(warp_tail_is_right<false>), kSeeds / 4);
}

__global__ void voting_barriers(int* wrong) {
  const int t = static_cast<int>(threadIdx.x), n = static_cast<int>(blockDim.x);
  for (int round = 0; round < 20; ++round) {
    if (__syncthreads_count(t < round) != std::min(round, n)) ++*wrong;
    if (__syncthreads_or(t == 7 && round % 2 == 0) != (round % 2 == 0)) ++*wrong;
    if (__syncthreads_and(t != 7 || round % 2 == 0) != (round % 2 == 0)) ++*wrong;
    if (__syncthreads_and(2) != 1 || __syncthreads_or(0) != 0) ++*wrong;
  }
}

TEST_F(Emu, VotingBarriers) {
  int wrong = 0;
  under_every_seed([&] { launch(voting_barriers, {3, 72, 0, {}}, &wrong); });
  EXPECT_EQ(wrong, 0);
}

__global__ void see_poison(int* seen) {
  unsigned char* bytes = dynamic_shared<unsigned char>();
  if (threadIdx.x == 0) {
    for (unsigned i = 0; i < 100; ++i) seen[bytes[i]]++;
    for (unsigned i = 0; i < 100; ++i) bytes[i] = 1;
  }
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes) % 16, 0u);
}

TEST_F(Emu, SharedMemoryOfEveryBlockIsPoisoned) {
  bool low = false, high = false;
  under_every_seed([&] {
    std::vector<int> seen(256);
    launch(see_poison, {40, 32, 100, {}}, seen.data());
    EXPECT_EQ(std::max(seen[0xcb], seen[0x7b]), 40 * 100);
    low = low || seen[0xcb] > 0;
    high = high || seen[0x7b] > 0;
  });
  EXPECT_TRUE(low && high) << "both poisons are needed: one is neutral for min, the other for max";
}

unsigned first_line, second_line;  // where the kernel below waits

__global__ void diverge() {
  __syncthreads();
  if (blockIdx.x != 3) return;
  if (threadIdx.x < 32) {
    first_line = __LINE__ + 1;
    __syncthreads();
  } else {
    second_line = __LINE__ + 1;
    __syncthreads();
  }
}

TEST_F(Emu, DivergentBarrierNamesBlockThreadsAndLines) {
  under_every_seed([] {
    const std::string fault = fault_of(diverge, {5, 64, 0, {}});
    EXPECT_CONTAINS(fault, "divergent barrier in block 3: threads 0-31 at " + at_line(first_line));
    EXPECT_CONTAINS(fault, ", threads 32-63 at " + at_line(second_line));
  });
}

__global__ void return_early() {
  if (threadIdx.x == 3 || threadIdx.x >= 32) return;
  first_line = __LINE__ + 1;
  __syncthreads();
}

TEST_F(Emu, ExitedThreadsAreMissedAtTheBarrier) {
  under_every_seed([] {
    const std::string fault = fault_of(return_early, {{2, 2}, 64, 0, {}});
    EXPECT_CONTAINS(fault, "divergent barrier in block (");
    EXPECT_CONTAINS(fault, "threads 0-2,4-31 at " + at_line(first_line));
    EXPECT_CONTAINS(fault, "threads 3,32-63 exited");
  });
}

// ---- warp collectives -------------------------------------------------------------------------

__global__ void shuffle_whole_warp(int* wrong) {
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t - lane;
  const auto expect = [&](int is, int expected) { *wrong += is != expected; };
  expect(__shfl_sync(kAll, t, 5), warp + 5);
  expect(__shfl_sync(kAll, t, lane + 1), warp + (lane + 1) % 32);
  expect(__shfl_sync(kAll, t, 3, 8), warp + lane / 8 * 8 + 3);
  expect(__shfl_sync(kAll, t, 11, 8), warp + lane / 8 * 8 + 3);
  expect(__shfl_down_sync(kAll, t, 3), lane < 29 ? t + 3 : t);
  expect(__shfl_down_sync(kAll, t, 3, 16), lane % 16 < 13 ? t + 3 : t);
  expect(__shfl_up_sync(kAll, t, 3), lane >= 3 ? t - 3 : t);
  expect(__shfl_up_sync(kAll, t, 3, 4), lane % 4 == 3 ? t - 3 : t);
  expect(__shfl_xor_sync(kAll, t, 17), warp + (lane ^ 17));
  expect(__shfl_xor_sync(kAll, t, 5, 4), (lane ^ 5) / 4 <= lane / 4 ? warp + (lane ^ 5) : t);
  *wrong += __shfl_xor_sync(kAll, 0.5 * t, 1) != 0.5 * (t ^ 1);
  *wrong += __shfl_down_sync(kAll, std::int64_t{t} << 40, 16) !=
            std::int64_t{lane < 16 ? t + 16 : t} << 40;
}

TEST_F(Emu, ShufflesOfTheWholeWarp) {
  int wrong = 0;
  under_every_seed([&] { launch(shuffle_whole_warp, {2, 96, 0, {}}, &wrong); });
  EXPECT_EQ(wrong, 0);
}

/// The halves of a warp run different numbers of different collectives at the same time.
__global__ void shuffle_halves(int* sums, unsigned* votes) {
  const unsigned lane = threadIdx.x;
  int sum = static_cast<int>(lane);
  if (lane < 16) {
    for (int s = 8; s > 0; s /= 2) sum += __shfl_down_sync(0x0000ffffu, sum, s, 16);
    votes[lane] = __ballot_sync(0x0000ffffu, lane % 2 == 0);
  } else {
    for (int round = 0; round < 3; ++round) votes[lane] = __ballot_sync(0xffff0000u, lane % 3 == 0);
    for (int s = 8; s > 0; s /= 2) sum += __shfl_xor_sync(0xffff0000u, sum, s);
  }
  sums[lane] = sum;
}

TEST_F(Emu, HalvesOfAWarpMeetApart) {
  under_every_seed([] {
    std::vector<int> sums(32);
    std::vector<unsigned> votes(32);
    launch(shuffle_halves, {1, 32, 0, {}}, sums.data(), votes.data());
    EXPECT_EQ(sums[0], 120);
    for (unsigned lane = 0; lane < 16; ++lane) EXPECT_EQ(votes[lane], 0x5555u);
    for (unsigned lane = 16; lane < 32; ++lane) {
      EXPECT_EQ(sums[lane], 376);
      EXPECT_EQ(votes[lane], 0x49240000u);
    }
  });
}

/// The same call site, reached by both halves with their own masks and different counts.
__global__ void shuffle_at_one_site(int* sums) {
  const unsigned lane = threadIdx.x;
  const unsigned mask = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  int sum = 0;
  for (unsigned round = 0; round < (lane < 16 ? 3u : 9u); ++round)
    sum += __shfl_sync(mask, static_cast<int>(lane + round), 15, 16);
  sums[lane] = sum;
}

TEST_F(Emu, MasksTellMeetingsAtOneSiteApart) {
  under_every_seed([] {
    std::vector<int> sums(32), expected(32, 3 * 15 + 3);
    std::fill(expected.begin() + 16, expected.end(), 9 * 31 + 36);
    launch(shuffle_at_one_site, {1, 32, 0, {}}, sums.data());
    EXPECT_EQ(sums, expected);
  });
}

__global__ void shuffle_from_absent(unsigned* received) {
  if (threadIdx.x < 8) received[threadIdx.x] = __shfl_down_sync(0xffu, threadIdx.x, 4);
}

TEST_F(Emu, ShuffleFromAnAbsentLaneIsPoison) {
  std::set<unsigned> poisons;
  under_every_seed([&] {
    std::vector<unsigned> received(8);
    launch(shuffle_from_absent, {1, 32, 0, {}}, received.data());
    for (unsigned lane = 0; lane < 4; ++lane) EXPECT_EQ(received[lane], lane + 4);
    poisons.insert(received.begin() + 4, received.end());
  });
  EXPECT_EQ(poisons, (std::set<unsigned>{0xcbcbcbcbu, 0x7b7b7b7bu}));
}

__global__ void vote(int* wrong) {
  const unsigned lane = threadIdx.x % 32;
  const auto expect = [&](auto is, decltype(is) expected) { *wrong += is != expected; };
  expect(__ballot_sync(kAll, lane % 4 == 1), 0x22222222u);
  expect(__any_sync(kAll, lane == 9), 1);
  expect(__any_sync(kAll, 0), 0);
  expect(__all_sync(kAll, 4), 1);
  expect(__all_sync(kAll, lane != 9), 0);
  expect(__match_any_sync(kAll, lane % 8), 0x01010101u << lane % 8);
  expect(__match_any_sync(kAll, lane < 4 ? 1.0 : 2.0), lane < 4 ? 0xfu : 0xfffffff0u);
  expect(__reduce_add_sync(kAll, -static_cast<int>(lane)), -496);
  expect(__reduce_add_sync(kAll, 0x10000000u + lane), 496u);  // wraps: 32 * 2^28 is 2^33
  expect(__reduce_min_sync(kAll, static_cast<int>(lane) - 20), -20);
  expect(__reduce_max_sync(kAll, static_cast<int>(lane) - 40), -9);
  expect(__reduce_max_sync(kAll, lane ^ 0x80000000u), 0x8000001fu);
  expect(__reduce_or_sync(kAll, 1u << lane / 2), 0xffffu);
  if (lane >= 4 && lane < 8) {
    expect(__all_sync(0xf0u, lane >= 4), 1);
    expect(__any_sync(0xf0u, lane < 4), 0);
    expect(__match_any_sync(0xf0u, lane / 2), lane < 6 ? 0x30u : 0xc0u);
    expect(__reduce_min_sync(0xf0u, lane), 4u);
    expect(__reduce_add_sync(0xf0u, lane), 22u);
    expect(__reduce_or_sync(0xf0u, 1u << lane), 0xf0u);
  }
  __syncwarp(__activemask());
}

TEST_F(Emu, VotesMatchesAndWarpReductions) {
  int wrong = 0;
  under_every_seed([&] { launch(vote, {2, 64, 0, {}}, &wrong); });
  EXPECT_EQ(wrong, 0);
}

__global__ void call_without_being_named() {
  if (threadIdx.x == 37) {
    first_line = __LINE__ + 1;
    __syncwarp(0xfu);
  }
}
__global__ void name_a_lane_that_exits() {
  if (threadIdx.x == 40) return;
  first_line = __LINE__ + 1;
  __syncwarp();
}
__global__ void name_a_lane_beyond_the_block() {
  if (threadIdx.x >= 32) {
    first_line = __LINE__ + 1;
    __ballot_sync(kAll, 1);
  }
}

TEST_F(Emu, MasksMustNameTheCallerAndOnlyPresentLanes) {
  under_every_seed([] {
    std::string fault = fault_of(call_without_being_named, {1, 64, 0, {}});
    EXPECT_CONTAINS(fault, at_line(first_line));
    EXPECT_CONTAINS(fault, "mask 0xf does not name lane 5");
    fault = fault_of(name_a_lane_that_exits, {1, 64, 0, {}});
    EXPECT_CONTAINS(fault, at_line(first_line));
    EXPECT_CONTAINS(fault, "names lane 8 (thread 40), which has exited");
    fault = fault_of(name_a_lane_beyond_the_block, {1, 48, 0, {}});
    EXPECT_CONTAINS(fault, at_line(first_line));
    EXPECT_CONTAINS(fault, "names lane 16 (thread 48), which does not exist");
  });
}

__global__ void meet_at_two_places() {
  if (threadIdx.x < 16) {
    first_line = __LINE__ + 1;
    __syncwarp();
  } else {
    second_line = __LINE__ + 1;
    __syncwarp();
  }
}
__global__ void meet_and_synchronise() {
  if (threadIdx.x < 16) {
    first_line = __LINE__ + 1;
    __syncwarp();
  } else {
    second_line = __LINE__ + 1;
    __syncthreads();
  }
}

TEST_F(Emu, DeadlockNamesThreadsAndLines) {
  under_every_seed([] {
    std::string fault = fault_of(meet_at_two_places, {1, 32, 0, {}});
    EXPECT_CONTAINS(fault,
                    "deadlock in block 0: threads 0-15 at warp collective " + at_line(first_line));
    EXPECT_CONTAINS(fault, "threads 16-31 at warp collective " + at_line(second_line));
    EXPECT_CONTAINS(fault, "mask 0xffffffff");
    fault = fault_of(meet_and_synchronise, {1, 32, 0, {}});
    EXPECT_CONTAINS(fault,
                    "deadlock in block 0: threads 0-15 at warp collective " + at_line(first_line));
    EXPECT_CONTAINS(fault, "threads 16-31 at " + at_line(second_line));
  });
}

// ---- atomics ----------------------------------------------------------------------------------

__global__ void every_atomic(int* i, unsigned* u, unsigned long long* w, float* f, double* d) {
  const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const unsigned bit = 1u << t % 32;
  atomicAdd(&i[0], t);
  atomicMin(&i[1], 5 - t);
  atomicMax(&i[2], t - 5);
  atomicAnd(&u[0], ~(t % 32 < 8 ? bit : 0u));
  atomicOr(&u[1], bit & 0xff00u);
  atomicXor(&u[2], bit);
  atomicInc(&u[3], 99);
  for (unsigned seen = atomicAdd(&u[4], 0u);;) {  // maximum of a hash, by compare and swap
    const unsigned mine = static_cast<unsigned>(t) * 2654435761u;
    if (seen >= mine) break;
    const unsigned before = atomicCAS(&u[4], seen, mine);
    if (before == seen) break;
    seen = before;
  }
  atomicAdd(&w[0], 1ull << 33);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
  if (atomicExch(&i[3], t) == -1) atomicAdd(&i[4], 1);
}

TEST_F(Emu, Atomics) {
  under_every_seed([] {
    constexpr int kThreads = 3 * 96;
    std::vector<int> i{0, 1000, -1000, -1, 0};
    std::vector<unsigned> u{0xffffffffu, 0, 0, 0, 0};
    std::vector<unsigned long long> w{0};
    float f = 0;
    double d = 0;
    launch(every_atomic, {3, 96, 0, {}}, i.data(), u.data(), w.data(), &f, &d);
    EXPECT_EQ(i[0], kThreads * (kThreads - 1) / 2);
    EXPECT_EQ(i[1], 5 - (kThreads - 1));
    EXPECT_EQ(i[2], kThreads - 1 - 5);
    EXPECT_EQ(i[4], 1) << "exactly one thread finds the first value";
    EXPECT_EQ(u[0], 0xffffff00u);
    EXPECT_EQ(u[1], 0xff00u);
    EXPECT_EQ(u[2], kThreads / 32 % 2 == 0 ? 0u : 0xffffffffu);
    EXPECT_EQ(u[3], kThreads % 100u);
    unsigned largest = 0;
    for (unsigned t = 0; t < kThreads; ++t) largest = std::max(largest, t * 2654435761u);
    EXPECT_EQ(u[4], largest);
    EXPECT_EQ(w[0], kThreads * (1ull << 33));
    EXPECT_EQ(f, 0.5f * kThreads);
    EXPECT_EQ(d, 0.25 * kThreads);
  });
}

/// Adds to a float by compare and swap; `atomic` false stores without comparing.
template <bool atomic>
__global__ void add_by_hand(unsigned* bits) {
  for (;;) {
    const unsigned seen = *static_cast<volatile unsigned*>(bits);
    const unsigned sum = __float_as_uint(__uint_as_float(seen) + 1);
    yield_point();
    if constexpr (!atomic) {
      *bits = sum;
      return;
    }
    if (atomicCAS(bits, seen, sum) == seen) return;
  }
}

template <bool atomic>
bool nothing_is_lost() {
  unsigned bits = __float_as_uint(0);
  launch(add_by_hand<atomic>, {4, 64, 0, {}}, &bits);
  return __uint_as_float(bits) == 4 * 64;
}

TEST_F(Emu, UpdatesAreLostOnlyWhereTheyAreNotAtomic) {
  EXPECT_EQ(failing_seeds(nothing_is_lost<true>), 0u);
  EXPECT_GT(failing_seeds(nothing_is_lost<false>), kSeeds / 4);
}

__global__ void last_block_sums(const unsigned* input, unsigned* partials, unsigned* ticket,
                                unsigned* output) {
  struct Shared {
    unsigned sum;
    bool last;
  };
  Shared& shared = *dynamic_shared<Shared>();
  if (threadIdx.x == 0) shared.sum = 0;
  __syncthreads();
  atomicAdd(&shared.sum, input[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partials[blockIdx.x] = shared.sum;
    __threadfence();
    shared.last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!shared.last || threadIdx.x != 0) return;
  *output = std::accumulate(partials, partials + gridDim.x, 0u);
}

TEST_F(Emu, LastBlockSumsThePartialsOfAll) {
  constexpr unsigned kBlocks = 37, kThreads = 48;
  const std::vector<unsigned> input = numbers(kBlocks * kThreads);
  unsigned ticket = 0;
  under_every_seed([&] {
    std::vector<unsigned> partials(kBlocks, 1'000'000u);
    unsigned output = 0;
    launch(last_block_sums, {kBlocks, kThreads, 8, {}}, input.data(), partials.data(), &ticket,
           &output);
    EXPECT_EQ(output, std::accumulate(input.begin(), input.end(), 0u));
    EXPECT_EQ(ticket, 0u);
  });
}

// ---- blocks that wait for blocks --------------------------------------------------------------

enum class Polling { kAtomic, kVolatile, kWarpVote, kBlockVote };

/// Running sum over blocks: each waits until the block before it (`step` -1) or after it (+1) has
/// published its sum.
template <Polling polling>
__global__ void chain(int* sums, unsigned* ready, int step) {
  const int neighbour = static_cast<int>(blockIdx.x) + step;
  const bool first = neighbour < 0 || neighbour >= static_cast<int>(gridDim.x);
  if (!first) {
    volatile unsigned* flag = &ready[neighbour];
    if constexpr (polling == Polling::kAtomic) {
      if (threadIdx.x == 0)
        while (atomicAdd(&ready[neighbour], 0u) == 0) continue;
    } else if constexpr (polling == Polling::kVolatile) {
      while (*flag == 0) __nanosleep(20);
    } else if constexpr (polling == Polling::kWarpVote) {
      if (threadIdx.x < 32)
        while (__any_sync(kAll, *flag == 0)) continue;
    } else {
      while (__syncthreads_or(*flag == 0)) continue;
    }
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  sums[blockIdx.x] = (first ? 0 : sums[neighbour]) + static_cast<int>(blockIdx.x) + 1;
  __threadfence();
  atomicExch(&ready[blockIdx.x], 1u);
}

template <Polling polling>
void expect_chains_end(unsigned blocks, unsigned threads) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    reseed(seed);
    for (int step : {-1, +1}) {
      std::vector<int> sums(blocks);
      std::vector<unsigned> ready(blocks);
      launch(chain<polling>, {blocks, threads, 0, {}}, sums.data(), ready.data(), step);
      EXPECT_EQ(sums[step < 0 ? blocks - 1 : 0], static_cast<int>(blocks * (blocks + 1) / 2));
    }
  }
}

TEST_F(Emu, BlocksMayWaitForEarlierAndLaterBlocks) {
  expect_chains_end<Polling::kAtomic>(100, 64);
  expect_chains_end<Polling::kVolatile>(40, 64);
}

TEST_F(Emu, BlocksMayPollWithVotes) {
  expect_chains_end<Polling::kWarpVote>(20, 64);
  expect_chains_end<Polling::kBlockVote>(12, 64);
}

/// Every thread passes its number to the same thread of the cluster's other block, twice.
template <bool kBefore, bool kBetween, bool kAfter>
__global__ void swap_in_cluster(unsigned* received) {
  unsigned* own = dynamic_shared<unsigned>();
  const unsigned thread = threadIdx.x, other = 1 - cluster_rank();
  const auto swap = [&](unsigned number) {
    own[thread] = number;
    if constexpr (kBefore) cluster_sync();
    const unsigned seen = cluster_shared(own, other)[thread];
    if constexpr (kBetween) cluster_sync();
    return seen;
  };
  const unsigned first = swap(blockIdx.x * blockDim.x + thread);
  own[thread] = first;
  if constexpr (kBefore) cluster_sync();
  received[blockIdx.x * blockDim.x + thread] = *cluster_shared(own + thread, other);
  if constexpr (kAfter) cluster_sync();
}

/// A block gets its own numbers back.
template <bool kBefore, bool kBetween, bool kAfter>
bool swaps() {
  constexpr unsigned kBlocks = 14, kThreads = 64;
  std::vector<unsigned> received(kBlocks * kThreads), expected(received.size());
  std::iota(expected.begin(), expected.end(), 0u);
  const LaunchShape shape{.grid = kBlocks,
                          .block = kThreads,
                          .shared_bytes = kThreads * sizeof(unsigned),
                          .cluster = 2};
  const auto kernel = swap_in_cluster<kBefore, kBetween, kAfter>;
  return fault_of(kernel, shape, received.data()).empty() && received == expected;
}

TEST_F(Emu, ClustersSeeEachOthersSharedMemoryBetweenTheirBarriers) {
  for (unsigned limit : {1u, 4u}) {
    settings().resident_blocks = limit;
    EXPECT_EQ(failing_seeds(swaps<true, true, true>), 0u);
    EXPECT_GT(failing_seeds(swaps<false, true, true>), 0u) << "the other may not have begun";
    EXPECT_GT(failing_seeds(swaps<true, false, true>), 0u) << "the other may not have read yet";
    EXPECT_GT(failing_seeds(swaps<true, true, false>), 0u) << "the other may have ended";
  }
}

struct alignas(16) FourWords {
  unsigned words[4];
};
__global__ void load_vector(const unsigned* words, unsigned* found) {
  first_line = __LINE__ + 1;
  *found = load_ahead(reinterpret_cast<const FourWords*>(words)).words[3];
}

TEST_F(Emu, LoadsOfVectorsNeedAlignedAddresses) {
  alignas(16) const std::array<unsigned, 8> words{0, 1, 2, 3, 4, 5, 6, 7};
  unsigned found = 0;
  EXPECT_EQ(fault_of(load_vector, {1, 1}, words.data() + 4, &found), "");
  EXPECT_EQ(found, 7u);
  const std::string fault = fault_of(load_vector, {1, 1}, words.data() + 1, &found);
  EXPECT_CONTAINS(fault, "load_ahead at " + at_line(first_line));
  EXPECT_CONTAINS(fault, "is not a multiple of 16");
  EXPECT_EQ(found, 7u);
}

__global__ void wait_for_ever(unsigned* flag) {
  if (threadIdx.x == 5) {
    first_line = __LINE__ + 1;
    while (atomicAdd(flag, 0u) == 0) continue;
  }
  second_line = __LINE__ + 1;
  __syncthreads();
}
__global__ void vote_for_ever(unsigned* flag) {
  volatile unsigned* awaited = flag;
  first_line = __LINE__ + 1;
  while (__any_sync(kAll, *awaited == 0)) continue;
}

TEST_F(Emu, LivelockNamesThreadsAndLines) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    reseed(seed);
    settings().spin_limit = 20'000;
    unsigned flag = 0;
    std::string fault = fault_of(wait_for_ever, {9, 32, 0, {}}, &flag);
    EXPECT_CONTAINS(fault, "livelock");
    EXPECT_CONTAINS(fault, "threads 5 spinning at " + at_line(first_line));
    EXPECT_CONTAINS(fault, "threads 0-4,6-31 at " + at_line(second_line));
    EXPECT_CONTAINS(fault, "and 5 more blocks");
    settings().spin_limit = 500;
    fault = fault_of(vote_for_ever, {1, 32, 0, {}}, &flag);
    EXPECT_CONTAINS(fault, "livelock");
    EXPECT_CONTAINS(fault, at_line(first_line));
  }
}

__global__ void take_the_lock(unsigned* lock, int* count) {
  while (atomicExch(lock, 1u) != 0) continue;
  const int seen = *count;
  yield_point();
  *count = seen + 1;
  atomicExch(lock, 0u);
}

TEST_F(Emu, SpinningWithProgressIsNoLivelock) {
  settings().spin_limit = 5'000;
  under_every_seed([] {
    unsigned lock = 0;
    int count = 0;
    launch(take_the_lock, {6, 64, 0, {}}, &lock, &count);
    EXPECT_EQ(count, 6 * 64);
  });
}

__global__ void count_many(int* count) {
  for (int i = 0; i < 2000; ++i) atomicAdd(count, 1);
}

TEST_F(Emu, ManyAtomicsOfAThreadAreNoLivelock) {
  settings().spin_limit = 1'000;
  under_every_seed([] {
    int count = 0;
    launch(count_many, {2, 32, 0, {}}, &count);
    EXPECT_EQ(count, 2 * 32 * 2000);
  });
}

// ---- order and failure ------------------------------------------------------------------------

__global__ void trace(std::vector<unsigned>* order, int* count) {
  const auto here = [&] { order->push_back(blockIdx.x * blockDim.x + threadIdx.x); };
  here();
  __syncthreads();
  here();
  atomicAdd(count, 1);
  here();
  __syncwarp();
  here();
}

std::vector<unsigned> traced_order() {
  std::vector<unsigned> order;
  int count = 0;
  launch(trace, {12, 64, 0, {}}, &order, &count);
  return order;
}

TEST_F(Emu, TheSeedDecidesTheOrder) {
  std::set<std::vector<unsigned>> orders;
  under_every_seed([&] { orders.insert(traced_order()); });
  EXPECT_EQ(orders.size(), kSeeds);

  reseed(9);
  const auto first = traced_order(), second = traced_order();
  EXPECT_NE(first, second) << "launches of one run interleave differently";
  reseed(9);
  EXPECT_EQ(traced_order(), first);
  EXPECT_EQ(traced_order(), second);

  settings().seed = 8;
  EXPECT_NE(traced_order(), first);
  settings().seed = 9;
  EXPECT_EQ(traced_order(), first) << "a new seed starts the sequence of launches anew";
}

__global__ void run_alone(unsigned* running, unsigned* most) {
  if (threadIdx.x == 0) *most = std::max(*most, ++*running);
  __syncthreads();
  __syncthreads();
  if (threadIdx.x == 0) --*running;
}

TEST_F(Emu, ResidentBlocksAreLimited) {
  for (unsigned limit : {1u, 3u}) {
    settings().resident_blocks = limit;
    unsigned most = 0;
    under_every_seed([&] {
      unsigned running = 0;
      launch(run_alone, {30, 64, 0, {}}, &running, &most);
    });
    EXPECT_EQ(most, limit);
  }
}

int objects = 0;
struct Object {
  Object() { ++objects; }
  ~Object() { --objects; }
};

__global__ void throw_in_one_thread() {
  Object object;
  std::vector<int> owned(1000);
  __syncthreads();
  if (blockIdx.x == 2 && threadIdx.x == 40) throw std::out_of_range("thread 40");
  __syncwarp(threadIdx.x < 32 ? kAll : 1u << threadIdx.x % 32);
  yield_point();
  __syncthreads();
}

TEST_F(Emu, AnExceptionReachesTheCallerAndUnwindsAllThreads) {
  under_every_seed([] {
    try {
      launch(throw_in_one_thread, {8, 64, 0, {}});
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::out_of_range& error) {
      EXPECT_STREQ(error.what(), "thread 40");
    }
    EXPECT_EQ(objects, 0);
    EXPECT_TRUE(tree_is_right<Between::kBarrier>(64));
  });
}

__global__ void diverge_with_objects() {
  Object object;
  std::vector<int> owned(1000);
  if (threadIdx.x != 0) __syncthreads();
}

TEST_F(Emu, AFaultUnwindsAllThreads) {
  under_every_seed([] {
    EXPECT_CONTAINS(fault_of(diverge_with_objects, {3, 64, 0, {}}), "divergent barrier");
    EXPECT_EQ(objects, 0);
    EXPECT_TRUE(tree_is_right<Between::kBarrier>(64));
  });
}

// ---- memory errors ----------------------------------------------------------------------------

#if defined(__SANITIZE_ADDRESS__)
using EmuDeathTest = Emu;

__global__ void write_global(int* values) {
  __syncthreads();
  values[threadIdx.x] = 1;
}
__global__ void write_shared(unsigned beyond) {
  int* values = dynamic_shared<int>();
  __syncthreads();
  values[threadIdx.x + beyond] = 1;
}
__global__ void write_shared_of_none() { *dynamic_shared<char>() = 1; }
__global__ void read_local(unsigned beyond) {
  int values[4] = {};
  int* last = values + 3;
  __syncthreads();
  EXPECT_EQ(*static_cast<volatile int*>(last + beyond), 0);
}

TEST_F(EmuDeathTest, AccessesOutOfBoundsAreCaught) {
  std::vector<int> values(63);
  values.shrink_to_fit();
  EXPECT_DEATH(launch(write_global, {1, 64, 0, {}}, values.data()), "heap-buffer-overflow");
  launch(write_shared, {2, 64, 64 * sizeof(int), {}}, 0u);
  EXPECT_DEATH(launch(write_shared, {2, 64, 64 * sizeof(int), {}}, 1u), "heap-buffer-overflow");
  EXPECT_DEATH(launch(write_shared_of_none, {1, 1, 0, {}}), "null pointer|SEGV");
  launch(read_local, {1, 64, 0, {}}, 0u);
  EXPECT_DEATH(launch(read_local, {1, 64, 0, {}}, 1u), "stack-buffer-overflow");
}
#endif

}  // namespace
}  // namespace reduce_bench::emu
