// How a block hands a value to another, of its device or of another one: the value and its flag in one
// access.
#pragma once

#include <cstring>

#include "kernels/platform/platform.hpp"

namespace reduce_bench::BACKEND::flagged {

/// Half value, half flag: eight bytes that one store makes visible together. A tag other than zero
/// says that the value is there, and may say more of it.
struct alignas(8) Word {
  unsigned bits;
  unsigned tag;
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
__device__ void publish(Slot<T>* slot, T value, unsigned tag = 1) {
  unsigned bits[kWords<T>];
  memcpy(bits, &value, sizeof(T));
  Slot<T> full;
  for (unsigned w = 0; w < kWords<T>; ++w) full.word[w] = {bits[w], tag};
  store_volatile(slot, full);
}

/// What a slot holds.
template <class T>
__device__ T value_of(const Slot<T>& seen) {
  unsigned bits[kWords<T>];
#pragma unroll
  for (unsigned w = 0; w < kWords<T>; ++w) bits[w] = seen.word[w].bits;
  T value;
  memcpy(&value, bits, sizeof(T));
  return value;
}

/// Waits for a published value and its tag, and empties the slot for the next launch.
template <class T>
__device__ T take(Slot<T>* slot, unsigned& tag) {
  Slot<T> seen;
  for (bool ready = false; !ready;) {
    seen = load_volatile(slot);
    ready = true;
#pragma unroll
    for (unsigned w = 0; w < kWords<T>; ++w) ready = ready && seen.word[w].tag != 0;
    if (!ready) wait_hint();
  }
  store_volatile(slot, Slot<T>{});
  tag = seen.word[0].tag;
  return value_of(seen);
}
template <class T>
__device__ T take(Slot<T>* slot) {
  unsigned tag;
  return take(slot, tag);
}

/// Waits for the value with the tag, and leaves it.
template <class T>
__device__ T await(Slot<T>* slot, unsigned tag) {
  Slot<T> seen;
  for (bool ready = false; !ready;) {
    seen = load_volatile(slot);
    ready = true;
#pragma unroll
    for (unsigned w = 0; w < kWords<T>; ++w) ready = ready && seen.word[w].tag == tag;
    if (!ready) wait_hint();
  }
  return value_of(seen);
}

}  // namespace reduce_bench::BACKEND::flagged
