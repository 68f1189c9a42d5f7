// The axes of every luitjens variant.
#pragma once

#include <vector>

#include "kernels/reduce/persistent.hpp"

namespace reduce_bench::BACKEND {

inline std::vector<ParamSpec> luitjens_params() {
  return {{"block", "512", {"64", "128", "256", "512", "1024"}, "threads (Luitjens: 512)"},
          blocks_per_sm_param("Luitjens: 1024 in all")};
}

}  // namespace reduce_bench::BACKEND
