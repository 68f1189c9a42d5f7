// What the harness reports against what is known beforehand, through the worker that `run` uses.
#include <gtest/gtest.h>

#include "plan/variants.hpp"
#include "worker/worker.hpp"

namespace reduce_bench {
namespace {

class Honesty : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::kCuda && !cuda_status().unavailable.empty())
      GTEST_SKIP() << cuda_status().unavailable;
  }
  Worker worker{GetParam(), 0, FAULTS_BINARY};
};

TEST_P(Honesty, AKnownDelayIsMeasuredWithinTwoPercent) {
  Point point{.entry = &find_variant("fault/delay"), .backend = GetParam(), .n = 100};
  point.measurement.modes = {Mode::kCold, Mode::kHot};
  point.measurement.max_time_ms = 500;
  for (const unsigned delay_us : {1000u, 10000u}) {
    point.params.set("delay_us", std::to_string(delay_us));
    const double known_ns = delay_us * 1e3;
    // Neighbours on the machine can only make it longer; the clock is right if it is so once.
    std::map<Mode, double> shortest_ns;
    for (int attempt = 0; attempt < 5; ++attempt) {
      const Record record = worker.execute(point).value();
      ASSERT_EQ(record.status, Status::kOk) << record.reason;
      for (const auto& [mode, measurement] : record.timing) {
        const double ns = median(measurement.samples_ns);
        const auto [known, first] = shortest_ns.try_emplace(mode, ns);
        if (!first) known->second = std::min(known->second, ns);
      }
      if (std::all_of(shortest_ns.begin(), shortest_ns.end(),
                      [&](const auto& entry) { return entry.second <= 1.02 * known_ns; }))
        break;
    }
    ASSERT_EQ(shortest_ns.size(), 2u);
    for (const auto& [mode, ns] : shortest_ns) {
      EXPECT_GE(ns, 0.98 * known_ns) << name_of(mode);
      EXPECT_LE(ns, 1.02 * known_ns) << name_of(mode);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Honesty, testing::Values(Backend::kCpu, Backend::kCuda),
                         [](const auto& backend) { return std::string(name_of(backend.param)); });

/// On two devices the clock is the first one's, which learns of the second one's end over a link.
TEST(SeveralDevices, AKnownDelayOfTheLastIsMeasured) {
  const CudaStatus cuda = cuda_status();
  if (cuda.devices.size() < 2) GTEST_SKIP() << "needs two CUDA devices";
  Worker worker(Backend::kCuda, 0, FAULTS_BINARY);
  Point point{.entry = &find_variant("fault/late-device"), .backend = Backend::kCuda, .n = 100};
  point.measurement.modes = {Mode::kCold, Mode::kHot, Mode::kGraph};
  const auto measured_ns = [&](const char* result, const char* delay_us, Mode mode) {
    point.params = default_params(point.entry->variant);
    point.params.set("devices", "2");
    point.params.set("result", result);
    point.params.set("delay_us", delay_us);
    const Record record = worker.execute(point).value();
    EXPECT_EQ(record.status, Status::kOk) << record.reason;
    return record.timing.contains(mode) ? median(record.timing.at(mode).samples_ns) : 0;
  };
  for (const char* const result : {"one", "all"})
    for (const Mode mode : point.measurement.modes) {
      const double none_ns = measured_ns(result, "0", mode);
      EXPECT_NEAR(measured_ns(result, "1000", mode) - none_ns, 1e6, 2e4)
          << result << ' ' << name_of(mode);
      // What beginning together and telling of ends adds, and the words' ways.
      EXPECT_LE(none_ns, 1e5) << result << ' ' << name_of(mode);
    }
}

/// The fastest of the device's read streams over the first bytes of `data`.
double read_ns(Device& device, Mode mode, const Memory& data, std::size_t size_bytes) {
  MeasurementSettings settings;
  settings.max_time_ms = 50;
  double best = 0;
  for (const StreamShape& shape : device.read_shapes(data.data(), size_bytes)) {
    const double ns =
        median(measure(device, mode, {.enqueue = shape.enqueue}, settings).samples_ns);
    if (best == 0 || ns < best) best = ns;
  }
  return best;
}

TEST(L2Flush, MakesColdReadsComeFromMemoryAndNothingElseGoThere) {
  const CudaStatus cuda = cuda_status();
  if (!cuda.unavailable.empty()) GTEST_SKIP() << cuda.unavailable;
  const auto device = make_cuda_device(0);
  const std::size_t l2_bytes = cuda.devices[0].l2_bytes, quarter_bytes = l2_bytes / 4 / 256 * 256;
  const std::size_t large_bytes = 16 * l2_bytes;  // nothing of one pass is left for the next
  const Memory data = device->allocate(large_bytes);
  device->fill(data.data(), 0, large_bytes);
  // What a quarter of the L2 adds to another, so that starting and ending count for neither.
  const auto added_ns = [&](Mode mode) {
    return read_ns(*device, mode, data, 2 * quarter_bytes) -
           read_ns(*device, mode, data, quarter_bytes);
  };
  const double memory_ns = read_ns(*device, Mode::kCold, data, large_bytes) *
                           static_cast<double>(quarter_bytes) / static_cast<double>(large_bytes);
  const double cold_ns = added_ns(Mode::kCold), hot_ns = added_ns(Mode::kHot);
  RecordProperty("memory_ns", std::to_string(memory_ns));
  RecordProperty("cold_ns", std::to_string(cold_ns));
  RecordProperty("hot_ns", std::to_string(hot_ns));
  // With half of it still in the L2 this would be the mean of both times, and with as many lines
  // written back to make room, twice the memory's. Each border lies midway.
  EXPECT_GE(cold_ns, memory_ns - (memory_ns - hot_ns) / 4) << "hot: " << hot_ns << " ns";
  EXPECT_LT(cold_ns, 1.5 * memory_ns) << "hot: " << hot_ns << " ns";
  EXPECT_LT(hot_ns, cold_ns);
}

}  // namespace
}  // namespace reduce_bench
