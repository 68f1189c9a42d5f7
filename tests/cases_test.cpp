// The cases in which a variant is verified, and what is concluded from them.
#include "plan/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "point/check.hpp"

namespace reduce_bench {
namespace {

using Kind = LabelDistribution::Kind;

// ---- a made-up variant ------------------------------------------------------------------------

void does_nothing(const Call&) {}

ParamSpec axis(std::string name, std::vector<std::string> allowed) {
  return {std::move(name), allowed.front(), allowed, "for the test"};
}

/// A variant with two axes of names and two of numbers, and what tests add to it.
struct MadeUp {
  explicit MadeUp(Operation operation = Operation::kReduce) {
    entry.variant = {.id = "made/up",
                     .operation = operation,
                     .params = {axis("form", {"fixed", "published"}),
                                axis("block", {"128", "64", "auto"}), axis("unroll", {"auto", "8"}),
                                axis("tree", {"interleaved", "sequential", "none"})}};
    if (is_scan(operation)) entry.variant.params.insert(entry.variant.params.begin(), scan_axis());
    provide(default_type(operation), default_op(operation));
    entry.built.fill(&entry.variant);
    entry.declared.fill(true);
  }
  MadeUp(const MadeUp&) = delete;

  void provide(Type type, Op op) {
    entry.variant.enqueue[index_of(type)][index_of(op)] = does_nothing;
  }
  std::vector<Case> cases(Type type, Op op = Op::kSum, bool full = false,
                          Backend backend = Backend::kEmu) const {
    return cases_of({entry, backend, traits, full}, type, op);
  }
  /// Of the default type and operator.
  std::vector<Case> cases(bool full = false, Backend backend = Backend::kEmu) const {
    const Operation operation = entry.variant.operation;
    return cases(default_type(operation), default_op(operation), full, backend);
  }

  CatalogEntry entry;
  DeviceTraits traits{.sm_count = 3};
};

using Condition = std::function<bool(const Case&)>;

bool is_usual(const Case& c) {
  return c.lead == Lead{} && c.point.distribution == Distribution{} &&
         c.point.labels == LabelDistribution{} &&
         c.point.params == default_params(c.point.entry->variant);
}

std::set<std::size_t> sizes(const std::vector<Case>& cases, const Condition& which = is_usual) {
  std::set<std::size_t> sizes;
  for (const Case& c : cases)
    if (which(c)) sizes.insert(c.point.n);
  return sizes;
}

void expect_contains(const std::set<std::size_t>& sizes, const std::set<std::size_t>& wanted) {
  for (const std::size_t n : wanted) EXPECT_TRUE(sizes.contains(n)) << n;
}

std::string text(const Params& params) {
  std::string text;
  for (const auto& entry : params.entries()) text += entry.name + "=" + entry.value + " ";
  return text;
}

/// The catalog's variants with the backends for which they are written.
void for_every_subject(bool full, const std::function<void(const Subject&)>& f) {
  const DeviceTraits traits;
  for (const CatalogEntry& entry : catalog())
    for (std::size_t b = 0; b < kBackendCount; ++b)
      if (entry.declared[b]) f({entry, static_cast<Backend>(b), traits, full});
}

std::vector<Case> main_cases(const Subject& subject) {
  const Variant& variant = subject.entry.variant;
  for (std::size_t o = 0; o < kOpCount; ++o)
    for (std::size_t t = 0; t < kTypeCount; ++t)
      if (variant.enqueue[t][o] != nullptr)
        return cases_of(subject, static_cast<Type>(t), static_cast<Op>(o));
  return {};
}

// ---- sizes ------------------------------------------------------------------------------------

TEST(CaseSizes, AreAwkwardOnesAndOneThatIsLarge) {
  const MadeUp made_up;
  expect_contains(sizes(made_up.cases()),
                  {0, 1, 2, 31, 33, 256, 1000, 1024, 4099, large_size(Backend::kEmu)});
  EXPECT_TRUE(sizes(made_up.cases(false, Backend::kCpu)).contains(132001));
  EXPECT_FALSE(sizes(made_up.cases()).contains(132001));
}

TEST(CaseSizes, OfAFullCheckAreBothSidesOfEveryPowerOfTwoAndOfEveryTile) {
  const std::set<std::size_t> emulated = sizes(MadeUp().cases(true));
  for (std::size_t power = 2; power <= 8192; power *= 2)
    expect_contains(emulated, {power - 1, power, power + 1});
  for (const std::size_t block : {64, 128})
    for (const std::size_t tiles : {1, 2, 3, 8})
      expect_contains(emulated, {block * tiles - 1, block * tiles, block * tiles + 1});
  EXPECT_FALSE(emulated.contains(16384));
  const std::set<std::size_t> fast = sizes(MadeUp().cases(true, Backend::kCuda));
  for (std::size_t power = 2; power <= std::size_t{1} << 22; power *= 2)
    expect_contains(fast, {power - 1, power, power + 1});
}

TEST(CaseSizes, AreBothSidesOfEveryBorder) {
  MadeUp made_up;
  made_up.provide(Type::kF64, Op::kSum);
  made_up.provide(Type::kF32, Op::kSum);
  made_up.provide(Type::kI32, Op::kMin);
  made_up.entry.variant.borders = [](const Problem& p) -> std::vector<std::size_t> {
    return {7777, p.device.sm_count * std::size_t{10000}};
  };
  const std::set<std::size_t> around{7777, 7778, 8786, 30000, 30001, 31009};
  expect_contains(sizes(made_up.cases(Type::kI32)), around);
  expect_contains(sizes(made_up.cases(Type::kF64)), around);
  for (const std::size_t n : around) {
    EXPECT_FALSE(sizes(made_up.cases(Type::kF32)).contains(n));
    EXPECT_FALSE(sizes(made_up.cases(Type::kI32, Op::kMin)).contains(n));
  }
}

TEST(CaseSizes, OfEveryVariantHoldItsBorders) {
  unsigned with_borders = 0;
  for_every_subject(false, [&](const Subject& subject) {
    const Variant& variant = subject.entry.variant;
    if (variant.borders == nullptr) return;
    ++with_borders;
    const Params params = default_params(variant);
    const Point usual = main_cases(subject).front().point;
    const Problem problem{.operation = variant.operation,
                          .type = usual.type,
                          .op = usual.op,
                          .params = params,
                          .device = subject.traits};
    const std::set<std::size_t> checked = sizes(cases_of(subject, problem.type, problem.op));
    for (const std::size_t border : variant.borders(problem))
      expect_contains(checked, {border, border + 1, border + 1009});
  });
  EXPECT_GT(with_borders, 0u);
}

TEST(CaseSizes, HaveValuesOfTheirOwn) {
  std::map<std::size_t, std::set<std::uint64_t>> seeds;
  for (const Case& c : MadeUp().cases()) seeds[c.point.n].insert(c.point.seed);
  std::set<std::uint64_t> all;
  for (const auto& [n, seeds_of_n] : seeds) {
    EXPECT_EQ(seeds_of_n.size(), 1u) << n;
    EXPECT_TRUE(all.insert(*seeds_of_n.begin()).second) << n;
  }
}

// ---- settings ---------------------------------------------------------------------------------

TEST(CaseSettings, AreAllCombinationsOfNamesAndEveryNumberOnce) {
  const MadeUp made_up;
  std::set<std::string> settings;
  for (const Case& c : made_up.cases()) settings.insert(text(c.point.params));
  std::set<std::string> expected;
  for (const std::string form : {"fixed", "published"})
    for (const std::string tree : {"interleaved", "sequential", "none"})
      expected.insert("form=" + form + " block=128 unroll=auto tree=" + tree + " ");
  for (const std::string numbers :
       {"block=64 unroll=auto", "block=auto unroll=auto", "block=128 unroll=8"})
    expected.insert("form=fixed " + numbers + " tree=interleaved ");
  EXPECT_EQ(settings, expected);
}

TEST(CaseSettings, AreEachTriedOnceAtEachSize) {
  const MadeUp made_up;
  std::map<std::string, std::multiset<std::size_t>> tried;
  for (const Case& c : made_up.cases()) tried[text(c.point.params)].insert(c.point.n);
  tried.erase(text(default_params(made_up.entry.variant)));
  for (auto& [setting, sizes] : tried) {
    // One element less than a block, which `auto` does not tell.
    const std::size_t block = setting.find("block=64") != std::string::npos ? 64 : 128;
    std::multiset<std::size_t> expected{1009, 1024, 4099, large_size(Backend::kEmu)};
    if (setting.find("block=auto") == std::string::npos) expected.insert(block - 1);
    EXPECT_EQ(sizes, expected) << setting;
  }
}

TEST(CaseSettings, OfEveryVariantHoldEveryValueOfEveryAxis) {
  for_every_subject(false, [&](const Subject& subject) {
    std::set<std::pair<std::string, std::string>> tried;
    for (const Case& c : main_cases(subject))
      for (const auto& entry : c.point.params.entries()) tried.emplace(entry.name, entry.value);
    for (const ParamSpec& spec : subject.entry.variant.params)
      for (const std::string& value : spec.allowed)
        EXPECT_EQ(tried.contains({spec.name, value}), spec.runs_on(subject.backend, value))
            << subject.entry.variant.id << " " << spec.name << "=" << value;
  });
}

TEST(CaseSettings, LookForADefectBeforeAnythingElse) {
  MadeUp made_up;
  const auto is_extreme = [](const Case& c) {
    return c.point.distribution.kind == Distribution::Kind::kExtremes;
  };
  const auto first_of_each = [&] {
    std::map<std::string, Case> first;
    for (const Case& c : made_up.cases()) first.emplace(text(c.point.params), c);
    first.erase(text(default_params(made_up.entry.variant)));
    return first;
  };
  for (const auto& [setting, c] : first_of_each()) EXPECT_FALSE(is_extreme(c)) << setting;
  made_up.entry.variant.defect = [](const Problem&) -> std::optional<Defect> { return Defect{}; };
  EXPECT_EQ(first_of_each().size(), 8u);
  for (const auto& [setting, c] : first_of_each()) EXPECT_TRUE(is_extreme(c)) << setting;
}

// ---- types and operators ----------------------------------------------------------------------

TEST(CaseTypes, OfASizeAndKindStandForTheOthersOnTheEmulator) {
  MadeUp made_up(Operation::kMultireduce);
  made_up.provide(Type::kI32, Op::kMax);
  made_up.provide(Type::kI32, Op::kRight);
  made_up.provide(Type::kI64, Op::kMin);
  made_up.provide(Type::kI64, Op::kMax);
  made_up.provide(Type::kF32, Op::kSum);
  made_up.provide(Type::kF64, Op::kSum);
  const auto of_a_setting = [&](Type type, Op op, bool full, Backend backend) {
    std::size_t most = 0;
    std::map<std::string, std::size_t> tried;
    for (const Case& c : made_up.cases(type, op, full, backend)) ++tried[text(c.point.params)];
    tried.erase(text(default_params(made_up.entry.variant)));
    EXPECT_EQ(tried.size(), 8u);
    for (const auto& [setting, count] : tried) most = std::max(most, count);
    return most;
  };
  using Provided = std::pair<Type, Op>;
  for (const auto& [type, op] : {Provided{Type::kI32, Op::kSum}, Provided{Type::kI32, Op::kRight},
                                 Provided{Type::kI64, Op::kMin}, Provided{Type::kF64, Op::kSum}})
    EXPECT_GE(of_a_setting(type, op, false, Backend::kEmu), 7u) << name_of(type) << name_of(op);
  for (const auto& [type, op] : {Provided{Type::kI32, Op::kMax}, Provided{Type::kI64, Op::kMax},
                                 Provided{Type::kF32, Op::kSum}}) {
    EXPECT_EQ(of_a_setting(type, op, false, Backend::kEmu), 2u) << name_of(type) << name_of(op);
    EXPECT_GE(of_a_setting(type, op, true, Backend::kEmu), 7u);
    EXPECT_GE(of_a_setting(type, op, false, Backend::kCuda), 7u);
    EXPECT_EQ(sizes(made_up.cases(type, op)),
              (std::set<std::size_t>{0, 1, 2, 31, 33, 256, 1000, 1024, 4099}));
  }
}

// ---- values and labels ------------------------------------------------------------------------

TEST(CaseValues, AreOfEveryDistributionThatTheOperatorSuits) {
  MadeUp made_up;
  made_up.provide(Type::kF32, Op::kProd);
  for (const auto& [type, op] : {std::pair{Type::kI32, Op::kSum}, {Type::kF32, Op::kProd}}) {
    std::set<Distribution::Kind> tried, suited;
    for (const Case& c : made_up.cases(type, op)) tried.insert(c.point.distribution.kind);
    for (std::size_t kind = 0; kind < Distribution::kNames.size(); ++kind) {
      const Distribution distribution{.kind = static_cast<Distribution::Kind>(kind)};
      if (kSanitized && distribution.kind != Distribution::Kind::kUniform &&
          distribution.kind != Distribution::Kind::kExtremes)
        continue;
      if (unsuited(distribution, op, type).empty()) suited.insert(distribution.kind);
    }
    EXPECT_EQ(tried, suited) << name_of(op);
  }
}

TEST(CaseLabels, AreOfEveryDistributionForKeyedOperations) {
  for (const bool full : {false, true})
    for_every_subject(full, [&](const Subject& subject) {
      const Variant& variant = subject.entry.variant;
      if (!has_labels(variant.operation)) return;
      // With one bucket all labels are the same.
      Point point = main_cases(subject).front().point;
      point.buckets = 2;
      if (variant.restriction != nullptr &&
          !variant.restriction(point.problem(subject.traits)).empty())
        return;
      const auto text = [](const LabelDistribution& labels) { return to_json(labels).dump(); };
      std::set<std::string> tried, wanted{text({.kind = Kind::kRuns, .length = 1500})};
      for (std::size_t kind = 0; kind < LabelDistribution::kDrawn; ++kind)
        wanted.insert(text({.kind = static_cast<Kind>(kind)}));
      if (full)
        wanted.insert(
            {text({.kind = Kind::kRuns, .length = 3}), text({.kind = Kind::kZipf, .exponent = 2})});
      for (const Case& c : main_cases(subject)) tried.insert(text(c.point.labels));
      EXPECT_EQ(tried, wanted) << subject.entry.variant.id;
    });
}

TEST(CaseBuckets, AreBothSidesOfWarpsBytesAndAllOfOne) {
  const std::size_t usual = kSanitized ? 64 : 256;  // in the many cases about something else
  const MadeUp made_up(Operation::kMultireduce);
  std::set<std::size_t> emulated, fast;
  for (const Case& c : made_up.cases()) emulated.insert(c.point.buckets);
  EXPECT_EQ(emulated, (std::set<std::size_t>{1, 2, 31, 33, usual, 255, 257, 1021, 5003}));
  for (const Case& c : made_up.cases(true, Backend::kCpu)) fast.insert(c.point.buckets);
  EXPECT_EQ(fast, (std::set<std::size_t>{1, 2, 31, 33, usual, 255, 257, 5003, 10007, 65537}));
  for (const Case& c : MadeUp().cases()) EXPECT_EQ(c.point.buckets, 0u);
}

TEST(CaseBuckets, AreAsManyAsTheVariantAllows) {
  MadeUp made_up(Operation::kHistogram);
  made_up.entry.variant.restriction = [](const Problem& p) {
    return std::string(p.buckets > 64 ? "at most 64 buckets" : "");
  };
  const auto degenerate = [](const Case& c) { return c.point.labels.kind == Kind::kDegenerate; };
  const auto of_degenerate = [&] {
    std::set<std::size_t> buckets;
    for (const Case& c : made_up.cases())
      if (degenerate(c)) buckets.insert(c.point.buckets);
    return buckets;
  };
  EXPECT_EQ(of_degenerate(), std::set<std::size_t>{64});
  made_up.entry.variant.restriction = [](const Problem& p) {
    return std::string(p.buckets > 1 ? "one bucket" : "");
  };
  EXPECT_EQ(of_degenerate(), std::set<std::size_t>{1});
  // Labels of one bucket are all the same.
  EXPECT_EQ(
      sizes(made_up.cases(), [](const Case& c) { return c.point.labels.kind == Kind::kZipf; }),
      std::set<std::size_t>{});
}

TEST(CaseBuckets, OfALargeSizeTakeEveryInput) {
  const auto degenerate = [](const Case& c) { return c.point.labels.kind == Kind::kDegenerate; };
  EXPECT_TRUE(sizes(MadeUp(Operation::kMultireduce).cases(), degenerate)
                  .contains(large_size(Backend::kEmu)));
  // A lost input shows where no other has its label, whatever the setting.
  MadeUp scatter(Operation::kScatter);
  scatter.entry.variant.params.push_back(winner_axis());
  std::map<std::string, bool> shows;
  for (const Case& c : scatter.cases())
    if (any_wins(c.point.params))
      shows[text(c.point.params)] |= c.point.labels.kind == Kind::kPermutation &&
                                     c.point.buckets == c.point.n &&
                                     c.point.n == large_size(Backend::kEmu);
  EXPECT_GT(shows.size(), 1u);
  for (const auto& [setting, shown] : shows) EXPECT_TRUE(shown) << setting;
}

// ---- alignment --------------------------------------------------------------------------------

TEST(CaseLeads, AreOneElementAndThreeInAFullCheck) {
  for (const bool full : {false, true}) {
    for_every_subject(full, [&](const Subject& subject) {
      std::set<std::size_t> leads;
      bool values_alone = false, labels_alone = false;
      for (const Case& c : main_cases(subject)) {
        if (c.lead.values > 0 && c.lead.labels > 0) leads.insert(c.lead.values);
        values_alone |= c.lead.values > 0 && c.lead.labels == 0;
        labels_alone |= c.lead.values == 0 && c.lead.labels > 0;
      }
      EXPECT_EQ(leads, (full ? std::set<std::size_t>{1, 3} : std::set<std::size_t>{1}))
          << subject.entry.variant.id;
      const Operation operation = subject.entry.variant.operation;
      const bool both = has_labels(operation) && has_values(operation);
      EXPECT_EQ(values_alone, both) << subject.entry.variant.id;
      EXPECT_EQ(labels_alone, both) << subject.entry.variant.id;
    });
  }
}

TEST(CaseSettings, VaryOnOpenclForPlainSumsAloneUnlessTheCheckIsFull) {
  MadeUp made_up;
  made_up.provide(Type::kI32, Op::kMin);
  const auto varies = [&](Op op, bool full) {
    const std::vector<Case> cases = made_up.cases(Type::kI32, op, full, Backend::kOpencl);
    return std::any_of(cases.begin(), cases.end(), [&](const Case& c) {
      return c.point.params != default_params(made_up.entry.variant);
    });
  };
  EXPECT_TRUE(varies(Op::kSum, false));
  EXPECT_FALSE(varies(Op::kMin, false));
  EXPECT_TRUE(varies(Op::kMin, true));
}

// ---- what is concluded ------------------------------------------------------------------------

Record right(const Point& point, const ExecuteOptions&) {
  Record record{.point = point, .status = Status::kOk};
  record.verification = {.passed_before = true, .deterministic = true};
  return record;
}

Tally check(const MadeUp& made_up, Backend backend, const Execute& execute, bool full = false) {
  return check_variant({made_up.entry, backend, made_up.traits, full}, execute);
}

TEST(Check, CountsEveryCaseOfEveryTypeAndOperator) {
  MadeUp made_up;
  made_up.provide(Type::kF32, Op::kMin);
  const Tally tally = check(made_up, Backend::kCpu, right);
  EXPECT_EQ(tally.passed, made_up.cases(Type::kI32, Op::kSum, false, Backend::kCpu).size() +
                              made_up.cases(Type::kF32, Op::kMin, false, Backend::kCpu).size());
  EXPECT_EQ(tally.skipped + tally.known_wrong, 0u);
  EXPECT_TRUE(tally.deterministic);
  EXPECT_EQ(tally.failures, std::vector<std::string>{});
}

TEST(Check, SaysWithWhatAWrongResultAppearsAgain) {
  const Tally tally =
      check(MadeUp(), Backend::kEmu, [](const Point& point, const ExecuteOptions& options) {
        Record record = right(point, options);
        if (options.lead == Lead{}) return record;
        EXPECT_FALSE(options.timed);
        record.status = Status::kWrong;
        record.reason = "off by one";
        return record;
      });
  ASSERT_EQ(tally.failures.size(), 1u);
  EXPECT_CONTAINS(tally.failures[0], "made/up n=20011 i32 sum uniform form=fixed");
  EXPECT_CONTAINS(tally.failures[0], " on emu misaligned by 1 with scheduling seed ");
  EXPECT_CONTAINS(tally.failures[0], ": off by one");
}

TEST(Check, NoticesThatTwoCallsDiffer) {
  EXPECT_FALSE(
      check(MadeUp(), Backend::kCpu, [](const Point& point, const ExecuteOptions& options) {
        Record record = right(point, options);
        record.verification->deterministic = point.n != 1000;
        return record;
      }).deterministic);
}

TEST(Check, DoesNotBlameAVariantForWhatTheDeviceLacks) {
  const Tally tally =
      check(MadeUp(), Backend::kOpencl, [](const Point& point, const ExecuteOptions& options) {
        if (!point.params.is("block", "64")) return right(point, options);
        return Record{.point = point, .reason = "needs 64, has 32", .device_lacks = true};
      });
  EXPECT_GT(tally.skipped, 0u);
  EXPECT_EQ(tally.lacks, std::set<std::string>{"needs 64, has 32"});
  EXPECT_EQ(tally.failures, std::vector<std::string>{});
}

TEST(Check, FailsForASettingWhoseEveryCaseWasSkipped) {
  const Tally tally =
      check(MadeUp(), Backend::kCpu, [](const Point& point, const ExecuteOptions& options) {
        return point.params.is("tree", "none") ? Record{.point = point, .reason = "has no tree"}
                                               : right(point, options);
      });
  EXPECT_GT(tally.skipped, 0u);
  ASSERT_EQ(tally.failures.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(tally.failures[i],
              std::string("made/up form=") + (i == 0 ? "fixed" : "published") +
                  " block=128 unroll=auto tree=none: every case was skipped, so nothing is known; "
                  "the first: has no tree");
}

TEST(Check, TriesThreeSchedulesInAFullCheckOfTheEmulator) {
  std::map<std::size_t, unsigned> schedules;
  const Execute count = [&](const Point& point, const ExecuteOptions& options) {
    ++schedules[point.n];
    return right(point, options);
  };
  const MadeUp made_up;
  check(made_up, Backend::kEmu, count, true);
  EXPECT_EQ(schedules.at(0), 3u);
  std::size_t large = 0;
  for (const Case& c : made_up.cases(true)) large += c.point.n == large_size(Backend::kEmu);
  EXPECT_EQ(schedules.at(large_size(Backend::kEmu)), large);
  schedules.clear();
  check(made_up, Backend::kEmu, count);
  EXPECT_EQ(schedules.at(0), 1u);
}

class CheckDefect : public testing::Test {
 protected:
  CheckDefect() {
    made_up_.entry.variant.defect = [](const Problem& p) -> std::optional<Defect> {
      if (!p.params.is("form", "published")) return std::nullopt;
      return Defect{.reason = "a race of " + std::to_string(p.n) + " threads", .certain = false};
    };
  }

  /// A result of the form with the defect, by luck right or not.
  static Record with_defect(const Point& point, const ExecuteOptions& options, bool by_luck_right) {
    Record record = right(point, options);
    if (point.params.is("form", "fixed")) return record;
    record.known_wrong = true;
    record.status = by_luck_right ? Status::kOk : Status::kWrong;
    record.verification->passed_before = by_luck_right;
    return record;
  }

  MadeUp made_up_;
};

TEST_F(CheckDefect, IsLookedForUnderOtherSchedulesUntilItShows) {
  unsigned executions = 0;
  const Tally tally =
      check(made_up_, Backend::kEmu, [&](const Point& point, const ExecuteOptions& options) {
        executions += point.params.is("form", "published");
        return with_defect(point, options, options.emu_seed != 1007u);
      });
  EXPECT_EQ(tally.failures, std::vector<std::string>{});
  EXPECT_GT(tally.known_wrong, 0u);
  EXPECT_EQ(executions, tally.known_wrong + 8u);  // of the first case, until seed 1007
}

TEST_F(CheckDefect, ThatNeverShowsIsAFailureOfTheEmulatorAlone) {
  const Execute lucky = [](const Point& point, const ExecuteOptions& options) {
    return with_defect(point, options, true);
  };
  // One line for all problems: numbers do not tell defects apart.
  EXPECT_EQ(check(made_up_, Backend::kEmu, lucky).failures,
            std::vector<std::string>{
                "made/up: documented as wrong (a race of  threads), but every result was right"});
  EXPECT_EQ(check(made_up_, Backend::kCuda, lucky).failures, std::vector<std::string>{});
}

TEST_F(CheckDefect, ShowsInAResultThatIsMissing) {
  EXPECT_EQ(check(made_up_, Backend::kEmu,
                  [](const Point& point, const ExecuteOptions& options) {
                    Record record = with_defect(point, options, true);
                    if (record.known_wrong) record.status = Status::kFailed;
                    return record;
                  })
                .failures,
            std::vector<std::string>{});
}

}  // namespace
}  // namespace reduce_bench
