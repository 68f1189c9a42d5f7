// A partition's sums of floats in fixed point.
#pragma once

#include "kernels/multireduce/partition/policy.hpp"
#include "kernels/shared/atomics.hpp"
#include "kernels/shared/fixed_point.hpp"

namespace reduce_bench::BACKEND::partition_multireduce {

/// A sum of 64 bits for every bucket, in two words of shared memory, to which atomics on integers
/// add. Shared memory has none on floats, only loops of compare-and-swap, in which the inputs of a
/// frequent label wait for one another. A value outside of the window is added to the results at
/// once. What is in it is summed exactly and rounded once for every share, so that no sum is
/// farther off than one by float additions.
struct FixedTable {
  unsigned* words;  ///< the low words of all buckets, then the high ones
  unsigned buckets;
  FloatWindow<float> window;
  float* results;

  /// The exponents that a window may have so that no sum of `inputs` values in it overflows, less
  /// one.
  __device__ static unsigned most_shift_for(Count inputs) {
    constexpr unsigned kSumDigits = 63;
    const unsigned log2_inputs = 32 - static_cast<unsigned>(__clz(static_cast<int>(inputs)));
    return kSumDigits - FloatFormat<float>::kDigits - log2_inputs;
  }
  /// The window for `inputs` values. All threads of the block must call, each with one of the
  /// values; `largest` is a word of shared memory.
  __device__ static FloatWindow<float> window_for(float sample, Count inputs, unsigned* largest) {
    return FloatWindow<float>::around(largest_field(sample, largest), Policy::kAbove,
                                      most_shift_for(inputs));
  }

  /// All threads of the block must call this, and `add_to` too.
  __device__ void clear() const {
    for (unsigned i = threadIdx.x; i < 2 * buckets; i += blockDim.x) words[i] = 0;
    __syncthreads();
  }
  __device__ void add(unsigned bucket, float value) const {
    const auto bits = detail::bits_to<unsigned>(value);
    if (!window.has(bits)) {
      if (bits << 1 != 0) atomic_combine<Sum>(&results[bucket], value);
      return;
    }
    const long long amount = window.amount(bits);
    const auto low = static_cast<unsigned>(amount);
    const unsigned carry = atomicAdd(&words[bucket], low) + low < low;
    const unsigned high = static_cast<unsigned>(amount >> 32) + carry;
    if (high != 0) atomicAdd(&words[buckets + bucket], high);
  }
  __device__ void add_to(float* totals) const {
    __syncthreads();
    const auto unit = detail::bits_to<double>(
        static_cast<unsigned long long>(1023 + static_cast<int>(window.unit()) +
                                        FloatFormat<float>::kLeastExponent)
        << 52);
    for (unsigned i = threadIdx.x; i < buckets; i += blockDim.x) {
      const auto total = static_cast<long long>(
          static_cast<unsigned long long>(words[buckets + i]) << 32 | words[i]);
      // The conversion to float rounds; nothing is left to round then.
      if (total != 0)
        atomic_combine<Sum>(&totals[i], static_cast<float>(static_cast<float>(total) * unit));
    }
  }
};

}  // namespace reduce_bench::BACKEND::partition_multireduce
