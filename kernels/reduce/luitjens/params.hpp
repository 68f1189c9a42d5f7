// The axes of the luitjens variants: those of two launches, and those of one that ends in atomics.
#pragma once

#include <vector>

#include "kernels/reduce/persistent.hpp"

namespace reduce_bench::BACKEND {

inline std::vector<ParamSpec> luitjens_params() {
  return {{"block", "512", {"64", "128", "256", "512", "1024"}, "threads (Luitjens: 512)"},
          blocks_per_sm_param("Luitjens: 1024 in all")};
}

inline std::vector<ParamSpec> luitjens_atomic_params() {
  return {{"block", "256", {"64", "128", "256", "512", "1024"}, "threads (Luitjens: 256)"},
          blocks_per_sm_param("Luitjens: 2048 in all")};
}

}  // namespace reduce_bench::BACKEND
