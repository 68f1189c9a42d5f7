// One point on several devices: shares, results on one or all, and what goes wrong on a single one.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "expect_error.hpp"
#include "kernels/api/devices.hpp"
#include "kernels/platform/emu_device.hpp"
#include "plan/plan.hpp"
#include "point/execute.hpp"

namespace reduce_bench {
namespace {

TEST(Shares, AreEqualAndMakeUpTheWhole) {
  for (const std::size_t n : {0u, 1u, 2u, 7u, 1000u, 1001u})
    for (const unsigned devices : {1u, 2u, 3u, 8u}) {
      std::size_t sum = 0;
      for (unsigned rank = 0; rank < devices; ++rank) {
        sum += share_of(n, devices, rank);
        EXPECT_LE(share_of(n, devices, rank), share_of(n, devices, 0));
        EXPECT_LE(share_of(n, devices, 0), share_of(n, devices, rank) + 1);
      }
      EXPECT_EQ(sum, n);
    }
}

std::int32_t sum_of(const DeviceShare& share) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < share.n; ++i) {
    std::uint32_t x = 0;
    std::memcpy(&x, static_cast<const std::byte*>(share.values) + i * sizeof(x), sizeof(x));
    sum += x;
  }
  return static_cast<std::int32_t>(sum);
}

/// Sums on the host. `kAfter` is told of every share once the results are there.
template <void (*kAfter)(const DeviceShare&, unsigned rank)>
void sum(const Call& call) {
  std::uint32_t total = 0;
  for (const DeviceShare& share : call.shares) total += static_cast<std::uint32_t>(sum_of(share));
  unsigned rank = 0;
  for (const DeviceShare& share : call.shares) {
    if (share.results != nullptr) std::memcpy(share.results, &total, sizeof(total));
    kAfter(share, rank++);
  }
}

void nothing(const DeviceShare&, unsigned) {}
void spoils_last_result(const DeviceShare& share, unsigned rank) {
  if (rank == 2) ++*static_cast<std::int32_t*>(share.results);
}
void damages_last_share(const DeviceShare& share, unsigned rank) {
  if (rank == 2) ++static_cast<unsigned char*>(const_cast<void*>(share.values))[0];
}
[[maybe_unused]] void oversteps_second_workspace(const DeviceShare& share, unsigned rank) {
  if (rank == 1) share.workspace[16] = std::byte{1};
}

class SeveralDevices : public testing::Test {
 protected:
  Record run(Enqueue enqueue, const std::string& devices, const std::string& result) {
    entry.variant = {.id = "made-up/sum", .params = {devices_axis(), result_axis()}};
    entry.variant.workspace = [](const Problem&) { return Workspace{.device_bytes = 16}; };
    entry.variant.enqueue[index_of(Type::kI32)][index_of(Op::kSum)] = enqueue;
    entry.built[index_of(Backend::kEmu)] = &entry.variant;
    Point point{.entry = &entry, .backend = Backend::kEmu, .n = 1000};
    point.params = default_params(entry.variant);
    point.params.set("devices", devices);
    point.params.set("result", result);
    return session.execute(point, {.timed = false});
  }

  CatalogEntry entry;
  Session session{make_emu_device()};
};

TEST_F(SeveralDevices, HaveAShareEach) {
  for (const char* const result : {"one", "all"})
    for (const char* const devices : {"1", "2", "3", "all"}) {
      const Record record = run(sum<nothing>, devices, result);
      EXPECT_EQ(record.status, Status::kOk) << record.reason;
      const unsigned count = devices == std::string("all") ? 3 : std::stoul(devices);
      ASSERT_TRUE(record.spread);
      EXPECT_EQ(record.spread->devices, count);
      // Every device's result was compared.
      EXPECT_EQ(record.verification->elements, result == std::string("all") ? count : 1u);
    }
}

TEST_F(SeveralDevices, MoreThanThereAreAreSkipped) {
  const Record record = run(sum<nothing>, "4", "one");
  EXPECT_EQ(record.status, Status::kSkipped);
  EXPECT_TRUE(record.device_lacks);
  EXPECT_EQ(record.reason, "asks for 4 devices, 3 can be used on emu");
}

TEST_F(SeveralDevices, AWrongResultOnOneOfThemIsFound) {
  const Record record = run(sum<spoils_last_result>, "3", "all");
  EXPECT_EQ(record.status, Status::kWrong);
  EXPECT_CONTAINS(record.reason, "on device 2 of the point, got ");
  EXPECT_EQ(record.verification->device, 2u);
}

TEST_F(SeveralDevices, AShareThatIsModifiedIsFound) {
  const Record record = run(sum<damages_last_share>, "3", "one");
  EXPECT_EQ(record.status, Status::kWrong);
  EXPECT_EQ(run(sum<nothing>, "3", "one").status, Status::kOk);  // on inputs made anew
}

#ifndef __SANITIZE_ADDRESS__
TEST_F(SeveralDevices, AWorkspaceThatIsOversteppedIsFound) {
  const Record record = run(sum<oversteps_second_workspace>, "2", "one");
  EXPECT_EQ(record.status, Status::kWrong);
  EXPECT_EQ(record.reason, "wrote out of the bounds of its scratch memory");
}
#endif

}  // namespace
}  // namespace reduce_bench
