// What a library that combines the results of several devices must move, whichever it is.
#pragma once

#include <string>

#include "kernels/api/devices.hpp"

namespace reduce_bench::BACKEND {

/// The traffic of combining results of so many bytes: every other device sends its own to the first,
/// which sends them back to all where all are to have them.
inline Traffic combined_traffic(const Problem& p, std::size_t result_bytes) {
  const std::size_t others = devices_of(p) - 1;
  const bool all = results_on_all(p.params);
  return {p.input_bytes(), (all ? others + 1 : 1) * result_bytes,
          (all ? 2 : 1) * others * result_bytes};
}

/// The largest label is no bucket's: the kernel for few inputs takes it for none.
inline std::string labels_restriction(const Problem& p) {
  if (p.buckets <= ~Label{0}) return {};
  return std::to_string(p.buckets) + " buckets: labels lie below 2^32 - 1";
}

}  // namespace reduce_bench::BACKEND
