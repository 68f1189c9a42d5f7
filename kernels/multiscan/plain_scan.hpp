// What scans that read no labels declare: the problem has one bucket.
#pragma once

#include <string>

#include "kernels/api/variant.hpp"

namespace reduce_bench {

inline std::string plain_scan_restriction(const Problem& p) {
  if (p.buckets == 1) return {};
  return "a plain scan reads no labels: one bucket, not " + std::to_string(p.buckets);
}

/// The labels are not read.
inline Traffic traffic_of_plain_scan(const Problem& p) {
  return {.read_bytes = p.arrays().values.bytes(), .written_bytes = p.arrays().output_bytes()};
}

}  // namespace reduce_bench
