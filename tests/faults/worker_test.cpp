// The driver's side of a worker process, with variants that bring it down.
#include "worker/worker.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "../expect_error.hpp"
#include "common/kept_variables.hpp"
#include "devices/machine.hpp"
#include "plan/variants.hpp"

namespace reduce_bench {
namespace {

/// Every fault on every backend of the host.
class OnHost : public testing::TestWithParam<Backend> {
 protected:
  Record run(const std::string& id, Type type = Type::kI32) {
    Point point{.entry = &find_variant(id), .backend = GetParam(), .n = 1000, .type = type};
    point.params = default_params(point.entry->variant);
    point.measurement.max_time_ms = 1;
    point.measurement.modes = {Mode::kHot};
    point.measurement.point_timeout_s = limit_s;
    const bool timed = GetParam() == Backend::kCpu;
    return worker.execute(point, {.timed = timed}).value();
  }
  /// The point fails, with this in its reason, and the next one runs.
  void expect_failure(const std::string& id, Status status, const std::string& reason) {
    const Record record = run(id);
    EXPECT_EQ(record.status, status) << record.reason;
    EXPECT_FALSE(record.known_wrong);
    EXPECT_CONTAINS(record.reason, reason);
    EXPECT_TRUE(record.timing.empty());
    limit_s = 60;
    EXPECT_EQ(run("fault/none").status, Status::kOk);
  }

  double limit_s = 60;
  Worker worker{GetParam(), 0, FAULTS_BINARY};
};

TEST_P(OnHost, NothingGoesWrongWithoutAFault) {
  const Record record = run("fault/none");
  EXPECT_EQ(record.status, Status::kOk) << record.reason;
  const int process = worker.process_id();
  EXPECT_EQ(run("fault/none", Type::kF32).status, Status::kOk);
  EXPECT_EQ(worker.process_id(), process);
}

TEST_P(OnHost, ARenewedWorkerIsAnotherProcess) {
  EXPECT_EQ(run("fault/none").status, Status::kOk);
  const int process = worker.process_id();
  worker.renew();
  EXPECT_EQ(worker.process_id(), 0);
  worker.renew();  // nothing runs that could end
  EXPECT_EQ(run("fault/none").status, Status::kOk);
  EXPECT_NE(worker.process_id(), process);
}

TEST_P(OnHost, AWrongResultIsFound) { expect_failure("fault/wrong", Status::kWrong, "got "); }

TEST_P(OnHost, AResultThatChangesIsFound) {
  expect_failure("fault/nondeterministic", Status::kWrong, "right in a first call, but the second");
}

TEST_P(OnHost, AWriteOutOfBoundsIsFound) {
  run("fault/none");
  const int process = worker.process_id();
  expect_failure("fault/out-of-bounds", Status::kWrong, "wrote out of the bounds of its output");
  EXPECT_NE(worker.process_id(), process);  // who knows what else was hit
}

TEST_P(OnHost, AnIllegalAddressCostsThePoint) {
  expect_failure("fault/illegal-address", Status::kFailed, "was killed by SIGSEGV");
}

TEST_P(OnHost, AnAbortCostsThePoint) {
  expect_failure("fault/abort", Status::kFailed,
                 "was killed by SIGABRT (Aborted); its last output was \"assertion 'false' failed "
                 "on purpose\"");
}

TEST_P(OnHost, AHangCostsThePointAndTheLimit) {
  limit_s = 0.5;
  const auto start = std::chrono::steady_clock::now();
  expect_failure("fault/hang", Status::kTimeout, "did not end within 0.5 s");
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500));
}

TEST_P(OnHost, AHogCostsThePoint) {
  expect_failure("fault/hog", Status::kFailed, "asked for more host memory than there is");
}

TEST_P(OnHost, AFloodCostsThePoint) {
  testing::internal::CaptureStderr();
  expect_failure("fault/flood", Status::kFailed, "printed more than 1048576 bytes");
  EXPECT_LT(testing::internal::GetCapturedStderr().size(), std::size_t{3} << 20);
}

TEST_P(OnHost, AKillCostsThePoint) {
  run("fault/none");
  std::thread killer([&, process = worker.process_id()] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    kill(process, SIGKILL);
  });
  expect_failure("fault/hang", Status::kFailed, "was killed by SIGKILL");
  killer.join();
}

TEST_P(OnHost, AKillBetweenPointsCostsNothing) {
  run("fault/none");
  kill(worker.process_id(), SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(run("fault/none").status, Status::kOk);
}

TEST_P(OnHost, IsOfAProcessGroupOfItsOwn) {
  run("fault/none");
  EXPECT_EQ(getpgid(worker.process_id()), worker.process_id());  // Ctrl-C reaches the driver alone
}

INSTANTIATE_TEST_SUITE_P(Worker, OnHost, testing::Values(Backend::kCpu, Backend::kEmu),
                         [](const auto& backend) { return std::string(name_of(backend.param)); });

TEST(Worker, AProgramThatIsNotThereIsNamed) {
  Worker worker(Backend::kCpu, 0, "/no/such/program");
  try {
    worker.traits();
    FAIL();
  } catch (const DeviceLost& error) {
    EXPECT_CONTAINS(error.what(), "cannot be started from '/no/such/program'");
  }
}

TEST(Worker, OneThatDiesAtEveryStartIsGivenUp) {
  Worker worker(Backend::kCpu, 0, "/bin/false");
  try {
    worker.traits();
    FAIL();
  } catch (const DeviceLost& error) {
    EXPECT_CONTAINS(error.what(),
                    "no worker process for cpu came up in 3 attempts: the last exited "
                    "with status 1");
  }
}

TEST(Worker, AnotherDeviceThanTheDriversIsRefused) {
  const std::string of_driver = name_of_device(Backend::kOpencl, 0);
  if (of_driver.find("pthread-") != 0 && of_driver.find("cpu-") != 0)
    GTEST_SKIP() << "OpenCL's first device is not PoCL's: '" << of_driver << "'";
  const auto traits_where = [](const char* devices) {
    ::setenv("POCL_DEVICES", devices, 1);  // PoCL looked at it in this process already
    Worker(Backend::kOpencl, 0, FAULTS_BINARY).traits();
    ::unsetenv("POCL_DEVICES");
  };
  traits_where("pthread");
  try {
    traits_where("basic");
    FAIL();
  } catch (const DeviceLost& error) {
    ::unsetenv("POCL_DEVICES");
    EXPECT_CONTAINS(error.what(), "device 0 of opencl is '");
    EXPECT_CONTAINS(error.what(), "and '" + of_driver + "' for the driver");
  }
}

TEST(KeptVariables, AreWholeAgainWhereALibraryCutThem) {
  ::setenv("REDUCE_BENCH_TEST_LIST", "one:two", 1);
  {
    const KeptVariables kept{"REDUCE_BENCH_TEST_LIST", "REDUCE_BENCH_TEST_UNSET"};
    std::strtok(std::getenv("REDUCE_BENCH_TEST_LIST"), ":");
    EXPECT_STREQ(std::getenv("REDUCE_BENCH_TEST_LIST"), "one");
  }
  EXPECT_STREQ(std::getenv("REDUCE_BENCH_TEST_LIST"), "one:two");
  EXPECT_EQ(std::getenv("REDUCE_BENCH_TEST_UNSET"), nullptr);
  ::unsetenv("REDUCE_BENCH_TEST_LIST");
}

TEST(Worker, CeilingsAreMeasuredThere) {
  Worker worker(Backend::kCpu, 0, FAULTS_BINARY);
  std::vector<std::size_t> begun;
  const auto ceilings = worker.measure_ceilings({1 << 16, 1 << 17}, false,
                                                [&](std::size_t k) { begun.push_back(k); });
  ASSERT_TRUE(ceilings);
  EXPECT_EQ(begun, (std::vector<std::size_t>{0, 1}));
  EXPECT_GT(ceilings->read_ns(1 << 16).value(), 0);
  EXPECT_GT(ceilings->copy_median_ns, 0);
}

TEST(PointLimit, IsTheConfiguredOne) {
  Point point{.n = std::size_t{1} << 30};
  point.measurement.point_timeout_s = 7;
  EXPECT_EQ(point_limit_s(point), 7);
}

TEST(PointLimit, GrowsWithWhatAPointIsAskedFor) {
  Point point{.n = 0};
  point.measurement = {.min_samples = 10, .max_time_ms = 200};
  EXPECT_DOUBLE_EQ(point_limit_s(point), 60 + 2 + 2);
  point.n = 1'000'000'000;
  EXPECT_DOUBLE_EQ(point_limit_s(point), 60 + 2 + 2 + 300);
  point.measurement.modes = {Mode::kCold, Mode::kHot};
  EXPECT_DOUBLE_EQ(point_limit_s(point), 60 + 2 * (2 + 2 + 300));
}

}  // namespace
}  // namespace reduce_bench
