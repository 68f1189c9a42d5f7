// What driver and worker tell each other arrives as it was sent.
#include "worker/wire.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "plan/variants.hpp"
#include "worker/channel.hpp"

namespace reduce_bench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A connected pair.
std::pair<std::unique_ptr<Channel>, std::unique_ptr<Channel>> channels() {
  int pair[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  return {std::make_unique<Channel>(pair[0]), std::make_unique<Channel>(pair[1])};
}

Json over_the_wire(const Json& message) {
  auto [here, there] = channels();
  std::thread sender([&] { EXPECT_TRUE(here->send(message)); });
  std::optional<Json> received;
  while (!(received = there->next()) && there->receive_some()) {
  }
  sender.join();
  return received.value();
}

/// A record in which no member has its default value.
Record full_record() {
  Record record;
  record.status = Status::kWrong;
  record.known_wrong = true;
  record.reason = "not UTF-8: \xff, and a\nline";
  record.input_checksum = 0xfedcba9876543210u;
  record.launch =
      Launches{.kernels = 2, .grid = 3, .block = 4, .shared_bytes = 1ul << 40, .registers = 6};
  record.traffic = {.read_bytes = 7, .written_bytes = 8};
  record.workspace_bytes = 9;
  record.count_bits = 64;
  record.verification = Verification{.array = "labels",
                                     .index = 10,
                                     .elements = 11,
                                     .mismatches = 12,
                                     .expected = {Type::kF64, 0x7ff8000000000001u},
                                     .actual = {Type::kF32, 0xffffffffu},
                                     .comparison = {.passed = true,
                                                    .error_abs = kInfinity,
                                                    .error_relative = 0.1,
                                                    .error_ulp = 5e-324},
                                     .bound_abs = -kInfinity,
                                     .condition = 1.0 / 3,
                                     .passed_before = true,
                                     .passed_after = false,
                                     .deterministic = true,
                                     .twin_passed_before = true,
                                     .twin_passed_after = false};
  record.timing[Mode::kHot] = {.samples_ns = {0.1, 1.0 / 3, 1e300, 4},
                               .sm_clocks_mhz = {1980.5},
                               .round_trips_ns = {9000.5, 1e4},
                               .discarded = 9,
                               .throttled = true,
                               .stopped_by = StoppedBy::kTime};
  record.timing[Mode::kGraph] = {.samples_ns = {2}};
  record.pages = GrantedPages{.bytes = 13, .huge_bytes = 14};
  record.counters = {{.name = "one", .count = ~std::uint64_t{0}},
                     {.name = "other", .unavailable = "forbidden"}};
  return record;
}

TEST(Wire, ARecordArrivesAsItWas) {
  const Record sent = full_record();
  const Record got = record_from_wire(over_the_wire(to_wire(sent)), sent.point);
  // Every member travels, so equal wires are equal records.
  EXPECT_EQ(to_wire(got), to_wire(sent));
  EXPECT_EQ(got.status, sent.status);
  EXPECT_EQ(got.reason, sent.reason);
  EXPECT_EQ(got.input_checksum, sent.input_checksum);
  EXPECT_EQ(got.launch->shared_bytes, sent.launch->shared_bytes);
  EXPECT_EQ(got.verification->expected.bits, sent.verification->expected.bits);
  EXPECT_EQ(got.verification->comparison.error_abs, kInfinity);
  EXPECT_EQ(got.verification->bound_abs, -kInfinity);
  EXPECT_EQ(got.verification->passed_after, false);
  EXPECT_EQ(got.workspace_bytes, 9u);
  EXPECT_EQ(got.count_bits, 64u);
  EXPECT_EQ(got.pages->huge_bytes, 14u);
  ASSERT_EQ(got.counters.size(), 2u);
  EXPECT_EQ(got.counters[0].count, ~std::uint64_t{0});
  EXPECT_EQ(got.counters[1].name, "other");
  EXPECT_EQ(got.counters[1].unavailable, "forbidden");
  ASSERT_EQ(got.timing.size(), 2u);
  EXPECT_EQ(got.timing.at(Mode::kHot).samples_ns, sent.timing.at(Mode::kHot).samples_ns);
  EXPECT_EQ(got.timing.at(Mode::kHot).stopped_by, StoppedBy::kTime);
}

TEST(Wire, ANanStaysOne) {
  Record sent = full_record();
  sent.verification->comparison.error_abs = std::nan("");
  const Record got = record_from_wire(over_the_wire(to_wire(sent)), sent.point);
  EXPECT_TRUE(std::isnan(got.verification->comparison.error_abs));
}

TEST(Wire, AnEmptyRecordArrivesEmpty) {
  const Record got = record_from_wire(over_the_wire(to_wire(Record{})), Point{});
  EXPECT_FALSE(got.launch || got.verification || got.input_checksum || got.pages || got.count_bits);
  EXPECT_TRUE(got.timing.empty());
  EXPECT_EQ(to_wire(got), to_wire(Record{}));
}

TEST(Wire, APointArrivesAsItWas) {
  Point sent{.index = 3,
             .entry = &find_variant("harris/6"),
             .backend = Backend::kEmu,
             .n = std::size_t{1} << 40,
             .buckets = std::size_t{1} << 33,
             .type = Type::kF64,
             .op = Op::kMax,
             .distribution = {.kind = Distribution::Kind::kCancelling, .condition = 1e7},
             .labels = {.kind = LabelDistribution::Kind::kZipf, .exponent = 1.5, .length = 7},
             .params = default_params(find_variant("harris/6").variant),
             .seed = ~std::uint64_t{0},
             .measurement = {.modes = {Mode::kGraph, Mode::kHot},
                             .min_samples = 11,
                             .max_samples = 12,
                             .max_time_ms = 0.1,
                             .relative_ci = 0.2,
                             .interleave = 13,
                             .clock_floor = 0.3,
                             .counters = true,
                             .energy = true,
                             .point_timeout_s = 0.4},
             .group = 14,
             .sweeps = {15, 16}};
  sent.params.set("block", "64");
  const Point got = point_from_wire(over_the_wire(to_wire(sent)));
  EXPECT_EQ(to_wire(got), to_wire(sent));
  EXPECT_EQ(describe(got), describe(sent));
  EXPECT_EQ(got.entry, sent.entry);
  EXPECT_EQ(got.params, sent.params);
  EXPECT_EQ(got.input_key(), sent.input_key());
  EXPECT_EQ(got.buckets, sent.buckets);
  EXPECT_EQ(got.labels, sent.labels);
  EXPECT_EQ(got.measurement.modes, sent.measurement.modes);
  EXPECT_EQ(got.measurement.point_timeout_s, 0.4);
}

TEST(Wire, AnImageIsReadWhereItArrives) {
  const auto file = std::filesystem::temp_directory_path() / "wire_test.pgm";
  std::ofstream(file) << "P2 2 1 255 3 200";
  Point sent{
      .entry = &find_variant("atomic/global"),
      .labels = {
          .kind = LabelDistribution::Kind::kImage, .file = "elsewhere.pgm", .path = file.string()}};
  const Point first = point_from_wire(to_wire(sent));
  const Point second = point_from_wire(to_wire(sent));
  ASSERT_NE(first.labels.image, nullptr);
  EXPECT_EQ(first.labels.image->pixels, (std::vector<std::uint16_t>{3, 200}));
  EXPECT_EQ(first.labels, second.labels);  // so that their inputs are shared
}

TEST(Wire, APluginsDeclarationArrivesAsItWas) {
  const DeclaredPlugin sent{
      .file = {.path = "./a.so", .name = "a.so", .checksum = "01", .version = "2"},
      .variants = {{.id = "a/b",
                    .title = "c",
                    .source = "d",
                    .description = "e",
                    .backend = Backend::kCuda,
                    .operation = Operation::kMultireduce,
                    .combinations = {{Type::kF32, Op::kMax}, {Type::kI64, Op::kXor}},
                    .params = {{"block", "1", {"1", "2"}, "threads"}},
                    .max_buckets = 3,
                    .synchronous = true,
                    .launches = 4}}};
  const DeclaredPlugin got = plugin_from_wire(over_the_wire(to_wire(sent)));
  EXPECT_EQ(to_wire(got), to_wire(sent));
  EXPECT_EQ(got.file.checksum, "01");
  ASSERT_EQ(got.variants.size(), 1u);
  EXPECT_EQ(got.variants[0].combinations.at(1).op, Op::kXor);
  EXPECT_EQ(got.variants[0].params.at(0).allowed, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(got.variants[0].max_buckets, 3u);
}

TEST(Wire, OptionsAndTraitsArriveAsTheyWere) {
  const ExecuteOptions options{.timed = false,
                               .budget_share = 0.1,
                               .lead = {2, 3},
                               .check_determinism = false,
                               .emu_seed = 3};
  EXPECT_EQ(to_wire(options_from_wire(over_the_wire(to_wire(options)))), to_wire(options));
  const DeviceTraits traits{1, 2, 3, 4, 5, true, 7};
  EXPECT_EQ(to_wire(traits_from_wire(over_the_wire(to_wire(traits)))), to_wire(traits));
}

TEST(Wire, CeilingsArriveAsTheyWere) {
  const Ceilings sent{.reads = {{.size_bytes = 1, .median_ns = 0.1, .shape = "one thread"}},
                      .copy_bytes = 2,
                      .copy_median_ns = 0.3,
                      .empty_launch_ns = 0.4,
                      .further_launch_ns = 0.5};
  const Ceilings got = ceilings_from_wire(over_the_wire(to_wire(sent)));
  EXPECT_EQ(to_wire(got), to_wire(sent));
  EXPECT_EQ(got.reads.at(0).shape, "one thread");
  EXPECT_EQ(got.empty_launch_ns, 0.4);
  EXPECT_EQ(got.further_launch_ns, 0.5);
}

TEST(Channel, MessagesLargerThanASocketHoldsArriveWhole) {
  const std::vector<double> samples(1'000'000, 1.0 / 3);
  EXPECT_EQ(over_the_wire(samples).get<std::vector<double>>(), samples);
}

TEST(Channel, MessagesSentTogetherAreTakenOneByOne) {
  auto [here, there] = channels();
  ASSERT_TRUE(here->send("one") && here->send("two"));
  ASSERT_TRUE(there->receive_some());
  EXPECT_EQ(there->next(), Json("one"));
  EXPECT_EQ(there->next(), Json("two"));
  EXPECT_EQ(there->next(), std::nullopt);
}

TEST(Channel, AClosedEndIsTold) {
  auto [here, there] = channels();
  there.reset();
  EXPECT_FALSE(here->send("lost"));  // and no SIGPIPE
  EXPECT_FALSE(here->receive_some());
}

TEST(Channel, WhatIsNoMessageIsRefused) {
  auto [here, there] = channels();
  const std::string noise(16, '\xff');
  ASSERT_EQ(write(here->descriptor(), noise.data(), noise.size()), 16);
  ASSERT_TRUE(there->receive_some());
  EXPECT_ANY_THROW(there->next());
}

}  // namespace
}  // namespace reduce_bench
