// onepass/multireduce-exact: the correctly rounded sum of every bucket's floats
//
// Source: this project; that a sum in fixed point is the same in any order is the idea of Collange,
//   Defour, Graillat and Iakymchuk, Numerical Reproducibility for the Parallel Reduction on Multi-
//   and Many-Core Architectures (2015).
// Idea: a value whose exponent lies in a window of 33 is an integer of 57 bits, and so is the sum
//   of the values of a run in a warp, of 64. Each is added to a number of 96 bits that its bucket
//   has in shared memory, in copies as onepass/multireduce's: by two atomics on 32 bits, of which
//   the first returns what to carry, and a third where the upper bits change. The window is chosen
//   from as many values as a block has threads. Other values go to a number of the bucket in fixed
//   point in global memory, which has room for all exponents and takes the blocks' numbers in the
//   end. Integers have no order, so each sum is rounded once and has the same bits whatever the
//   order, the launch and the card.
// Fixes: the rounding of every sum on the way, which depends on the order of the atomics; and,
//   against the float sums of onepass/multireduce, loops of compare-and-swap.
// Launch: one block of 1024 threads per SM; a thread for every bucket, which rounds; and a kernel
//   that looks for inputs other than -0, where a sum is zero and has a -0 in it.
// Traffic: n labels and n values read, m results written. The blocks' numbers are added by atomics
//   in the L2 cache, and so is every value outside of the window, by two. On an H200 the L2 cache
//   binds with 2^8 buckets, device memory and arithmetic close behind; of values of all exponents
//   latency: docs/kernels/onepass-multireduce-exact.md
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
  /// Exponents of the window above the largest in the sample; the others lie below.
  static constexpr unsigned kAbove = 4;
  static constexpr unsigned kRoundBlock = 128;
};
using Policy = ByCapability<Row<90, Policy90>>;

/// The window has kMostShift + 1 exponents. So a value is an integer below 2^56, and the sum of 128
/// of them, a quad of each lane, below 2^63.
inline constexpr unsigned kMostShift = 32;
static_assert(Format::kDigits + kMostShift + 7 == 63);

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

/// Numbers of 96 bits in shared memory, in units of the window. Word w of copy c of bucket b lies
/// at ((w * buckets + b) * copies + c).
struct Table {
  /// The middle word of zero: so it seldom crosses its end, where small sums change their sign.
  static constexpr unsigned kMiddle = 1u << 31;
  static constexpr unsigned kWords = 3;

  unsigned* words;
  unsigned buckets, log2_copies;

  __device__ unsigned size() const { return buckets << log2_copies; }
  __device__ void clear() const {
    for (unsigned i = threadIdx.x; i < kWords * size(); i += blockDim.x)
      words[i] = i / size() == 1 ? kMiddle : 0;
    __syncthreads();
  }
  __device__ void add(Label bucket, long long amount) const {
    unsigned* low = words + (bucket << log2_copies) + (threadIdx.x & ((1u << log2_copies) - 1));
    const auto first = static_cast<unsigned>(amount);
    const unsigned carry = atomicAdd(low, first) + first < first;
    const long long second = (amount >> 32) + carry;
    const unsigned before = atomicAdd(low + size(), static_cast<unsigned>(second));
    const long long third = (static_cast<long long>(before) + second) >> 32;
    if (third != 0) atomicAdd(low + 2 * size(), static_cast<unsigned>(third));
  }
  /// Adds all copies of all buckets to `sums`, whose position `unit` is the window's unit.
  __device__ void add_to(const Sums& sums, unsigned unit) const {
    __syncthreads();
    const unsigned copies = 1u << log2_copies;
    const unsigned word = unit / 32, shift = unit % 32;
    // Blocks start at different buckets, so that they do not queue for the same ones.
    const auto start = static_cast<unsigned>(std::size_t{buckets} * blockIdx.x / gridDim.x);
    for (unsigned i = threadIdx.x; i < buckets; i += blockDim.x) {
      const unsigned bucket = i + start < buckets ? i + start : i + start - buckets;
      unsigned long long low = 0;
      long long middle = 0, top = 0;
      for (unsigned k = 0; k < copies; ++k) {
        const unsigned* at = words + (bucket << log2_copies) + (threadIdx.x + k) % copies;
        low += *at;
        middle += static_cast<long long>(at[size()]) - kMiddle;
        top += static_cast<int>(at[2 * size()]);
      }
      middle += static_cast<long long>(low >> 32);
      top += middle >> 32;
      low = static_cast<unsigned long long>(static_cast<unsigned>(low)) << shift;
      const auto high = static_cast<unsigned long long>(static_cast<unsigned>(middle)) << shift;
      sums.add(word, bucket, static_cast<unsigned>(low));
      sums.add(word + 1, bucket, static_cast<long long>((low >> 32) + static_cast<unsigned>(high)));
      sums.add(word + 2, bucket, static_cast<long long>(high >> 32) + top * (1ll << shift));
    }
  }
};

__global__ void __launch_bounds__(1024)
    kernel(const float* values, const Label* labels, std::size_t n, bool aligned,
           unsigned log2_copies, Sums sums) {
  unsigned* largest = held_shared(dynamic_shared<unsigned>());
  const Table table{largest + 4, static_cast<unsigned>(sums.buckets), log2_copies};
  if (blockIdx.x == 0 && threadIdx.x == 0) *sums.any_open = 0;
  // The window follows from as many values as the block has threads, the same for every block.
  const auto window = FloatWindow<float>::around(
      largest_field(values[n * threadIdx.x / blockDim.x], largest), Policy::kAbove, kMostShift);
  table.clear();

  const auto amount_of = [&](Label label, float value) -> long long {
    const auto bits = detail::bits_to<unsigned>(value);
    if (window.has(bits)) return window.amount(bits);
    if (bits != 0) sums.add_value(label, value);
    return 0;
  };
  const auto put = [&](bool present, Label label, long long amount) {
    if (present && amount != 0) table.add(label, amount);
  };
  const std::size_t tile = std::size_t{blockDim.x} * Policy::kLoads;  // quads
  const std::size_t tiles = aligned ? n / kQuad / tile : 0;
  for (std::size_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    Vector16<Label> l[Policy::kLoads];
    Vector16<float> v[Policy::kLoads];
#pragma unroll
    for (unsigned k = 0; k < Policy::kLoads; ++k) {
      const std::size_t at = t * tile + k * blockDim.x + threadIdx.x;
      l[k] = load_ahead(reinterpret_cast<const Vector16<Label>*>(labels) + at);
      v[k] = load_ahead(reinterpret_cast<const Vector16<float>*>(values) + at);
    }
#pragma unroll
    for (unsigned k = 0; k < Policy::kLoads; ++k) {
      long long amounts[kQuad];
#pragma unroll
      for (unsigned e = 0; e < kQuad; ++e) amounts[e] = amount_of(l[k].at[e], v[k].at[e]);
      __syncwarp();  // values outside of the window leave a warp diverged
      put_quads<Sum>(l[k].at, amounts, put);
    }
  }
  for (std::size_t i = tiles * tile * kQuad + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
       i < n; i += std::size_t{gridDim.x} * blockDim.x)
    put(true, labels[i], amount_of(labels[i], values[i]));
  table.add_to(sums, window.unit());
}

/// Rounds the buckets' sums, and makes them zero again.
__global__ void round_kernel(Sums sums, float* results) {
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
  if (*sums.any_open == 0) return;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x) {
    if (detail::bits_to<unsigned>(values[i]) == kMinusZeroBits || sums.is_open[labels[i]] == 0)
      continue;
    atomicAnd(reinterpret_cast<unsigned*>(&results[labels[i]]), ~kMinusZeroBits);
  }
}

struct LaunchPlan {
  unsigned block, blocks, log2_copies;
  std::size_t shared_bytes;
};
LaunchPlan plan_of(const Problem& p) {
  LaunchPlan plan{};
  plan.block = p.params.number("block");
  const auto bytes = [&](unsigned log2_copies) {
    return (4 + (Table::kWords * p.buckets << log2_copies)) * sizeof(unsigned);
  };
  while (1u << plan.log2_copies < kWarpSize &&
         bytes(plan.log2_copies + 1) <= p.device.max_shared_bytes_per_block)
    ++plan.log2_copies;
  plan.shared_bytes = bytes(plan.log2_copies);
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
           call.labels(), call.n(), aligned, plan.log2_copies, sums);
    const auto round_blocks = static_cast<unsigned>(ceil_div(call.buckets(), Policy::kRoundBlock));
    launch(round_kernel, {round_blocks, Policy::kRoundBlock, 0, call.stream}, sums, call.results());
    launch(settle_zeros_kernel, {plan.blocks, plan.block, 0, call.stream}, call.values(),
           call.labels(), call.n(), sums, call.results());
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
