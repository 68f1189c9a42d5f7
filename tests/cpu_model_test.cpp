// The processor's name in text of /proc/cpuinfo, which differs between architectures.
#include "common/cpu_model.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace reduce_bench {
namespace {

std::string model_in(const std::string& text) {
  std::istringstream cpuinfo(text);
  return cpu_model_in(cpuinfo);
}

TEST(CpuModel, IsTheNameThatTheSystemTells) {
  EXPECT_EQ(model_in("processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 1\n"
                     "model name\t: AMD EPYC 9654 96-Core Processor\n\nprocessor\t: 1\n"
                     "model name\t: another\n"),
            "AMD EPYC 9654 96-Core Processor");
}

TEST(CpuModel, IsMadeOfNumbersOnArm) {
  const std::string core =
      "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\n"
      "CPU part\t: 0xd4f\nCPU revision\t: 0\n\n";
  EXPECT_EQ(model_in(core), "ARM 0x41 0xd4f");
  EXPECT_EQ(model_in(core + "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd80\n"),
            "ARM 0x41 0xd4f");
}

TEST(CpuModel, IsUnknownWhereNothingTellsIt) {
  EXPECT_EQ(model_in(""), "unknown");
  EXPECT_EQ(model_in("processor\t: 0\nmodel name\t:\nno colon\n"), "unknown");
  EXPECT_EQ(model_in("CPU implementer\t: 0x41\n"), "unknown");
  EXPECT_FALSE(cpu_model().empty());
}

}  // namespace
}  // namespace reduce_bench
