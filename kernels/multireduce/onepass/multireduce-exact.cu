// onepass/multireduce-exact: the correctly rounded sum of every bucket's floats
//
// Source: this project; that a sum in fixed point is the same in any order is the idea of Collange,
//   Defour, Graillat and Iakymchuk, Numerical Reproducibility for the Parallel Reduction on Multi-
//   and Many-Core Architectures (2015).
// Idea: a value whose exponent lies in a window of 33 is an integer of 57 bits, and so is the sum
//   of the values of a run in a warp, of 64. Each is added to a number of 96 bits that its bucket
//   has in shared memory, in copies as onepass/multireduce's: by two atomics on 32 bits, of which
//   the first returns what to carry, and more where words beyond change. The window is chosen from
//   as many values as a block has threads. Other values go to a number of the bucket in fixed point
//   in global memory, which has room for all exponents and takes the blocks' numbers in the end.
//   Where some of these values lie outside of the window, the numbers in shared memory have room
//   for all exponents, too, in fewer copies. Integers have no order, so each sum is rounded once
//   and has the same bits whatever the order, the launch and the card.
// Fixes: the rounding of every sum on the way, which depends on the order of the atomics; and,
//   against the float sums of onepass/multireduce, loops of compare-and-swap.
// Launch: one block of 1024 threads per SM; a thread for every bucket, which rounds; and a kernel
//   that looks for inputs other than -0, where a sum is zero and has a -0 in it. Each launch may
//   begin while the one before ends.
// Traffic: n labels and n values read, m results written. The blocks' numbers are added by atomics
//   in the L2 cache, and so is, by two, a value outside of the window where hardly any was seen or
//   numbers for all exponents, 40 bytes each, do not fit. On an H200 the L2 cache binds with 2^8
//   buckets, device memory and arithmetic close behind; of values of all exponents an arithmetic
//   unit and the L2 cache: docs/kernels/onepass-multireduce-exact.md
// Preconditions: the buckets' numbers, 12 bytes each, and 16 bytes fit into a block's shared
//   memory; at most 2^31 inputs. The workspace is zero before the first launch, and left so.
// Deviations: none, there is no publication. Sums are rounded to the nearest, of two to the even
//   one; infinities and NaN are summed as IEEE 754 does, the NaN is the quiet one without a sign. A
//   zero is -0 only if the bucket has inputs and all are -0.

#include <algorithm>
#include <string>

#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/fixed_point.hpp"
#include "kernels/shared/instantiate.hpp"
#include "kernels/shared/quads.hpp"
#include "kernels/shared/shuffle.hpp"

namespace reduce_bench::BACKEND::onepass_multireduce_exact {

using Format = FloatFormat<float>;

struct Policy90 {
  /// 16-byte loads of labels in flight per thread, beside as many of values.
  static constexpr unsigned kLoads = 4;
  /// The same where numbers have room for all exponents, which takes more registers.
  static constexpr unsigned kLoadsOfAll = 1;
  /// Copies of such numbers up to which runs are combined: with more, lanes seldom meet.
  static constexpr unsigned kLog2MostCopiesForRuns = 3;
  /// Words in which a warp's values begin up to which runs are combined, once for each word.
  static constexpr int kMostWordsOfRuns = 4;
  /// Exponents of the window above the largest in the sample; the others lie below.
  static constexpr unsigned kAbove = 4;
  /// Values of the sample outside of the window for which numbers have room for all exponents.
  static constexpr int kLeastOutside = 2;
  static constexpr unsigned kRoundBlock = 128;
};
using Policy = ByCapability<Row<90, Policy90>>;

/// The window has kMostShift + 1 exponents. So a value is an integer below 2^56, and the sum of 128
/// of them, a quad of each lane, below 2^63.
inline constexpr unsigned kMostShift = 32;
static_assert(Format::kDigits + kMostShift + 7 == 63);

/// Words of a number in units of the window: of 2^31 values they hold the sum.
inline constexpr unsigned kWindowWords = 3;
static_assert(Format::kDigits + kMostShift + 31 < 32 * kWindowWords - 1);

/// A zero among a bucket's inputs that may be the result, beside SpecialValues.
inline constexpr unsigned kMinusZero = 8;
inline constexpr unsigned kMinusZeroBits = 1u << 31;

/// The numbers of the buckets in global memory, and what of a bucket's inputs is no number.
struct Sums {
  /// One more for carries: a sum of 2^31 values has 308 digits.
  static constexpr unsigned kWords = FixedPoint<float>::kWords + 1;

  std::size_t buckets;
  long long* words;   ///< [word][bucket]; zero between calls
  unsigned* seen;     ///< [bucket] SpecialValues and kMinusZero; zero between calls
  unsigned* is_open;  ///< [bucket] whether the sign of a zero depends on the other inputs
  unsigned* any_open;

  __device__ void add(unsigned word, std::size_t bucket, long long amount) const {
    if (amount == 0) return;
    atomicAdd(reinterpret_cast<unsigned long long*>(&words[word * buckets + bucket]),
              static_cast<unsigned long long>(amount));
  }
  /// Adds a value that is not in the window and not 0.
  __device__ void add_value(Label bucket, float value) const {
    unsigned what = FixedPoint<float>::special_of(value);
    if (detail::bits_to<unsigned>(value) == kMinusZeroBits) what = kMinusZero;
    if (what == 0)
      return FixedPoint<float>::for_words(
          value, [&](unsigned word, long long amount) { add(word, bucket, amount); });
    // Most often it has been seen before.
    if ((*const_cast<volatile unsigned*>(&seen[bucket]) & what) == 0) atomicOr(&seen[bucket], what);
  }
};

/// How many numbers a bucket has in shared memory: those of a window, or those for all exponents.
struct Copies {
  unsigned log2_of_window, log2_of_all;
  bool all_fit;  ///< one for all exponents for every bucket
};

/// Numbers of fixed point, of `kWords` words of 32 bits, in shared memory. Word w of copy c of
/// bucket b lies at ((b * kWords + w) * copies + c).
template <unsigned kWords>
struct Table {
  /// A word of zero: so it seldom crosses its end, where small sums change their sign.
  static constexpr unsigned kMiddle = 1u << 31;

  unsigned* words;
  unsigned buckets, log2_copies;
  unsigned unit;  ///< the position that the numbers' lowest word begins at

  __device__ void clear() const {
    for (unsigned i = threadIdx.x; i < buckets * kWords << log2_copies; i += blockDim.x)
      words[i] = kMiddle;
    __syncthreads();
  }
  /// Adds an amount in units of the number's word `word`.
  __device__ void add(Label bucket, unsigned word, long long amount) const {
    const unsigned copies = 1u << log2_copies;
    unsigned* at = words + ((bucket * kWords + word) << log2_copies) + (threadIdx.x & (copies - 1));
    const auto first = static_cast<unsigned>(amount);
    long long rest = (amount >> 32) + (atomicAdd(at, first) + first < first);
    const auto add_rest = [&] {
      at += copies;
      const unsigned before = atomicAdd(at, static_cast<unsigned>(rest));
      rest = (static_cast<long long>(before) + rest) >> 32;
    };
    add_rest();  // most often not 0, and lanes stay together
    if constexpr (kWords == kWindowWords) {
      if (rest != 0) add_rest();
    } else {
      // Ends before the last word does, which has room for the sum of all inputs.
      while (rest != 0) add_rest();
    }
  }
  /// Adds all copies of all buckets to `sums`.
  __device__ void add_to(const Sums& sums) const {
    __syncthreads();
    const unsigned copies = 1u << log2_copies, shift = unit % 32;
    // Blocks start at different buckets, so that they do not queue for the same ones.
    const auto start = static_cast<unsigned>(std::size_t{buckets} * blockIdx.x / gridDim.x);
    for (unsigned i = threadIdx.x; i < buckets; i += blockDim.x) {
      const unsigned bucket = i + start < buckets ? i + start : i + start - buckets;
      long long carry = 0;
      unsigned below = 0;  // what the shift moves up from the word below
      for (unsigned w = 0; w < kWords; ++w) {
        long long word = carry;
        for (unsigned k = 0; k < copies; ++k)
          word += static_cast<long long>(
                      words[((bucket * kWords + w) << log2_copies) + (threadIdx.x + k) % copies]) -
                  kMiddle;
        if (w + 1 == kWords) {
          sums.add(unit / 32 + w, bucket, word * (1ll << shift) + below);
          break;
        }
        carry = word >> 32;
        const auto shifted = static_cast<unsigned long long>(static_cast<unsigned>(word)) << shift;
        sums.add(unit / 32 + w, bucket,
                 static_cast<long long>(static_cast<unsigned>(shifted)) + below);
        below = static_cast<unsigned>(shifted >> 32);
      }
    }
  }
};

/// Adds values to a table for those of a window, and others to global memory.
struct InWindow {
  static constexpr unsigned kLoads = Policy::kLoads;

  Table<kWindowWords> table;
  Sums sums;
  FloatWindow<float> window;

  __device__ long long amount_of(Label label, float value) const {
    const auto bits = detail::bits_to<unsigned>(value);
    if (window.has(bits)) return window.amount(bits);
    if (bits != 0) sums.add_value(label, value);
    return 0;
  }
  __device__ void put_amount(Label label, long long amount) const {
    if (amount != 0) table.add(label, 0, amount);
  }
  __device__ void put(Label label, float value) const {
    put_amount(label, amount_of(label, value));
  }
  /// Adds the quads of a warp, runs combined before.
  __device__ void put_quads(const Label (&label)[kQuad], const float (&value)[kQuad]) const {
    long long amounts[kQuad];
#pragma unroll
    for (unsigned e = 0; e < kQuad; ++e) amounts[e] = amount_of(label[e], value[e]);
    __syncwarp();  // values outside of the window leave a warp diverged
    BACKEND::put_quads<Sum>(label, amounts, [&](bool present, Label bucket, long long amount) {
      if (present) put_amount(bucket, amount);
    });
  }
};

/// Adds values to a table for all exponents.
struct AllExponents {
  static constexpr unsigned kLoads = Policy::kLoadsOfAll;

  /// What a value adds to its bucket's number.
  struct Part {
    unsigned word;
    long long amount;  ///< in units of the word; 0 of a zero, and of what is no number
  };
  Table<Sums::kWords> table;
  Sums sums;

  __device__ Part part_of(Label label, float value) const {
    const auto bits = detail::bits_to<unsigned>(value);
    const bool is_number = Format::field(bits) != Format::kSpecial && bits << 1 != 0;
    if (!is_number && bits != 0) sums.add_value(label, value);
    const unsigned position = Format::position(bits);
    const long long amount =
        is_number ? static_cast<long long>(Format::digits(bits)) << position % 32 : 0;
    return {.word = position / 32, .amount = Format::is_negative(bits) ? -amount : amount};
  }
  __device__ void put_part(Label label, Part part) const {
    if (part.amount != 0) table.add(label, part.word, part.amount);
  }
  __device__ void put(Label label, float value) const { put_part(label, part_of(label, value)); }
  /// Adds the quads of a warp. In runs, what begins in one word is combined before, but for values
  /// that begin in many.
  __device__ void put_quads(const Label (&label)[kQuad], const float (&value)[kQuad]) const {
    Part part[kQuad];
    unsigned words = 0;  // a bit for every one that a value begins in
#pragma unroll
    for (unsigned e = 0; e < kQuad; ++e) {
      part[e] = part_of(label[e], value[e]);
      words |= 1u << part[e].word;
    }
    __syncwarp();  // values that are no numbers leave a warp diverged
    if (table.log2_copies > Policy::kLog2MostCopiesForRuns ||
        !has_runs(__ballot_sync(kAllLanes, is_alike(label))) ||
        __popc(words = __reduce_or_sync(kAllLanes, words)) > Policy::kMostWordsOfRuns) {
#pragma unroll
      for (unsigned e = 0; e < kQuad; ++e) put_part(label[e], part[e]);
      return;
    }
#pragma unroll 1
    for (unsigned left = words; left != 0; left &= left - 1) {
      const auto word = static_cast<unsigned>(__ffs(static_cast<int>(left))) - 1;
      long long amounts[kQuad];
#pragma unroll
      for (unsigned e = 0; e < kQuad; ++e) amounts[e] = part[e].word == word ? part[e].amount : 0;
      BACKEND::put_quads<Sum>(label, amounts, [&](bool present, Label bucket, long long amount) {
        if (present) put_part(bucket, {word, amount});
      });
    }
  }
};

/// Adds the inputs of the block by `adder`.
template <class Adder>
__device__ void add_inputs(const float* values, const Label* labels, std::size_t n, bool aligned,
                           const Adder& adder) {
  const std::size_t tile = std::size_t{blockDim.x} * Adder::kLoads;  // quads
  const std::size_t tiles = aligned ? n / kQuad / tile : 0;
  for (std::size_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    Vector16<Label> l[Adder::kLoads];
    Vector16<float> v[Adder::kLoads];
#pragma unroll
    for (unsigned k = 0; k < Adder::kLoads; ++k) {
      const std::size_t at = t * tile + k * blockDim.x + threadIdx.x;
      l[k] = load_ahead(reinterpret_cast<const Vector16<Label>*>(labels) + at);
      v[k] = load_ahead(reinterpret_cast<const Vector16<float>*>(values) + at);
    }
#pragma unroll
    for (unsigned k = 0; k < Adder::kLoads; ++k) adder.put_quads(l[k].at, v[k].at);
  }
  for (std::size_t i = tiles * tile * kQuad + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
       i < n; i += std::size_t{gridDim.x} * blockDim.x)
    adder.put(labels[i], values[i]);
}

__global__ void __launch_bounds__(1024)
    kernel(const float* values, const Label* labels, std::size_t n, bool aligned, Copies copies,
           Sums sums) {
  let_next_launch_begin();
  unsigned* largest = held_shared(dynamic_shared<unsigned>());
  if (blockIdx.x == 0 && threadIdx.x == 0) *sums.any_open = 0;
  // The window follows from as many values as the block has threads, the same for every block.
  const float sample = values[n * threadIdx.x / blockDim.x];
  const auto window =
      FloatWindow<float>::around(largest_field(sample, largest), Policy::kAbove, kMostShift);
  const auto bits = detail::bits_to<unsigned>(sample);
  const bool outside =
      !window.has(bits) && Format::field(bits) != Format::kSpecial && bits << 1 != 0;
  unsigned* words = largest + 4;
  const auto buckets = static_cast<unsigned>(sums.buckets);
  if (copies.all_fit && __syncthreads_count(outside) >= Policy::kLeastOutside) {
    const Table<Sums::kWords> table{words, buckets, copies.log2_of_all, 0};
    table.clear();
    add_inputs(values, labels, n, aligned, AllExponents{table, sums});
    table.add_to(sums);
  } else {
    const Table<kWindowWords> table{words, buckets, copies.log2_of_window, window.unit()};
    table.clear();
    add_inputs(values, labels, n, aligned, InWindow{table, sums, window});
    table.add_to(sums);
  }
}

/// Rounds the buckets' sums, and makes them zero again.
__global__ void round_kernel(Sums sums, float* results) {
  let_next_launch_begin();
  wait_for_launch_before();
  const std::size_t bucket = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (bucket >= sums.buckets) return;
  long long words[Sums::kWords];
  for (unsigned k = 0; k < Sums::kWords; ++k) {
    words[k] = sums.words[k * sums.buckets + bucket];
    sums.words[k * sums.buckets + bucket] = 0;
  }
  const unsigned seen = sums.seen[bucket];
  sums.seen[bucket] = 0;
  const unsigned special = seen & ~kMinusZero;
  const float zero = (seen & kMinusZero) != 0 ? -0.0f : 0.0f;
  const float result = special != 0 ? FixedPoint<float>::special_sum(special)
                                    : FixedPoint<float>::round(words, 0, Sums::kWords, zero);
  results[bucket] = result;
  const bool open = detail::bits_to<unsigned>(result) == kMinusZeroBits;
  sums.is_open[bucket] = open;
  if (open) atomicOr(sums.any_open, 1u);
}

/// A zero that is -0 so far is 0 if the bucket has an input that is not -0.
__global__ void settle_zeros_kernel(const float* values, const Label* labels, std::size_t n,
                                    Sums sums, float* results) {
  wait_for_launch_before();
  if (*sums.any_open == 0) return;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x) {
    if (detail::bits_to<unsigned>(values[i]) == kMinusZeroBits || sums.is_open[labels[i]] == 0)
      continue;
    atomicAnd(reinterpret_cast<unsigned*>(&results[labels[i]]), ~kMinusZeroBits);
  }
}

struct LaunchPlan {
  unsigned block, blocks;
  Copies copies;
  std::size_t shared_bytes;
};
LaunchPlan plan_of(const Problem& p) {
  LaunchPlan plan{};
  plan.block = p.params.number("block");
  const auto bytes = [&](unsigned words, unsigned log2_copies) {
    return (4 + (words * p.buckets << log2_copies)) * sizeof(unsigned);
  };
  const std::size_t most_bytes = p.device.max_shared_bytes_per_block;
  const auto most_copies = [&](unsigned words) {
    unsigned log2 = 0;
    while (1u << log2 < kWarpSize && bytes(words, log2 + 1) <= most_bytes) ++log2;
    return log2;
  };
  plan.copies = {.log2_of_window = most_copies(kWindowWords),
                 .log2_of_all = most_copies(Sums::kWords),
                 .all_fit = bytes(Sums::kWords, 0) <= most_bytes};
  plan.shared_bytes = bytes(kWindowWords, plan.copies.log2_of_window);
  if (plan.copies.all_fit)
    plan.shared_bytes = std::max(plan.shared_bytes, bytes(Sums::kWords, plan.copies.log2_of_all));
  const std::size_t tile = std::size_t{plan.block} * Policy::kLoads * kQuad;
  plan.blocks =
      static_cast<unsigned>(std::clamp<std::size_t>(ceil_div(p.n, tile), 1, p.device.sm_count));
  return plan;
}

struct Layout {
  std::size_t words, seen, zeroed_bytes, is_open, any_open, bytes;
};
Layout layout(const Problem& p) {
  Layout at{};
  const auto place = [&](std::size_t bytes) {
    const std::size_t begin = at.bytes;
    at.bytes += bytes;
    return begin;
  };
  at.words = place(Sums::kWords * p.buckets * sizeof(long long));
  at.seen = place(p.buckets * sizeof(unsigned));
  at.zeroed_bytes = at.bytes;
  at.is_open = place(p.buckets * sizeof(unsigned));
  at.any_open = place(sizeof(unsigned));
  return at;
}

struct OnepassMultireduceExact {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return enqueue_fill(call.stream, call.results(), call.buckets(), 0.0f);
    const LaunchPlan plan = plan_of(call.problem);
    const Layout at = layout(call.problem);
    const Sums sums{.buckets = call.buckets(),
                    .words = call.template scratch<long long>(at.words),
                    .seen = call.template scratch<unsigned>(at.seen),
                    .is_open = call.template scratch<unsigned>(at.is_open),
                    .any_open = call.template scratch<unsigned>(at.any_open)};
    const auto address = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
    const bool aligned = address(call.values()) % 16 == 0 && address(call.labels()) % 16 == 0;
    launch(kernel, {plan.blocks, plan.block, plan.shared_bytes, call.stream}, call.values(),
           call.labels(), call.n(), aligned, plan.copies, sums);
    const auto round_blocks = static_cast<unsigned>(ceil_div(call.buckets(), Policy::kRoundBlock));
    const DeviceTraits& device = call.problem.device;
    launch(round_kernel, overlapping({round_blocks, Policy::kRoundBlock, 0, call.stream}, device),
           sums, call.results());
    launch(settle_zeros_kernel, overlapping({plan.blocks, plan.block, 0, call.stream}, device),
           call.values(), call.labels(), call.n(), sums, call.results());
  }
};

Variant variant() {
  return {
      .id = "onepass/multireduce-exact",
      .title = "the correctly rounded sum of every bucket",
      .source = "reduce-bench",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBeyond,
      .params = {{"block", "1024", {"256", "512", "1024"}, "threads"}},
      .restriction = [](const Problem& p) -> std::string {
        if (p.n > std::size_t{1} << 31)
          return std::to_string(p.n) + " inputs: the words of a sum have room for those of 2^31";
        const LaunchPlan plan = plan_of(p);
        if (plan.shared_bytes <= p.device.max_shared_bytes_per_block) return {};
        return std::to_string(plan.shared_bytes) + " bytes of sums do not fit into the " +
               std::to_string(p.device.max_shared_bytes_per_block) +
               " bytes of shared memory that a block gets";
      },
      .correctly_rounded = true,
      .workspace = [](const Problem& p) -> Workspace {
        const Layout at = layout(p);
        return {.device_bytes = at.bytes, .zeroed_bytes = at.zeroed_bytes};
      },
      .enqueue = instantiate_for<OnepassMultireduceExact, OpList<Sum>, float>(),
  };
}

}  // namespace reduce_bench::BACKEND::onepass_multireduce_exact
