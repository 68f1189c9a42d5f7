// How a device hands the elements of a table to another: three 4-byte words and their flag in one access
// of 16 bytes, so that no fence is needed and a quarter of what goes over the link is flags.
//
// What it relies on: that a reader sees all 16 bytes of such a store or none of them. Of a vector of two
// or four, PTX calls each element an access of its own; so these are loads and stores of the scalar .b128,
// relaxed and of the system's scope: the instructions that libcu++ (CUDA 13) makes of loads and stores of
// an atomic of 16 bytes. On sm_90 each is one instruction of 128 bits.
#pragma once

#include <cstring>

#include "kernels/platform/platform.hpp"

namespace reduce_bench::BACKEND {

struct alignas(16) Packet {
  unsigned bits[3];
  unsigned tag;  ///< says that the words are there, if it is the one that the reader waits for
};

/// The elements that a thread sends at once.
template <class T>
struct Elements {
  static constexpr unsigned kCount = 3;
  static constexpr unsigned kPackets = sizeof(T) / sizeof(unsigned);
  T at[kCount];
};

namespace detail {
__device__ inline void store_whole(Packet* to, const Packet& value) {
#ifdef __CUDACC__
  unsigned long long bits[2];
  memcpy(bits, &value, sizeof(value));
  asm volatile(
      "{\n\t.reg .b128 whole;\n\t"
      "mov.b128 whole, {%1, %2};\n\t"
      "st.relaxed.sys.global.b128 [%0], whole;\n\t}" ::"l"(to),
      "l"(bits[0]), "l"(bits[1])
      : "memory");
#else
  store_volatile(to, value);
#endif
}
__device__ inline Packet load_whole(const Packet* from) {
#ifdef __CUDACC__
  unsigned long long bits[2];
  asm volatile(
      "{\n\t.reg .b128 whole;\n\t"
      "ld.relaxed.sys.global.b128 whole, [%2];\n\t"
      "mov.b128 {%0, %1}, whole;\n\t}"
      : "=l"(bits[0]), "=l"(bits[1])
      : "l"(from)
      : "memory");
  Packet value;
  memcpy(&value, bits, sizeof(value));
  return value;
#else
  return load_volatile(from);
#endif
}
}  // namespace detail

/// Writes the packets of `elements`, `stride` packets apart.
template <class T>
__device__ void publish(Packet* to, unsigned stride, const Elements<T>& elements, unsigned tag) {
  unsigned bits[Elements<T>::kPackets][3];
  memcpy(bits, &elements, sizeof(bits));
#pragma unroll
  for (unsigned p = 0; p < Elements<T>::kPackets; ++p)
    detail::store_whole(to + std::size_t{p} * stride,
                        Packet{{bits[p][0], bits[p][1], bits[p][2]}, tag});
}

/// Waits for what was published with the tag.
template <class T>
__device__ Elements<T> await(const Packet* from, unsigned stride, unsigned tag) {
  unsigned bits[Elements<T>::kPackets][3];
#pragma unroll
  for (unsigned p = 0; p < Elements<T>::kPackets; ++p) {
    Packet seen = detail::load_whole(from + std::size_t{p} * stride);
    while (seen.tag != tag) {
      wait_hint();
      seen = detail::load_whole(from + std::size_t{p} * stride);
    }
    memcpy(bits[p], seen.bits, sizeof(bits[p]));
  }
  Elements<T> elements;
  memcpy(&elements, bits, sizeof(elements));
  return elements;
}

}  // namespace reduce_bench::BACKEND
