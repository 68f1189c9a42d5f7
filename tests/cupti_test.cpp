// CUPTI's tables of chips know the metrics that records are made of. They need no GPU.
#include <cupti_profiler_host.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "devices/gpu_counts.hpp"
#include "devices/gpu_profiler.hpp"

namespace reduce_bench {
namespace {

template <class Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

class Cupti : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    library = dlopen(CUPTI_LIBRARY_DIR "/libcupti.so", RTLD_NOW);
    if (library == nullptr) GTEST_SKIP() << "the CUPTI library is not installed: " << dlerror();
    const auto initialise =
        find<decltype(cuptiProfilerHostInitialize)>(library, "cuptiProfilerHostInitialize");
    ASSERT_NE(initialise, nullptr);
    CUpti_Profiler_Host_Initialize_Params parameters{
        CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE};
    parameters.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    parameters.pChipName = GetParam();
    ASSERT_EQ(initialise(&parameters), CUPTI_SUCCESS);
    host = parameters.pHostObject;
  }
  bool knows(const std::string& metric) const {
    const auto properties = find<decltype(cuptiProfilerHostGetMetricProperties)>(
        library, "cuptiProfilerHostGetMetricProperties");
    CUpti_Profiler_Host_GetMetricProperties_Params parameters{
        CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE};
    parameters.pHostObject = host;
    parameters.pMetricName = metric.c_str();
    return properties(&parameters) == CUPTI_SUCCESS;
  }

  void* library = nullptr;
  CUpti_Profiler_Host_Object* host = nullptr;
};

TEST_P(Cupti, KnowsTheMetrics) {
  // Only Hopper has units that this stall is of.
  const std::string of_hopper = "smsp__warps_issue_stalled_gmma.sum";
  for (const std::string& metric : gpu_metrics())
    EXPECT_EQ(knows(metric), metric != of_hopper || std::string(GetParam()) == "GH100") << metric;
  EXPECT_FALSE(knows("dram__no_such_bytes.sum"));
}

INSTANTIATE_TEST_SUITE_P(Chips, Cupti, testing::Values("TU102", "GA100", "AD102", "GH100"));

TEST(GpuProfiler, SaysWhyItCannotCountWithoutAContext) {
  GpuProfiler profiler(0, 16);
  unsigned calls = 0;
  const auto counters = profiler.count([&] { ++calls; }, [&] { ++calls; });
  ASSERT_EQ(counters.size(), 1u);
  EXPECT_EQ(counters[0].name, kAllCounters);
  EXPECT_FALSE(counters[0].count);
  EXPECT_NE(counters[0].unavailable, "");
  EXPECT_EQ(calls, 0u);
}

TEST(GpuProfiler, SaysWhyItKnowsNoCodeWithoutAKernel) {
  GpuProfiler profiler(0, 16);
  profiler.watch_code();
  const MachineCode code = profiler.code([] {});
  EXPECT_FALSE(code.hash);
  EXPECT_NE(code.unavailable, "");
}

}  // namespace
}  // namespace reduce_bench
