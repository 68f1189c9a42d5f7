// How a block hands its partial result to another: a value and its flag in one access.
#pragma once

#include <cstring>

#include "kernels/platform/platform.hpp"

namespace reduce_bench::BACKEND::onepass_reduce {

/// Half value, half flag: eight bytes that one store makes visible together.
struct alignas(8) Word {
  unsigned bits;
  unsigned ready;
};

template <class T>
inline constexpr unsigned kWords = sizeof(T) / 4;

/// A value as words. A slot is read and written by one access whatever its type, so an f64 partial
/// costs no more round trips than an i32.
template <class T>
struct alignas(8 * kWords<T>) Slot {
  Word word[kWords<T>];
};

template <class T>
__device__ void publish(Slot<T>* slot, T value) {
  unsigned bits[kWords<T>];
  memcpy(bits, &value, sizeof(T));
  Slot<T> full;
  for (unsigned w = 0; w < kWords<T>; ++w) full.word[w] = {bits[w], 1};
  store_volatile(slot, full);
}

/// Waits for a published value, and empties the slot for the next launch.
template <class T>
__device__ T take(Slot<T>* slot) {
  Slot<T> seen;
  for (bool ready = false; !ready;) {
    seen = load_volatile(slot);
    ready = true;
#pragma unroll
    for (unsigned w = 0; w < kWords<T>; ++w) ready = ready && seen.word[w].ready != 0;
    if (!ready) wait_hint();
  }
  store_volatile(slot, Slot<T>{});
  unsigned bits[kWords<T>];
#pragma unroll
  for (unsigned w = 0; w < kWords<T>; ++w) bits[w] = seen.word[w].bits;
  T value;
  memcpy(&value, bits, sizeof(T));
  return value;
}

}  // namespace reduce_bench::BACKEND::onepass_reduce
