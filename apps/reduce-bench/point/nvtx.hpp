// Names ranges of time in Nsight Systems and Compute; nothing without a CUDA build.
#pragma once

#include <string>

#ifdef REDUCE_BENCH_HAS_CUDA
#include <nvtx3/nvToolsExt.h>
#endif

namespace reduce_bench {

class NvtxRange {
 public:
#ifdef REDUCE_BENCH_HAS_CUDA
  explicit NvtxRange(const std::string& name) { nvtxRangePushA(name.c_str()); }
  ~NvtxRange() { nvtxRangePop(); }
#else
  explicit NvtxRange(const std::string&) {}
#endif
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace reduce_bench
