// Buckets in shared memory where updates are loops of compare-and-swap, which queue for a bucket
// that many threads update at once.
#pragma once

#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/private_table.hpp"

namespace reduce_bench::BACKEND::onepass_multireduce {

/// Chosen on an H200 (docs/kernels/onepass-multireduce.md).
struct HotPolicy90 {
  /// Labels that a thread samples before it begins, to find the hot ones, at most, and the block's
  /// inputs for each sample. With fewer than kInputsPerSample inputs for every thread queues cannot
  /// grow.
  static constexpr unsigned kSamplesPerThread = 4, kInputsPerSample = 4;
  /// At most so many labels get an accumulator for each lane, whose shared memory copies lose.
  static constexpr unsigned kMostHot = 64;
  /// A label is hot if it has more samples than the sum of three limits: some that chance may give
  /// it, one in kHotShare of all samples, and kUniformShares times its part of them if labels were
  /// uniform. Without the first, between a third and all of the blocks would find a hot label among
  /// 8192 uniform inputs (Poisson, 4096 to 20 000 buckets).
  static constexpr unsigned kChance = 2, kHotShare = 512, kUniformShares = 4;
};
using HotPolicy = ByCapability<Row<90, HotPolicy90>>;

/// Whether an update in shared memory takes many steps: a loop of compare-and-swap, or an addition
/// in two halves.
template <class T, class Op>
inline constexpr bool kManySteps =
    std::is_floating_point_v<T> || (sizeof(T) == 8 && std::is_same_v<Op, Sum>);

/// Whether the loops queue: those of float sums do. (A minimum or maximum that does not change ends
/// its loop.)
template <class T, class Op>
inline constexpr bool kQueues = std::is_floating_point_v<T> && std::is_same_v<Op, Sum>;

/// Labels that are frequent in a sample of a block's inputs, the hot ones, get an accumulator for
/// each lane; their buckets hold a mark instead of a sum.
template <class T, class Op>
struct HotTable : PrivateTable<T, Op> {
  using Word = detail::Word<T>;
  using Table = PrivateTable<T, Op>;
  /// A signalling NaN, which no sum ever is; its low byte is the number of the hot label.
  static constexpr Word kMark =
      sizeof(T) == 4 ? 0xffa50000u : static_cast<Word>(0xfff4a500'00000000u);

  T* lanes;         ///< [hot label][lane]
  Label* hot;       ///< the hot labels
  unsigned* count;  ///< labels found hot, of which kMostHot have room
  bool any = false;

  /// Shared memory that it takes beside the plain table.
  static constexpr std::size_t bytes() {
    return HotPolicy::kMostHot * (kWarpSize * sizeof(T) + sizeof(Label)) + sizeof(unsigned);
  }
  __device__ HotTable(const Table& table)
      : Table(table),
        lanes(this->slots + this->size()),
        hot(reinterpret_cast<Label*>(lanes + HotPolicy::kMostHot * kWarpSize)),
        count(hot + HotPolicy::kMostHot) {}

  /// Of the samples that `n` inputs of a block are worth, those of a thread.
  __device__ static unsigned samples_per_thread(std::size_t n) {
    const std::size_t samples = n / (HotPolicy::kInputsPerSample * blockDim.x);
    return samples < HotPolicy::kSamplesPerThread ? samples : HotPolicy::kSamplesPerThread;
  }
  /// Whether a block has inputs enough for queues to grow.
  __device__ static bool is_worth_it(std::size_t n) { return samples_per_thread(n) > 0; }

  /// Clears the table and marks the labels that are hot among the block's own inputs, n > 0;
  /// bucket_at(s, samples) is the bucket of the s-th of so many of them, or beyond all buckets
  /// where the table does not have it. All threads must call this, and `add_to` too.
  template <class BucketAt>
  __device__ void clear(std::size_t n, BucketAt&& bucket_at) {
    const unsigned samples = blockDim.x * samples_per_thread(n);
    if (samples == 0) return clear_without();
    auto* seen = reinterpret_cast<unsigned*>(this->slots);
    for (std::size_t b = threadIdx.x; b < this->buckets; b += blockDim.x) seen[b] = 0;
    if (threadIdx.x == 0) *count = 0;
    __syncthreads();
    for (unsigned s = threadIdx.x; s < samples; s += blockDim.x) {
      const unsigned b = bucket_at(s, samples);
      if (b < this->buckets) atomicAdd(&seen[b], 1u);
    }
    __syncthreads();
    const std::size_t often = HotPolicy::kChance + samples / HotPolicy::kHotShare +
                              HotPolicy::kUniformShares * samples / this->buckets;
    for (std::size_t b = threadIdx.x; b < this->buckets; b += blockDim.x) {
      if (seen[b] <= often) continue;
      const unsigned h = atomicAdd(count, 1u);
      if (h < HotPolicy::kMostHot) hot[h] = static_cast<Label>(b);
    }
    __syncthreads();
    Table::clear();
    for (unsigned i = threadIdx.x; i < HotPolicy::kMostHot * kWarpSize; i += blockDim.x)
      lanes[i] = Op::template identity<T>();
    for (unsigned i = threadIdx.x; i < hot_count() << this->log2_copies; i += blockDim.x)
      copy_of(i) = detail::bits_to<T>(static_cast<Word>(kMark | (i >> this->log2_copies)));
    any = *count > 0;
    __syncthreads();
  }
  /// Clears the table, with no label marked.
  __device__ void clear_without() {
    if (threadIdx.x == 0) *count = 0;
    any = false;
    Table::clear();
  }
  /// Without hot labels the loop begins with what is read here. With them it would seldom end at
  /// once, as other lanes' loops come between; the compiler's own loop is the faster one then.
  __device__ void add(unsigned bucket, T value) const {
    T* slot = &this->slots[this->slot_of(bucket)];
    const Word seen = *reinterpret_cast<volatile Word*>(slot);
    if (!any) return combine_by_swap<Op>(slot, seen, value);
    if ((seen & ~Word{0xff}) == kMark)
      slot = &lanes[(seen & 0xff) * kWarpSize + threadIdx.x % kWarpSize];
    atomic_combine<Op>(slot, value);
  }
  /// Adds several values, those that are present.
  template <unsigned kCount>
  __device__ void add_each(const unsigned (&bucket)[kCount], const T (&value)[kCount],
                           const bool (&present)[kCount]) const {
    if (!any) return Table::add_each(bucket, value, present);
    Table::add_some_at_once(bucket, value, present, [&](T*& slot, Word& seen) {
      if ((seen & ~Word{0xff}) != kMark) return;
      slot = &lanes[(seen & 0xff) * kWarpSize + threadIdx.x % kWarpSize];
      seen = *reinterpret_cast<volatile Word*>(slot);
    });
  }
  template <bool kPairs = false>
  __device__ void add_to(T* results) const {
    take_back_marks();
    Table::template add_to<kPairs>(results);
  }
  /// Puts the sums of the hot labels in the place of the marks. All threads must call this.
  __device__ void take_back_marks() const {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < hot_count() << this->log2_copies; i += blockDim.x) {
      T sum = Op::template identity<T>();
      if ((i & ((1u << this->log2_copies) - 1)) == 0)
        for (unsigned lane = 0; lane < kWarpSize; ++lane)
          sum = Op::combine(sum, lanes[(i >> this->log2_copies) * kWarpSize + lane]);
      copy_of(i) = sum;
    }
  }

 private:
  __device__ unsigned hot_count() const {
    return *count < HotPolicy::kMostHot ? *count : HotPolicy::kMostHot;
  }
  /// Slot i of the hot labels, one label's copies behind the other's.
  __device__ T& copy_of(unsigned i) const {
    const unsigned copies = 1u << this->log2_copies;
    return this->slots[(std::size_t{hot[i / copies]} << this->log2_copies) + i % copies];
  }
};

}  // namespace reduce_bench::BACKEND::onepass_multireduce
