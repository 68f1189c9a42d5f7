// CUB's sort for the kernels of radix_sort.hpp, compiled once: it takes longer than what calls it.
#include "kernels/shared/radix_sort.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "kernels/shared/cub_sort_by_label.hpp"

namespace reduce_bench::BACKEND {

namespace {

/// One bit at least, which all labels have the same where there is none to order by.
unsigned end_of(const RadixSort& sort) { return std::max(sort.end_bit, sort.first_bit + 1); }

/// Values of 4 or 8 bytes, as bits. Throws std::logic_error for others.
template <class F>
void with_value_bytes(std::size_t value_bytes, F&& f) {
  switch (value_bytes) {
    case 4: return f.template operator()<std::uint32_t>();
    case 8: return f.template operator()<std::uint64_t>();
    default: throw std::logic_error("CUB's sort is built for values of 4 and 8 bytes");
  }
}

}  // namespace

std::size_t cub_sort_bytes(const RadixSort& sort, std::size_t value_bytes) {
  std::size_t bytes = 0;
  with_value_bytes(value_bytes, [&]<class V>() {
    run_cub_sort<V>(nullptr, bytes, nullptr, nullptr, nullptr, nullptr, sort.n, sort.first_bit,
                    end_of(sort), nullptr);
  });
  return bytes;
}

void enqueue_cub_sort(const Stream& stream, const RadixSort& sort, std::size_t value_bytes,
                      Pairs<const Label, const void> in, Pairs<Label, void> out,
                      std::byte* workspace) {
  std::size_t bytes = cub_sort_bytes(sort, value_bytes);
  with_value_bytes(value_bytes, [&]<class V>() {
    run_cub_sort(workspace, bytes, in.labels, out.labels, static_cast<const V*>(in.values),
                 static_cast<V*>(out.values), sort.n, sort.first_bit, end_of(sort), native(stream));
  });
}

}  // namespace reduce_bench::BACKEND
