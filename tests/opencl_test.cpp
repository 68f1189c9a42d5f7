// The OpenCL backend on the device that comes first: memory, programs, times, and that no object
// outlives it.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/inputs.hpp"
#include "devices/machine.hpp"
#include "expect_error.hpp"
#include "kernels/platform/opencl_queue.hpp"
#include "opencl_objects.hpp"
#include "plan/variants.hpp"
#include "point/execute.hpp"

namespace reduce_bench {
namespace {

using opencl::KernelSource;
using opencl::Queue;

/// The device of `make_opencl_device(0)`.
cl::Device first_device() {
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  std::vector<cl::Device> devices;
  for (const cl::Platform& platform : platforms)
    if (std::vector<cl::Device> of_platform;
        platform.getDevices(CL_DEVICE_TYPE_ALL, &of_platform) == CL_SUCCESS)
      devices.insert(devices.end(), of_platform.begin(), of_platform.end());
  return devices.at(0);
}

class Opencl : public testing::Test {
 protected:
  void SetUp() override {
    if (!machine.unavailable(Backend::kOpencl).empty())
      GTEST_SKIP() << machine.unavailable(Backend::kOpencl);
  }
  const OpenclInfo& info() const { return machine.opencl().devices.at(0); }
  bool is_pocl() const { return info().platform == "Portable Computing Language"; }

  Machine machine;
};

constexpr std::string_view kSpin = R"~~(
kernel void spin(global uint* words, ulong words_begin, ulong steps) {
  uint x = get_global_id(0);
  for (ulong i = 0; i < steps; ++i) x = x * 1664525u + 1013904223u;
  words[words_begin + get_global_id(0)] = x;
}
)~~";

TEST_F(Opencl, AnAddressNamesABufferAndAPlaceInIt) {
  Queue queue(first_device());
  std::byte* const a = queue.allocate(1000);
  std::byte* const b = queue.allocate(4096);
  EXPECT_EQ(queue.allocated_bytes(), 5096u);
  for (const std::size_t offset :
       {std::size_t{0}, std::size_t{1}, std::size_t{999}, std::size_t{1000}}) {
    EXPECT_EQ(queue.place_of(a + offset).offset_bytes, offset);
    EXPECT_EQ(queue.place_of(a + offset).buffer(), queue.place_of(a).buffer());
  }
  // The end of one range is not the beginning of another.
  EXPECT_EQ(queue.place_of(b + 4096).buffer(), queue.place_of(b).buffer());
  EXPECT_NE(queue.place_of(a).buffer(), queue.place_of(b).buffer());
  int of_host = 0;
  EXPECT_FALSE(queue.find(&of_host));
  queue.release(a);
  EXPECT_FALSE(queue.find(a));
  EXPECT_EQ(queue.allocated_bytes(), 4096u);
}

TEST_F(Opencl, CopiesAndChecksumsWhatItStores) {
  const auto device = make_opencl_device(0);
  std::vector<std::uint32_t> values(5003);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i * i);
  const std::size_t size_bytes = values.size() * sizeof(std::uint32_t);
  const Memory memory = device->allocate(size_bytes + 4);
  device->upload(memory.data() + 4, values.data(), size_bytes);
  std::vector<std::uint32_t> back(values.size());
  device->download(back.data(), memory.data() + 4, size_bytes);
  EXPECT_EQ(back, values);
  const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
  EXPECT_EQ(device->checksum(memory.data() + 4, values.size(), 4),
            checksum(bytes, values.size(), 4));
  EXPECT_EQ(device->checksum(memory.data() + 4, size_bytes, 1), checksum(bytes, size_bytes, 1));
  EXPECT_EQ(device->checksum(memory.data(), 0, 8), 0u);
  device->fill(memory.data() + 4, 0xa5, 8);
  device->download(back.data(), memory.data() + 4, size_bytes);
  EXPECT_EQ(back[0], 0xa5a5a5a5u);
  EXPECT_EQ(back[2], values[2]);
}

TEST_F(Opencl, AProgramThatDoesNotCompileIsToldWithTheLog) {
  Queue queue(first_device());
  const KernelSource broken{.id = "made/up",
                            .text = "kernel void made_up() { undeclared_word = 1; }",
                            .options = "-D SOMETHING=7"};
  const std::string told = message_of<opencl::OpenclError>([&] { queue.kernel(broken); });
  for (const char* part :
       {"made/up", "-D SOMETHING=7", "undeclared_word", "made/up.cl", "CL_BUILD_PROGRAM_FAILURE"})
    EXPECT_CONTAINS(told, part);
}

TEST_F(Opencl, AProgramIsBuiltOnceForItsOptions) {
  Queue queue(first_device());
  const long before = opencl_builds();
  KernelSource spin{.id = "spin", .text = kSpin, .options = "-D A=1"};
  const opencl::BuiltKernel* const first = &queue.kernel(spin);
  EXPECT_EQ(&queue.kernel(spin), first);
  EXPECT_EQ(opencl_builds() - before, 1);
  spin.options = "-D A=2";
  EXPECT_NE(&queue.kernel(spin), first);
  EXPECT_EQ(opencl_builds() - before, 2);
}

TEST_F(Opencl, WhatADeviceLacksIsToldInNumbers) {
  Queue queue(first_device());
  KernelSource spin{.id = "spin", .text = kSpin};
  opencl::BuiltKernel& built = queue.kernel(spin);
  const std::string work_items = std::to_string(built.most_work_items);
  std::string told =
      message_of<DeviceLacks>([&] { queue.launch(built, {1, 2 * built.most_work_items}); });
  EXPECT_CONTAINS(told, std::to_string(2 * built.most_work_items));
  EXPECT_CONTAINS(told, "at most " + work_items);
  told = message_of<DeviceLacks>([&] { queue.launch(built, {1, 1, info().local_bytes + 4}); });
  EXPECT_CONTAINS(told, std::to_string(info().local_bytes + 4));
  EXPECT_CONTAINS(told, "has " + std::to_string(info().local_bytes));
  spin.extensions = {"cl_made_up"};
  spin.options = "-D B";
  told = message_of<DeviceLacks>([&] { queue.kernel(spin); });
  EXPECT_CONTAINS(told, "cl_made_up");
  told = message_of<DeviceLacks>([&] { queue.allocate(info().largest_buffer_bytes + 1); });
  EXPECT_CONTAINS(told, std::to_string(info().largest_buffer_bytes));
}

TEST_F(Opencl, TheDevicesTimeOfLongWorkIsNearlyTheHosts) {
  using Clock = std::chrono::steady_clock;
  Queue queue(first_device());
  opencl::BuiltKernel& spin = queue.kernel({.id = "spin", .text = kSpin});
  std::byte* const words = queue.allocate(64 * sizeof(std::uint32_t));
  const auto run = [&](std::size_t steps) {
    opencl::ArgumentList list(queue, spin.kernel);
    list.add(reinterpret_cast<std::uint32_t*>(words));
    list.add(steps);
    queue.start_timing();
    const auto before = Clock::now();
    queue.launch(spin, {1, 1});
    queue.launch(spin, {1, 1});
    queue.finish();
    const double host_ns = std::chrono::duration<double, std::nano>(Clock::now() - before).count();
    return std::pair(queue.elapsed_ns().value(), host_ns);
  };
  run(1);
  // Long enough that starting and waiting are a small part: a tenth of a second or more.
  std::size_t steps = 1 << 20;
  while (run(steps).second < 1e8) steps *= 2;
  const auto [device_ns, host_ns] = run(steps);
  EXPECT_LE(device_ns, 1.02 * host_ns);
  EXPECT_GE(device_ns, 0.9 * host_ns);
}

Point point_of(const std::string& id, std::size_t n) {
  Point point{.entry = &find_variant(id), .backend = Backend::kOpencl, .n = n};
  point.params = default_params(point.entry->variant);
  point.measurement.min_samples = 3;
  point.measurement.max_samples = 5;
  point.measurement.modes = {Mode::kCold, Mode::kHot};
  return point;
}

TEST_F(Opencl, APointIsVerifiedAndTimedInBothModes) {
  Session session(make_opencl_device(0));
  const Record record = session.execute(point_of("catanzaro/two-stage", 100003));
  EXPECT_EQ(record.status, Status::kOk) << record.reason;
  EXPECT_EQ(record.timing.size(), 2u);
  ASSERT_TRUE(record.launch);
  EXPECT_EQ(record.launch->kernels, 2u);
  EXPECT_EQ(record.launch->grid % info().compute_units, 0u);
}

/// What the tree without barriers leaves where work-item 0 goes through all its steps before any other
/// has begun: the elements that it adds are as they were loaded.
std::uint32_t fold_by_the_first_alone(std::span<const std::uint32_t> partial) {
  std::uint32_t sum = partial[0];
  for (std::size_t offset = partial.size() / 2; offset > 0; offset /= 2) sum += partial[offset];
  return sum;
}

// PoCL executes the work-items of a group one after the other from barrier to barrier. On GPUs it
// depends on what the warps do, and a run may be right.
TEST_F(Opencl, TheTreeWithoutBarriersIsWrongOnPoclAsItsOrderSays) {
  if (!is_pocl()) GTEST_SKIP() << "the device is not PoCL's";
  Session session(make_opencl_device(0));
  Point point = point_of("jradi/unrolled", 0);
  constexpr std::size_t kBlock = 64;
  point.n = kBlock * info().compute_units;  // an element for each work-item of the first stage
  point.params.set("F", "1");
  point.params.set("block", std::to_string(kBlock));
  point.params.set("blocks_per_sm", "1");
  point.params.set("tree", "barrier-free");
  const Record record = session.execute(point, {.timed = false});
  EXPECT_EQ(record.status, Status::kWrong);
  EXPECT_TRUE(record.known_wrong);
  ASSERT_TRUE(record.verification);
  EXPECT_TRUE(record.verification->deterministic.value());

  const HostArray inputs = generate(point.input_key(), 0, 0);
  std::vector<std::uint32_t> values(point.n), partials(kBlock, 0);
  std::memcpy(values.data(), inputs.data(), point.n * sizeof(std::uint32_t));
  for (std::size_t group = 0; group < info().compute_units; ++group)
    partials[group % kBlock] +=
        fold_by_the_first_alone(std::span(values).subspan(group * kBlock, kBlock));
  const auto predicted = static_cast<std::int32_t>(fold_by_the_first_alone(partials));
  EXPECT_EQ(record.verification->actual.to_text(), std::to_string(predicted));
  for (const char* const tree : {"barriers", "algebraic"}) {
    point.params.set("tree", tree);
    const Record right = session.execute(point, {.timed = false});
    EXPECT_EQ(right.status, Status::kOk) << tree << ": " << right.reason;
  }
}

TEST_F(Opencl, NoObjectOutlivesTheDevice) {
  // Objects that the process keeps, such as the bindings' default device, are there before.
  make_opencl_device(0).reset();
  const auto before = opencl_objects_alive();
  {
    Session session(make_opencl_device(0));
    Device& device = session.device();
    const Memory a = device.allocate(1 << 16), b = device.allocate(1 << 16);
    for (const auto& enqueue :
         {device.read_shapes(a.data(), a.size_bytes()).front().enqueue,
          device.copy(a.data(), b.data(), a.size_bytes()), device.empty_launch()})
      EXPECT_GT(device.sample(Mode::kCold, {.enqueue = enqueue}, 1).ns, 0);
    for (const char* const id : {"catanzaro/recursive", "catanzaro/atomic", "jradi/unrolled"})
      EXPECT_EQ(session.execute(point_of(id, 20011)).status, Status::kOk) << id;
    Point too_large = point_of("catanzaro/recursive", 1000);
    too_large.type = Type::kI64;
    session.execute(too_large);
    EXPECT_NE(opencl_objects_alive(), before);  // that it counts at all
  }
  EXPECT_EQ(opencl_objects_alive(), before);
}

}  // namespace
}  // namespace reduce_bench
