// Comparing runs: thresholds, pairing, verdicts, environments and reports.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <random>

#include "common/error.hpp"
#include "compare/report.hpp"
#include "expect_error.hpp"
#include "point/measure.hpp"
#include "thresholds_cases.hpp"

namespace reduce_bench {
namespace {

// ---- statistics -------------------------------------------------------------------------------

TEST(Discoveries, FollowBenjaminiAndHochberg) {
  // Their paper's example (1995, section 3.2): 15 hypotheses of which 4 are rejected at 0.05.
  const std::vector<double> p{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                              0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const std::vector<bool> rejected = discoveries(p, 0.05);
  EXPECT_EQ(std::count(rejected.begin(), rejected.end(), true), 4);
  EXPECT_TRUE(rejected[3]);
  EXPECT_TRUE(discoveries({}, 0.05).empty());
}

TEST(Discoveries, RejectWhatASmallerValueWouldNotReachAlone) {
  // 0.04 is above its own limit, 0.025, and below that of the second of two.
  EXPECT_EQ(discoveries(std::vector{0.04, 0.045}, 0.05), (std::vector{true, true}));
  EXPECT_EQ(discoveries(std::vector{0.04, 0.06}, 0.05), (std::vector{false, false}));
}

TEST(LogRatio, OfRoundsIsTheirStudentInterval) {
  std::vector<Round> rounds;
  for (const double ratio : {1.0, 2.0, 4.0})
    rounds.push_back({.base = {.median_ns = 10}, .new_ = {.median_ns = 10 * ratio}});
  const LogRatio ratio = log_ratio(rounds);
  EXPECT_DOUBLE_EQ(ratio.value, std::log(2));
  EXPECT_DOUBLE_EQ(ratio.variance, std::log(2) * std::log(2) / 3);
  EXPECT_EQ(ratio.degrees, 2);
  // Student's t with 2 degrees: 4.302653 at 95 %, and p = 1 - t / sqrt(2 + t^2) for t = sqrt(3).
  EXPECT_NEAR(ratio.half_width(0.95), 4.302653 * std::log(2) / std::sqrt(3), 1e-6);
  EXPECT_NEAR(ratio.p_value(), 1 - std::sqrt(3.0 / 5.0), 1e-12);
}

/// Rounds of base and new with these logarithms of times and of round trips.
std::vector<Round> rounds_beside_trips(const std::vector<double>& base_times,
                                       const std::vector<double>& base_trips,
                                       const std::vector<double>& new_times,
                                       const std::vector<double>& new_trips) {
  const auto series = [](double time, double trip) {
    const double ns = std::exp(time);
    return Series{
        .median_ns = ns, .p25_ns = ns, .p75_ns = ns, .round_trip_ns = 1e4 * std::exp(trip)};
  };
  std::vector<Round> rounds;
  for (std::size_t k = 0; k < base_times.size(); ++k)
    rounds.push_back(
        {.base = series(base_times[k], base_trips[k]), .new_ = series(new_times[k], new_trips[k])});
  return rounds;
}

TEST(LogRatio, AtOneSpeedLeavesOutWhatTheHostsSpeedExplains) {
  // New is 0.05 slower, grows by -1.3 of the trip's change, and met another speed.
  const std::vector<double> base_trips{0.06, -0.04, 0.02, -0.08, 0.05},
      new_trips{0.1, 0.02, 0.01, 0.04, -0.01};
  std::vector<double> base_times, new_times;
  for (const double trip : base_trips) base_times.push_back(8 - 1.3 * trip);
  for (const double trip : new_trips) new_times.push_back(8.05 - 1.3 * trip);
  const auto ratio = log_ratio_at_one_speed(
      rounds_beside_trips(base_times, base_trips, new_times, new_trips), Middle::kTrimean);
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(ratio->log_ratio->value, 0.05, 1e-12);
  EXPECT_NEAR(ratio->log_ratio->variance, 0, 1e-16);
  EXPECT_EQ(ratio->log_ratio->degrees, 7);
  EXPECT_NEAR(ratio->log_trips, 0.03, 1e-12);
}

TEST(LogRatio, AtOneSpeedHasTheErrorOfACovariance) {
  // About their side's mean base's trips are {-1, 0, 1} and new's {-1, -1, 2}; the times are {-1, 0, 1}
  // and {-1, 1, 0}. The means are 1 apart in trips and 4 in times.
  const auto ratio = log_ratio_at_one_speed(
      rounds_beside_trips({1, 2, 3}, {-1, 0, 1}, {5, 7, 6}, {0, 0, 3}), Middle::kMedian);
  ASSERT_TRUE(ratio);
  const double squares = 2 + 6, products = 2 + 0, slope = products / squares;
  EXPECT_NEAR(ratio->log_ratio->value, 4 - slope * 1, 1e-12);
  const double left = (2 + 2 - slope * products) / 3, leverage = 2.0 / 3 + 1 / squares;
  EXPECT_NEAR(ratio->log_ratio->leverage, leverage, 1e-12);
  EXPECT_NEAR(ratio->log_ratio->variance, left * leverage, 1e-12);
  // Student's t with 3 degrees: 3.182446 at 95 %.
  EXPECT_NEAR(ratio->slope_at_most, slope + 3.182446 * std::sqrt(left / squares), 1e-6);
  EXPECT_EQ(ratio->log_ratio->degrees, 3);
}

TEST(LogRatio, AtOneSpeedIsOfSidesWhoseRoundTripsAreOfOneSpread) {
  const std::vector<double> times{8, 8.01, 8.02, 8.01, 8}, trips{0, 0.04, 0.02, 0.06, 0.03};
  std::vector<double> longer;
  const auto with_trips_longer_by = [&](double by) {
    longer.clear();
    for (const double trip : trips) longer.push_back(trip + by);
    return log_ratio_at_one_speed(rounds_beside_trips(times, trips, times, longer),
                                  Middle::kTrimean);
  };
  // Their deviation is 0.0224, so that of two means of five 95 % differ by 0.0326 or less.
  EXPECT_TRUE(with_trips_longer_by(0.032)->log_ratio);
  EXPECT_FALSE(with_trips_longer_by(0.033)->log_ratio);
  EXPECT_FALSE(with_trips_longer_by(-0.033)->log_ratio);
  EXPECT_NEAR(with_trips_longer_by(0.033)->log_trips, 0.033, 1e-12);
}

TEST(LogRatio, AtOneSpeedNeedsRoundTripsThatDiffer) {
  std::vector<Round> rounds = rounds_beside_trips({1, 2}, {0, 1}, {1, 2}, {1, 0});
  EXPECT_TRUE(log_ratio_at_one_speed(rounds, Middle::kMedian));
  rounds[1].new_.round_trip_ns.reset();
  EXPECT_FALSE(log_ratio_at_one_speed(rounds, Middle::kMedian));
  EXPECT_FALSE(
      log_ratio_at_one_speed(rounds_beside_trips({1, 2}, {1, 1}, {1, 2}, {2, 2}), Middle::kMedian));
}

/// The errors that five rounds show of points whose true squared errors are 1 over gamma variates:
/// as if each were known already from `prior_degrees` degrees, and 4e-4 in the middle.
std::vector<LogRatio> errors_of_rounds(std::size_t points, double prior_degrees) {
  std::mt19937_64 engine(9);
  std::chi_squared_distribution<> prior(prior_degrees), rounds(4);
  std::vector<LogRatio> ratios(points);
  for (LogRatio& ratio : ratios) {
    const double truth = std::isinf(prior_degrees) ? 4e-4 : 4e-4 * prior_degrees / prior(engine);
    ratio = {.value = 0, .variance = truth * rounds(engine) / 4, .degrees = 4};
  }
  return ratios;
}

std::vector<LogRatio> moderated(std::vector<LogRatio> ratios) {
  std::vector<LogRatio*> pointers;
  for (LogRatio& ratio : ratios) pointers.push_back(&ratio);
  moderate(pointers);
  return ratios;
}

TEST(LogRatio, OfPointsAlikeLearnTheErrorThatSpeedsApartMakeLarger) {
  // All have one error, of which a speed apart makes four times as much.
  std::vector<LogRatio> ratios = errors_of_rounds(2000, std::numeric_limits<double>::infinity());
  for (std::size_t k = 0; k < ratios.size(); k += 2) {
    ratios[k].leverage = 4;
    ratios[k].variance *= 4;
  }
  for (const LogRatio& ratio : moderated(ratios))
    ASSERT_NEAR(ratio.variance / ratio.leverage, 4e-4, 1e-4);
}

TEST(LogRatio, OfPointsAlikeLearnAsMuchAsTheirErrorsAgree) {
  for (const double prior_degrees : {3.0, 10.0, 40.0}) {
    const auto before = errors_of_rounds(2000, prior_degrees), after = moderated(before);
    const double learnt = after[0].degrees - 4;
    EXPECT_GT(learnt, 0.75 * prior_degrees);
    EXPECT_LT(learnt, 1.5 * prior_degrees);
    for (std::size_t i = 0; i < after.size(); ++i) {
      // Each lies between what it showed and what all have in common.
      const double weight = learnt / (learnt + 4);
      const double common = (after[i].variance - (1 - weight) * before[i].variance) / weight;
      ASSERT_NEAR(common, 4e-4, 0.6e-4);
      ASSERT_EQ(after[i].degrees, learnt + 4);
    }
  }
}

TEST(LogRatio, OfPointsWithOneErrorIsKnownFromAllOfThem) {
  const double infinite = std::numeric_limits<double>::infinity();
  // Chance alone may leave some spread over: then it is known from very many degrees.
  for (const LogRatio& ratio : moderated(errors_of_rounds(2000, infinite))) {
    ASSERT_GT(ratio.degrees, 50);
    ASSERT_NEAR(ratio.variance, 4e-4, 1e-4);
    ASSERT_LT(ratio.half_width(0.95), 0.046);
  }
}

TEST(LogRatio, OfAPointThatIsNoisierThanOthersStaysNoisier) {
  auto ratios = errors_of_rounds(100, 10);
  ratios[7].variance = 1;
  const auto after = moderated(ratios);
  EXPECT_GT(after[7].variance, 0.2);
  EXPECT_LT(after[8].variance, 0.002);
}

TEST(LogRatio, OfFewPointsAlikeIsLeftAsItIs) {
  const auto before = errors_of_rounds(kLeastAlike - 1, 10), after = moderated(before);
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i].variance, before[i].variance);
  std::vector<LogRatio> equal(kLeastAlike, {.value = 0, .variance = 0, .degrees = 4});
  EXPECT_EQ(moderated(equal)[0].variance, 0);
  equal[3].degrees = 3;
  EXPECT_THROW(moderated(equal), std::logic_error);
}

TEST(LogRatio, OfSamplesSeesThatNeighboursAreAlike) {
  // A mood that changes every 25 samples: 500 of them tell as much as 20.
  std::mt19937_64 engine(3);
  std::normal_distribution<> mood(0, 0.02), noise(0, 0.001);
  Round round;
  for (Series* series : {&round.base, &round.new_}) {
    double now = 0;
    for (int i = 0; i < 500; ++i) {
      if (i % 25 == 0) now = mood(engine);
      series->samples_ns.push_back(1000 * std::exp(now + noise(engine)));
    }
    series->median_ns = median(series->samples_ns);
    series->count = 500;
  }
  const double expected = std::sqrt(2 * std::numbers::pi / 2 / 20) * 0.02;
  EXPECT_NEAR(std::sqrt(log_ratio(std::vector{round}).variance) / expected, 1, 0.5);
  for (Series* series : {&round.base, &round.new_}) series->samples_ns.assign(500, 1000.0);
  EXPECT_NEAR(log_ratio(std::vector{round}).variance, 0, 1e-20);
}

TEST(LogRatio, OfSeveralRoundsIsOfTheirMiddles) {
  // The middle of the new samples moved from one mode to the other; their quartiles stayed.
  const Series base{.median_ns = 1000, .p25_ns = 900, .p75_ns = 1100};
  const Series new_{.median_ns = 1080, .p25_ns = 900, .p75_ns = 1100};
  const std::vector<Round> rounds(2, {base, new_});
  EXPECT_NEAR(log_ratio(rounds, Middle::kMedian).value, std::log(1080.0 / 1000), 1e-12);
  EXPECT_NEAR(log_ratio(rounds, Middle::kTrimean).value, std::log(1040.0 / 1000), 1e-12);
}

TEST(LogRatio, OfSamplesAndOfTheirSummaryAgree) {
  std::mt19937_64 engine(3);
  std::lognormal_distribution<> noise(0, 0.02);
  Round round;
  for (Series* series : {&round.base, &round.new_}) {
    for (int i = 0; i < 400; ++i) series->samples_ns.push_back(1000 * noise(engine));
    const Summary summary = summarise(series->samples_ns);
    series->median_ns = summary.median;
    series->ci_low_ns = summary.ci_low;
    series->ci_high_ns = summary.ci_high;
    series->count = 400;
  }
  const double from_samples = std::sqrt(log_ratio(std::vector{round}).variance);
  round.base.samples_ns.clear();
  const double from_summary = std::sqrt(log_ratio(std::vector{round}).variance);
  // The median of n normal values errs by sqrt(pi / 2 / n) of their deviation.
  const double expected = std::sqrt(2 * std::numbers::pi / 2 / 400) * 0.02;
  EXPECT_NEAR(from_samples / expected, 1, 0.4);
  EXPECT_NEAR(from_summary / expected, 1, 0.4);
}

TEST(SweepNoise, OfOneSideIsNotHiddenByChangesOnTheOther) {
  std::mt19937_64 engine(5);
  std::normal_distribution<> noise(0, 0.01);
  std::vector<double> log_ratios;
  for (int i = 0; i < 400; ++i) log_ratios.push_back(noise(engine) + (i < 40 ? 0.2 : 0));
  const SweepNoise sweep(log_ratios);
  // A twentieth lies beyond 1.645 deviations, of Student's t beyond 0.72 of its 95 % interval.
  EXPECT_NEAR(sweep.as_seen_from(0.2).half_width(), 0.023, 0.005);
  EXPECT_GT(sweep.as_seen_from(-0.2).half_width(), 0.1);
  EXPECT_EQ(SweepNoise(std::vector<double>(39, 0.1)).as_seen_from(0.1).degrees, 0);
}

TEST(SweepNoise, SeldomReachesFar) {
  std::mt19937_64 engine(5);
  std::normal_distribution<> noise(0, 0.01);
  std::vector<double> log_ratios;
  for (int i = 0; i < 2000; ++i) log_ratios.push_back(noise(engine));
  const SweepNoise sweep(log_ratios);
  const auto p_of = [&](double value) {
    return with_noise({.value = value, .variance = 0, .degrees = 1}, sweep.as_seen_from(value))
        .p_value();
  };
  EXPECT_NEAR(p_of(0.023), 0.05, 0.02);
  // Of ten thousand identical points some lie ten deviations apart, normal ones never.
  EXPECT_GT(p_of(0.1), 1e-4);
  EXPECT_LT(p_of(0.1), 1e-2);
  EXPECT_LT(p_of(1), 1e-5);
}

TEST(Noise, OfNeighboursReachesAsFarAsTheyMovedTheSameWay) {
  const auto reach = [](std::vector<double> log_ratios, std::size_t index) {
    return 1.959964 * std::sqrt(noise_of_neighbours(log_ratios, index).variance);
  };
  // The larger of the medians of five before and five after: a mood may begin or end here.
  EXPECT_NEAR(reach({9, 0, 0, 0, 0, 0, 0.1, 0.03, 0.04, 0.05, 0.06, 0.07, 9}, 6), 0.05, 1e-12);
  EXPECT_NEAR(reach({9, 0.03, 0.04, 0.05, 0.06, 0.07, 0.1, 0, 0, 0, 0, 0, 9}, 6), 0.05, 1e-12);
  EXPECT_NEAR(reach({-0.03, -0.04, -0.05, -0.06, -0.07, -0.1}, 5), 0.05, 1e-12);
  EXPECT_EQ(reach({-0.03, -0.04, -0.05, -0.06, -0.07, 0.1}, 5), 0);
  EXPECT_EQ(reach({0.1, 0.1, 0, 0, 0, 0.1}, 0), 0);
  EXPECT_EQ(reach({0.1}, 0), 0);
}

TEST(Noise, OfTwoPartsIsAsWideAsTheLargerWithTheTailOfTheOther) {
  const Noise normal = known_noise(0.06), tailed{.variance = 1e-4, .degrees = 5, .tail = 2.75};
  for (const Noise& larger : {larger_of(normal, tailed), larger_of(tailed, normal)}) {
    EXPECT_NEAR(larger.half_width(), 0.06, 1e-12);
    EXPECT_EQ(larger.tail, 2.75);
  }
  EXPECT_EQ(larger_of(Noise{}, tailed).variance, tailed.variance);
}

TEST(Noise, OfPairsAddsToTheErrorOfAPoint) {
  const Noise noise = noise_of_pairs(std::vector{0.03, -0.04});
  EXPECT_DOUBLE_EQ(noise.variance, (0.0009 + 0.0016) / 2);
  const LogRatio own{.value = 0.1, .variance = 0.00125, .degrees = 2};
  const LogRatio sum = with_noise(own, noise);
  EXPECT_DOUBLE_EQ(sum.variance, 0.0025);
  EXPECT_DOUBLE_EQ(sum.degrees, 4);  // two equal parts of two degrees each
  EXPECT_EQ(with_noise(own, noise_of_pairs({})).variance, own.variance);
}

// ---- thresholds -------------------------------------------------------------------------------

class MalformedThresholds : public testing::TestWithParam<BadConfig> {};

TEST_P(MalformedThresholds, AreRefusedWithThePlaceTheFindingAndAdvice) {
  const std::string message =
      message_of<UsageError>([] { parse_thresholds(Json::parse(GetParam().text), "file.json"); });
  EXPECT_EQ(message.rfind("file.json: ", 0), 0u) << message;
  EXPECT_CONTAINS(message, GetParam().pointer);
  EXPECT_CONTAINS(message, GetParam().found);
  EXPECT_CONTAINS(message, GetParam().advice);
}

INSTANTIATE_TEST_SUITE_P(Compare, MalformedThresholds, testing::ValuesIn(kBadThresholds),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Thresholds, TheFirstLimitThatMatchesDecides) {
  EXPECT_EQ(parse_thresholds(Json::parse(kGoodThresholds[0].text), "f").of("harris/7"), 0.03);
  const Thresholds thresholds = parse_thresholds(Json::parse(kGoodThresholds[1].text), "f");
  EXPECT_EQ(thresholds.of("harris/7"), 0.25);
  EXPECT_EQ(thresholds.of("harris/6"), 1);
  EXPECT_EQ(thresholds.of("cub/reduce"), 0.001);
}

TEST(Thresholds, TheCommittedFileIsGood) {
  EXPECT_EQ(read_thresholds(SOURCE_DIR "/configs/thresholds.json").of("harris/7"), 0.03);
}

// ---- verdicts ---------------------------------------------------------------------------------

Series series(double median_ns) {
  return {.median_ns = median_ns,
          .p25_ns = 0.99 * median_ns,
          .p75_ns = 1.01 * median_ns,
          .ci_low_ns = 0.999 * median_ns,
          .ci_high_ns = 1.001 * median_ns,
          .count = 100};
}

MeasuredPoint timed(double median_ns) { return {.timing = {{"cold", series(median_ns)}}}; }

PointIdentity identity(std::uint64_t n) {
  return {.variant = "a/x",
          .operation = "reduce",
          .backend = "cuda",
          .n = n,
          .type = "i32",
          .op = "sum",
          .distribution = {.name = "uniform", .settings = {}}};
}

/// One round with one point per entry, of sizes 0, 1, 2 ...
Side side(const std::vector<MeasuredPoint>& points) {
  MeasuredRun run{.file = "r.json"};
  run.aa_log_ratios["cuda"] = {0.001, -0.001, 0.001};
  for (std::size_t n = 0; n < points.size(); ++n) {
    run.points[identity(n)] = points[n];
    run.points[identity(n)].position = n;
  }
  return {.name = "r.json", .rounds = {run}};
}

ComparedPoint judge(const MeasuredPoint& base, const MeasuredPoint& new_,
                    const Thresholds& thresholds = {}) {
  return compare_sides(side({base}), side({new_}), thresholds).points.at(0);
}

TEST(Verdicts, FollowTheTimes) {
  EXPECT_EQ(judge(timed(1000), timed(1300)).verdict, Verdict::kSlower);
  EXPECT_EQ(judge(timed(1300), timed(1000)).verdict, Verdict::kFaster);
  EXPECT_EQ(judge(timed(1000), timed(1050)).verdict, Verdict::kInconclusive);
  EXPECT_EQ(judge(timed(1000), timed(1010)).verdict, Verdict::kSame);
  EXPECT_EQ(judge(timed(1000), timed(1050), {.threshold = 0.06}).verdict, Verdict::kSame);
  MeasuredPoint vague = timed(1050);
  vague.timing["cold"].ci_low_ns = 900;
  vague.timing["cold"].ci_high_ns = 1200;
  const ComparedPoint point = judge(timed(1000), vague);
  EXPECT_EQ(point.verdict, Verdict::kInconclusive);
  EXPECT_LT(point.change->ratio_low(), 1);
  EXPECT_NEAR(point.change->ratio(), 1.05, 1e-12);
  EXPECT_EQ(point.change->interval_source, IntervalSource::kSummary);
}

TEST(Verdicts, OfASingleSampleAreLeftOpen) {
  MeasuredPoint lone = timed(2000);
  lone.timing["cold"].count = 1;
  for (const auto& [base, new_] : {std::pair{lone, timed(1000)}, {timed(2000), lone}}) {
    const ComparedPoint point = judge(base, new_);
    EXPECT_EQ(point.verdict, Verdict::kInconclusive);
    EXPECT_EQ(point.note, "a single sample");
  }
  // Rounds tell by their spread.
  Side base = side({lone}), new_ = side({lone});
  for (Side* s : {&base, &new_}) s->rounds.insert(s->rounds.end(), 2, s->rounds[0]);
  EXPECT_EQ(compare_sides(base, new_, {}).points.at(0).verdict, Verdict::kSame);
}

TEST(Verdicts, ThresholdsAreWidenedByTheNoiseFloor) {
  Side base = side({timed(1000)}), new_ = side({timed(1050)});
  for (Side* s : {&base, &new_}) {
    s->rounds[0].aa_log_ratios["cuda"] = {0.06, -0.06, 0.06};
    s->rounds.insert(s->rounds.end(), 4, s->rounds[0]);
  }
  const ComparedPoint point = compare_sides(base, new_, {}).points.at(0);
  EXPECT_NEAR(point.change->noise_floor, std::expm1(1.96 * 0.06 / std::sqrt(5)), 1e-4);
  EXPECT_NEAR(point.change->threshold, 0.03 + point.change->noise_floor, 1e-12);
  EXPECT_EQ(point.verdict, Verdict::kInconclusive);
}

TEST(Verdicts, OfOneRoundOfFewPointsNeedMoreThanProcessesDifferBy) {
  MeasuredPoint waiting_base = timed(1000), waiting_new = timed(1200);
  waiting_base.waits = waiting_new.waits = true;
  const ComparedPoint kernel = judge(timed(1000), timed(1200)),
                      waiting = judge(waiting_base, waiting_new);
  EXPECT_EQ(kernel.verdict, Verdict::kSlower);
  EXPECT_EQ(waiting.verdict, Verdict::kInconclusive);
  // What processes differ by, and the A/A pairs' deviation at the end of its interval: the 5 %
  // quantile of chi squared with 6 degrees is 1.635383.
  const double pairs = 1.959964 * 0.001 * std::sqrt(6 / 1.635383);
  EXPECT_NEAR(kernel.change->noise_floor, std::expm1(std::hypot(0.1, pairs)), 1e-6);
  EXPECT_NEAR(waiting.change->noise_floor, std::expm1(std::hypot(std::numbers::ln2, pairs)), 1e-6);
}

TEST(Verdicts, OfWallTimesAreThoseOfTimesThatWaitForTheHost) {
  const auto wall = [](double median_ns) {
    return MeasuredPoint{.timing = {{"wall", series(median_ns)}}};
  };
  const ComparedPoint compared = judge(wall(1000), wall(1200));
  EXPECT_TRUE(compared.change->waits);
  EXPECT_EQ(compared.verdict, Verdict::kInconclusive);
}

TEST(Verdicts, OfOneRoundAreNoSurerWhereTheSweepSpreadsFurther) {
  // One point became twice as slow among points that differ by more and more.
  double least = 0;
  for (const double spread : {0.001, 0.01, 0.03, 0.06, 0.1, 0.2}) {
    std::mt19937_64 engine(7);
    std::normal_distribution<> noise(0, spread);
    std::vector<MeasuredPoint> before(200, timed(1e6)), after;
    for (std::size_t n = 0; n < before.size(); ++n)
      after.push_back(timed(n == 0 ? 2e6 : 1e6 * std::exp(noise(engine))));
    for (const ComparedPoint& point : compare_sides(side(before), side(after), {}).points) {
      if (point.identity != identity(0)) continue;
      EXPECT_GE(point.change->p_value, least) << spread;
      least = point.change->p_value;
      EXPECT_EQ(point.verdict, Verdict::kSlower) << spread;
    }
  }
}

TEST(Verdicts, OfOneRoundOfFewPointsOnACpuAreLeftOpen) {
  const auto on_cpu = [](std::vector<MeasuredPoint> points) {
    Side of = side({});
    for (std::size_t n = 0; n < points.size(); ++n) {
      PointIdentity id = identity(n);
      id.backend = "cpu";
      points[n].position = n;
      of.rounds[0].points[id] = points[n];
    }
    return of;
  };
  const std::vector<MeasuredPoint> points(8, timed(1000));
  std::vector<MeasuredPoint> stalled = points;
  stalled[3] = timed(100'000);
  const Side base = on_cpu(points), new_ = on_cpu(stalled);
  RunComparison comparison = compare_sides(base, new_, {});
  EXPECT_EQ(comparison.count(Verdict::kInconclusive), 8u);
  EXPECT_EQ(comparison.points.at(0).note, "few points in one round");
  EXPECT_FALSE(comparison.has_regression());
  // A neighbour that stalls some threads does not make everything slower.
  comparison = compare_sides(base, on_cpu(std::vector(8, timed(100'000))), {});
  ASSERT_EQ(comparison.shifts.size(), 1u);
  EXPECT_NEAR(comparison.shifts[0].ratio, 100, 1e-9);
  EXPECT_TRUE(comparison.has_regression());
}

TEST(Verdicts, ShortTimesNeedMoreThanTheyDifferByAmongThemselves) {
  // One in ten points moved by up to 8 % either way, which the spread of all does not show.
  const auto slower = [](double ns) {
    std::vector<MeasuredPoint> before(500, timed(1e6)), after = before;
    for (std::size_t n = 0; n < 500; n += 10) {
      before[n] = timed(ns);
      after[n] = timed(ns * (0.92 + 0.16 * static_cast<double>(n) / 490));
    }
    return compare_sides(side(before), side(after), {}).count(Verdict::kSlower);
  };
  EXPECT_EQ(slower(5000), 0u);
  // 1.0331 to 1.08: the last 15 of the 50.
  EXPECT_EQ(slower(50'000), 15u);
}

TEST(Verdicts, ALargeChangeIsNoNoiseThatHidesItself) {
  const std::vector<MeasuredPoint> before(100, timed(1000));
  for (const double factor : {3.0, 10.0, 1000.0}) {
    // A type that half of the points have, in blocks of ten.
    std::vector<MeasuredPoint> after = before;
    for (std::size_t n = 0; n < 100; ++n)
      if (n / 10 % 2 == 1) after[n] = timed(1000 * factor);
    RunComparison comparison = compare_sides(side(before), side(after), {});
    EXPECT_EQ(comparison.count(Verdict::kSlower), 50u) << factor;
    EXPECT_TRUE(comparison.shifts.empty());
    comparison = compare_sides(side(before), side(std::vector(100, timed(1000 * factor))), {});
    EXPECT_EQ(comparison.count(Verdict::kSlower), 100u) << factor;
    ASSERT_EQ(comparison.shifts.size(), 1u);
    EXPECT_EQ(comparison.shifts[0].verdict, Verdict::kSlower);
    EXPECT_NEAR(comparison.shifts[0].ratio, factor, 1e-9 * factor);
    comparison = compare_sides(side(std::vector(100, timed(1000 * factor))), side(before), {});
    ASSERT_EQ(comparison.shifts.size(), 1u);
    EXPECT_EQ(comparison.shifts[0].verdict, Verdict::kFaster);
    EXPECT_FALSE(comparison.has_regression());
  }
}

TEST(Verdicts, EverythingIsSlowerWhereAllPointsButOneInTwentyAre) {
  const std::vector<MeasuredPoint> before(40, timed(1000));
  std::vector<MeasuredPoint> after(40, timed(2000));
  after[0] = after[1] = timed(1000);
  EXPECT_EQ(compare_sides(side(before), side(after), {}).shifts.size(), 1u);
  after[2] = timed(1000);
  EXPECT_TRUE(compare_sides(side(before), side(after), {}).shifts.empty());
  // Nor are four points everything.
  EXPECT_TRUE(
      compare_sides(side(std::vector(4, timed(1000))), side(std::vector(4, timed(2000))), {})
          .shifts.empty());
}

/// The shifts of 100 points at `base_ns`, of which every seventh waits for the host.
std::vector<CommonShift> shifts_of(double base_ns, double new_ns) {
  std::vector<MeasuredPoint> before(100, timed(base_ns)), after(100, timed(new_ns));
  for (std::size_t n = 0; n < 100; n += 7) before[n].waits = after[n].waits = true;
  return compare_sides(side(before), side(after), {}).shifts;
}

TEST(Verdicts, WhatAllPointsHaveInCommonNeedsNotBeSureOfEach) {
  for (const double factor : {1.1, 1.2, 1.5, 2.0, 10.0}) {
    const std::vector<CommonShift> slower = shifts_of(1e6, 1e6 * factor),
                                   faster = shifts_of(1e6 * factor, 1e6);
    ASSERT_EQ(slower.size(), 1u) << factor;
    EXPECT_EQ(slower[0].verdict, Verdict::kSlower);
    EXPECT_NEAR(slower[0].ratio, factor, 1e-9);
    EXPECT_EQ(slower[0].count, 100u);
    ASSERT_EQ(faster.size(), 1u) << factor;
    EXPECT_EQ(faster[0].verdict, Verdict::kFaster);
  }
  // A factor that clocks may differ by, and a launch.
  EXPECT_TRUE(shifts_of(1e6, 1.06e6).empty());
  EXPECT_TRUE(shifts_of(3000, 3300).empty());
  EXPECT_TRUE(shifts_of(12'000, 12'700).empty());
  EXPECT_EQ(shifts_of(3000, 3600).size(), 1u);
}

TEST(Verdicts, OfMostPointsAreNotOfEverything) {
  const std::vector<MeasuredPoint> before(100, timed(1e6));
  std::vector<MeasuredPoint> after(100, timed(1.5e6));
  for (std::size_t n = 0; n < 100; n += 15) after[n] = timed(1.02e6);
  EXPECT_TRUE(compare_sides(side(before), side(after), {}).shifts.empty());
  for (std::size_t n = 0; n < 100; n += 15) after[n] = timed(1.05e6);
  EXPECT_EQ(compare_sides(side(before), side(after), {}).shifts.size(), 1u);
}

TEST(Verdicts, EverythingIsSlowerByMoreThanTheThresholdAndTheClocks) {
  std::vector<MeasuredPoint> before(100, timed(1e6)), after(100, timed(1.15e6));
  EXPECT_EQ(compare_sides(side(before), side(after), {.threshold = 0.14}).shifts.size(), 1u);
  EXPECT_TRUE(compare_sides(side(before), side(after), {.threshold = 0.16}).shifts.empty());
  for (MeasuredPoint& point : before) point.timing["cold"].sm_clock_mhz = 1980;
  for (MeasuredPoint& point : after) point.timing["cold"].sm_clock_mhz = 1800;
  EXPECT_TRUE(compare_sides(side(before), side(after), {}).shifts.empty());
}

TEST(Verdicts, OfSeveralRoundsAreCommonToo) {
  // One point in ten is too noisy to be sure of.
  std::vector<MeasuredPoint> before(100, timed(1e6)), after(100, timed(1.06e6)), again = after;
  for (std::size_t n = 0; n < 100; n += 10) again[n] = timed(1.5e6);
  Side base = side(before), new_ = side(after);
  for (int round = 1; round < 5; ++round) {
    base.rounds.push_back(base.rounds[0]);
    new_.rounds.push_back(side(round % 2 == 1 ? again : after).rounds[0]);
  }
  const RunComparison comparison = compare_sides(base, new_, {});
  EXPECT_EQ(comparison.count(Verdict::kInconclusive), 10u);
  ASSERT_EQ(comparison.shifts.size(), 1u);
  EXPECT_NEAR(comparison.shifts[0].ratio, 1.06, 1e-9);
}

TEST(Verdicts, OfARunAgainstItselfAreIdentical) {
  MeasuredPoint vague = timed(1000);
  vague.timing["cold"].ci_low_ns = 500;
  vague.timing["cold"].ci_high_ns = 2000;
  Side base = side({vague, timed(1000)}), again = base;
  again.rounds[0].file = "again.json";
  const RunComparison comparison = compare_sides(base, again, {});
  EXPECT_TRUE(comparison.identical);
  EXPECT_EQ(comparison.count(Verdict::kSame), 2u);
  again.rounds[0].environment = {{"date_utc", "2026-01-31T12:00:00Z"}};
  EXPECT_FALSE(compare_sides(base, again, {}).identical);
  EXPECT_EQ(compare_sides(base, again, {}).count(Verdict::kInconclusive), 1u);
}

TEST(Verdicts, LostPointsFailUnlessTheyAreAllowed) {
  const MeasuredPoint never{.status = Status::kSkipped, .reason = "too small"};
  const Side base = side({timed(1000), timed(1000), never}), new_ = side({timed(1000)});
  const RunComparison lost = compare_sides(base, new_, {}),
                      allowed = compare_sides(base, new_, {}, Missing::kAllowed);
  // What base did not measure either is no loss.
  EXPECT_EQ(lost.count(Verdict::kLost), 1u);
  EXPECT_EQ(lost.count(Verdict::kOnlyBase), 1u);
  EXPECT_TRUE(lost.has_regression());
  EXPECT_EQ(allowed.count(Verdict::kOnlyBase), 2u);
  EXPECT_FALSE(allowed.has_regression());
  EXPECT_FALSE(compare_sides(new_, base, {}).has_regression());
}

TEST(Verdicts, ThresholdsAreWidenedByTheClocks) {
  MeasuredPoint base = timed(1000), new_ = timed(1100);
  base.timing["cold"].sm_clock_mhz = 1980;
  new_.timing["cold"].sm_clock_mhz = 1800;
  const ComparedPoint point = judge(base, new_);
  EXPECT_NEAR(point.change->threshold, 0.03 + point.change->noise_floor + 0.1, 1e-9);
  EXPECT_EQ(point.verdict, Verdict::kSame);
}

/// A round of 60 points of which 20 to 31 took `factor` times as long, and 50 did too.
Side moody_side(double factor) {
  std::vector<MeasuredPoint> points(60, timed(1000));
  for (std::size_t n = 20; n < 32; ++n) points[n] = timed(1000 * factor);
  points[50] = timed(1000 * factor);
  return side(points);
}

std::map<std::uint64_t, Verdict> verdicts(const Side& base, const Side& new_) {
  std::map<std::uint64_t, Verdict> verdicts;
  for (const ComparedPoint& point : compare_sides(base, new_, {}).points)
    verdicts[point.identity.n] = point.verdict;
  return verdicts;
}

TEST(Verdicts, OfOneRoundLeaveOpenWhatMovedWithItsNeighbours) {
  for (const auto& [factor, alone] :
       {std::pair{1.08, Verdict::kSlower}, {1 / 1.08, Verdict::kFaster}}) {
    const auto found = verdicts(moody_side(1), moody_side(factor));
    for (std::uint64_t n = 20; n < 32; ++n) EXPECT_EQ(found.at(n), Verdict::kInconclusive) << n;
    EXPECT_EQ(found.at(50), alone);
  }
}

TEST(Verdicts, NeighboursAreThoseOfEitherRun) {
  for (const bool of_new : {false, true}) {
    Side base = moody_side(1), new_ = moody_side(1.08);
    // The other run took the points of the mood far apart: 7 and 60 have no common divisor.
    for (auto& [id, point] : (of_new ? base : new_).rounds[0].points)
      point.position = id.n * 7 % 60;
    EXPECT_EQ(verdicts(base, new_).at(25), Verdict::kInconclusive);
    for (auto& [id, point] : (of_new ? new_ : base).rounds[0].points)
      point.position = id.n * 7 % 60;
    EXPECT_EQ(verdicts(base, new_).at(25), Verdict::kSlower);
  }
}

TEST(Verdicts, SeveralRoundsTellAMoodFromSlowerCode) {
  Side base = moody_side(1), new_ = moody_side(1.08);
  for (int round = 1; round < 5; ++round) {
    base.rounds.push_back(base.rounds[0]);
    new_.rounds.push_back(moody_side(1.08 + 0.001 * round).rounds[0]);
  }
  EXPECT_EQ(verdicts(base, new_).at(25), Verdict::kSlower);
}

TEST(Verdicts, OfFewRoundsNeedMoreThanProcessesDifferBy) {
  Side base = side({timed(1000)}), new_ = side({timed(1050)});
  for (std::size_t rounds = 2; rounds <= 5; ++rounds) {
    for (Side* s : {&base, &new_}) s->rounds.push_back(s->rounds[0]);
    const ComparedPoint point = compare_sides(base, new_, {}).points.at(0);
    const double between = rounds < 5 ? 0.1 : 1.959964 * 0.001;
    EXPECT_NEAR(point.change->noise_floor,
                std::expm1(between / std::sqrt(static_cast<double>(rounds))), 1e-6);
    EXPECT_EQ(point.verdict, rounds < 5 ? Verdict::kInconclusive : Verdict::kSlower);
  }
}

/// Five rounds of a point that waits for the host, whose speed differs by 20 % from round to round.
/// New's round trips are longer by a factor of their own.
std::pair<Side, Side> sides_that_wait(double slowdown, bool with_trips, double longer_trips = 1) {
  const double base_speeds[] = {1, 1.2, 1.1, 1.05, 1.15},
               new_speeds[] = {1.2, 1.1, 1.17, 1.2, 1.04};
  Side base = side({}), new_ = side({});
  for (Side* s : {&base, &new_}) {
    s->rounds.clear();
    for (int k = 0; k < 5; ++k) {
      const double speed = (s == &base ? base_speeds : new_speeds)[k];
      MeasuredPoint point = timed(1000 * speed * (s == &new_ ? slowdown : 1));
      point.waits = true;
      if (with_trips)
        point.timing.at("cold").round_trip_ns = 1e4 * speed * (s == &new_ ? longer_trips : 1);
      s->rounds.push_back(side({point}).rounds[0]);
    }
  }
  return {base, new_};
}

TEST(Verdicts, OfPointsThatWaitAreOfOneSpeedOfTheHost) {
  for (const double slowdown : {1.0, 1.05}) {
    const auto [base, new_] = sides_that_wait(slowdown, true);
    const ComparedPoint point = compare_sides(base, new_, {}).points.at(0);
    EXPECT_TRUE(point.change->at_one_speed);
    EXPECT_NEAR(point.change->trip_ratio.value(), 1.03873, 1e-5);
    EXPECT_NEAR(point.change->ratio(), slowdown, 1e-9);
    EXPECT_EQ(point.verdict, slowdown > 1 ? Verdict::kSlower : Verdict::kSame);
  }
  // Older files do not tell the host's speed, and fewer rounds do not tell the slope.
  const auto [old_base, old_new] = sides_that_wait(1.05, false);
  const ComparedPoint old = compare_sides(old_base, old_new, {}).points.at(0);
  EXPECT_FALSE(old.change->trip_ratio);
  EXPECT_EQ(old.verdict, Verdict::kInconclusive);
  auto [base, new_] = sides_that_wait(1, true);
  for (Side* s : {&base, &new_}) s->rounds.pop_back();
  EXPECT_FALSE(compare_sides(base, new_, {}).points.at(0).change->trip_ratio);
}

TEST(Verdicts, OfPointsThatWaitAreLeftOpenByAsMuchAsRoundTripsMayExplain) {
  // The times follow the round trips, so 1.3 times as long a trip may explain as much of them.
  for (const auto& [slowdown, verdict] : {std::pair{1.0, Verdict::kInconclusive},
                                          {1.3, Verdict::kInconclusive},
                                          {3.0, Verdict::kSlower}}) {
    const auto [base, new_] = sides_that_wait(slowdown, true, 1.3);
    const ComparedPoint point = compare_sides(base, new_, {}).points.at(0);
    EXPECT_FALSE(point.change->at_one_speed);
    EXPECT_NEAR(point.change->trip_ratio.value(), 1.3 * 1.03873, 1e-4);
    EXPECT_NEAR(point.change->trip_noise, std::log(1.3 * 1.03873), 1e-4);
    EXPECT_EQ(point.verdict, verdict) << slowdown;
  }
}

TEST(Verdicts, OfPointsThatHardlyWaitAreNotLeftOpenByRoundTrips) {
  for (const double slowdown : {1.0, 1.05}) {
    auto [base, new_] = sides_that_wait(1, true, 1.3);
    for (Side* s : {&base, &new_})
      for (std::size_t k = 0; k < 5; ++k) {
        Series& cold = s->rounds[k].points.at(identity(0)).timing.at("cold");
        const auto trip_ns = cold.round_trip_ns;
        cold = series(1e6 * (s == &new_ ? slowdown : 1) * (1 + 1e-4 * static_cast<double>(k)));
        cold.round_trip_ns = trip_ns;
      }
    const ComparedPoint point = compare_sides(base, new_, {}).points.at(0);
    EXPECT_FALSE(point.change->at_one_speed);
    EXPECT_LT(point.change->trip_noise, 0.001);
    EXPECT_EQ(point.verdict, slowdown > 1 ? Verdict::kSlower : Verdict::kSame);
  }
}

TEST(Verdicts, OfSeveralRoundsOfAGpuAreOfTrimeans) {
  MeasuredPoint jumped = timed(1000);
  jumped.timing.at("cold").median_ns = 1080;
  for (const bool waits : {false, true}) {
    Side base = side({timed(1000)}), new_ = side({jumped});
    for (Side* s : {&base, &new_}) {
      s->rounds[0].points.at(identity(0)).waits = waits;
      s->rounds.insert(s->rounds.end(), 4, s->rounds[0]);
    }
    EXPECT_NEAR(compare_sides(base, new_, {}).points.at(0).change->ratio(), 1.04, 1e-9);
  }
}

TEST(Verdicts, APointThatRoundsLackHasTheNoiseOfThoseThatHaveIt) {
  Side base = side({timed(1000), timed(1000)}), new_ = side({timed(1000), timed(1000)});
  for (Side* s : {&base, &new_}) {
    s->rounds[0].aa_log_ratios["cuda"] = {0.06, -0.06};
    s->rounds.insert(s->rounds.end(), 4, s->rounds[0]);
  }
  for (std::size_t round = 1; round < 5; ++round) new_.rounds[round].points.erase(identity(1));
  std::map<std::uint64_t, ComparedPoint> points;
  for (const ComparedPoint& point : compare_sides(base, new_, {}).points)
    points[point.identity.n] = point;
  EXPECT_NEAR(points[0].change->noise_floor, std::expm1(1.96 * 0.06 / std::sqrt(5)), 1e-4);
  EXPECT_NEAR(points[1].change->noise_floor, std::expm1(1.96 * 0.06), 1e-4);
  EXPECT_EQ(points[0].note, "");
  EXPECT_EQ(points[1].note, "in 1 of 5 rounds");
}

TEST(Verdicts, KnownWrongPointsAreNeverCompared) {
  MeasuredPoint base = timed(1000), new_ = timed(2000);
  for (MeasuredPoint* point : {&base, &new_}) {
    point->status = Status::kWrong;
    point->known_wrong = true;
  }
  EXPECT_EQ(judge(base, new_).verdict, Verdict::kNotCompared);
  EXPECT_FALSE(judge(base, new_).change);
  EXPECT_EQ(judge(timed(1000), new_).verdict, Verdict::kLost);
  EXPECT_TRUE(compare_sides(side({base}), side({new_}), {}).means.empty());
}

TEST(Verdicts, FollowTheStatus) {
  const MeasuredPoint good = timed(1000);
  const MeasuredPoint skipped{.status = Status::kSkipped, .reason = "too small"};
  for (const Status bad : {Status::kWrong, Status::kFailed, Status::kTimeout}) {
    const MeasuredPoint broken{.status = bad, .reason = "fell over"};
    const ComparedPoint point = judge(good, broken);
    EXPECT_EQ(point.verdict, Verdict::kBroken);
    EXPECT_EQ(point.note, fmt::format("ok -> {}: fell over", name_of(bad)));
    EXPECT_EQ(judge(skipped, broken).verdict, Verdict::kBroken);
    EXPECT_EQ(judge(broken, good).verdict, Verdict::kFixed);
    EXPECT_EQ(judge(broken, broken).verdict, Verdict::kNotCompared);
  }
  EXPECT_EQ(judge(good, skipped).verdict, Verdict::kLost);
  EXPECT_EQ(judge(skipped, good).verdict, Verdict::kOnlyNew);
  EXPECT_EQ(judge(skipped, skipped).verdict, Verdict::kNotCompared);
}

TEST(Verdicts, OneBadRoundBreaksAPoint) {
  Side base = side({timed(1000)}), new_ = side({timed(1000)});
  base.rounds.push_back(base.rounds[0]);
  new_.rounds.push_back(new_.rounds[0]);
  new_.rounds[1].points[identity(0)] = {.status = Status::kWrong, .reason = "races"};
  EXPECT_EQ(compare_sides(base, new_, {}).points.at(0).verdict, Verdict::kBroken);
}

TEST(Verdicts, APointThatAnyRoundOfTheBaseTimedIsLost) {
  const MeasuredPoint never{.status = Status::kSkipped, .reason = "too small"};
  Side base = side({timed(1000), timed(1000)}), new_ = side({timed(1000)});
  base.rounds.push_back(side({timed(1000), never}).rounds[0]);
  new_.rounds.push_back(new_.rounds[0]);
  EXPECT_EQ(compare_sides(base, new_, {}).count(Verdict::kLost), 1u);
}

TEST(Verdicts, PointsAndModesOfOneSideAreNamed) {
  MeasuredPoint more = timed(1000);
  more.timing["hot"] = series(500);
  const RunComparison comparison = compare_sides(side({more, timed(1)}), side({timed(1000)}), {});
  ASSERT_EQ(comparison.points.size(), 3u);
  EXPECT_EQ(comparison.count(Verdict::kLost), 2u);
  EXPECT_EQ(comparison.points[0].mode, "hot");
  EXPECT_EQ(comparison.count(Verdict::kSame), 1u);
}

TEST(Comparison, SortsRegressionsFirstAndLargestFirst) {
  const RunComparison comparison =
      compare_sides(side({timed(1000), timed(1000), timed(1000), timed(1000)}),
                    side({timed(1000), timed(1200), timed(500), timed(1300)}), {});
  std::vector<std::uint64_t> sizes;
  for (const ComparedPoint& point : comparison.points) sizes.push_back(point.identity.n);
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{3, 1, 2, 0}));
  ASSERT_EQ(comparison.means.size(), 1u);
  EXPECT_NEAR(comparison.means[0].ratio, std::pow(1.2 * 0.5 * 1.3, 0.25), 1e-12);
  EXPECT_EQ(comparison.means[0].count, 4u);
}

TEST(Comparison, RefusesWhatCannotBePaired) {
  Side other = side({timed(1000)});
  auto point = other.rounds[0].points.extract(identity(0));
  point.key().variant = "b/y";
  other.rounds[0].points.insert(std::move(point));
  EXPECT_CONTAINS(message_of<UsageError>([&] { compare_sides(side({timed(1000)}), other, {}); }),
                  "no point in common");
  other.rounds.push_back(other.rounds[0]);
  EXPECT_CONTAINS(message_of<UsageError>([&] { compare_sides(side({timed(1000)}), other, {}); }),
                  "has 1 round and 'r.json' has 2 rounds: a");
}

// ---- documents --------------------------------------------------------------------------------

Json document() {
  std::ifstream stream(SOURCE_DIR "/results/nvidia-h200/quick.json");
  return Json::parse(stream);
}

TEST(Documents, PointsPairWhateverTheOrderOfTheirParameters) {
  const Json whole = document();
  Json turned = whole;
  for (Json& point : turned["points"]) {
    Json params = Json::object();
    for (auto it = point["params"].rbegin(); it != point["params"].rend(); ++it)
      params[it.key()] = it.value();
    point["params"] = params;
  }
  const Side base{.name = "a", .rounds = {parse_run(whole, "a")}};
  const Side new_{.name = "b", .rounds = {parse_run(turned, "b")}};
  EXPECT_EQ(base.rounds[0].points.size(), whole["points"].size());
  const RunComparison comparison = compare_sides(base, new_, {});
  EXPECT_EQ(comparison.count(Verdict::kOnlyBase) + comparison.count(Verdict::kOnlyNew), 0u);
  EXPECT_GT(comparison.count(Verdict::kSame), 100u);
}

TEST(Documents, PointsKeepTheirPlace) {
  Json whole = document();
  const std::string file = "a";
  const MeasuredRun run = parse_run(whole, file);
  EXPECT_EQ(run.points.at(read_identity(Node{whole["points"][7], "", file})).position, 7u);
}

TEST(Documents, ComplaintsNameTheFileAndThePlace) {
  const auto complaint = [](auto&& alter) {
    Json altered = document();
    alter(altered);
    return message_of<UsageError>([&] { parse_run(altered, "r.json"); });
  };
  EXPECT_CONTAINS(complaint([](Json& d) { d["kind"] = "else"; }), "'r.json' is not a results file");
  EXPECT_CONTAINS(complaint([](Json& d) { d["schema"] = 2; }), "r.json: /schema: found 2");
  EXPECT_CONTAINS(complaint([](Json& d) { d.erase("points"); }), "'points' is missing");
  EXPECT_CONTAINS(complaint([](Json& d) { d["points"][3]["n"] = -1; }), "/points/3/n: found -1");
  EXPECT_CONTAINS(complaint([](Json& d) { d["points"][3] = d["points"][0]; }),
                  "/points/3: the same point is listed twice");
  EXPECT_CONTAINS(complaint([](Json& d) { d["points"][0]["timing"]["cold"]["min_ns"] = 0; }),
                  "/points/0/timing/cold/min_ns: found 0");
  EXPECT_CONTAINS(complaint([](Json& d) {
                    d["points"][0]["timing"]["cold"]["samples"] = 2;
                    d["points"][0]["timing"]["cold"]["samples_ns"] = {1.0, "x"};
                  }),
                  "/points/0/timing/cold/samples_ns/1: found \"x\"");
  EXPECT_CONTAINS(
      complaint([](Json& d) { d["points"][0]["timing"]["cold"]["samples_ns"] = {1.0}; }),
      "but 'samples_ns' holds 1");
  EXPECT_CONTAINS(complaint([](Json& d) { d["environment"].erase("gpu"); }),
                  "/environment: the key 'gpu' is missing");
}

TEST(Environments, DifferInWhatTimesDependOn) {
  Json environment = document()["environment"];
  environment.erase("cccl");
  environment["gpu"]["driver"] = "1.1";
  environment["compiler"] = "g++ 2";
  EXPECT_TRUE(environment_differences(environment, environment).empty());
  Json other = environment;
  other["host"] = "elsewhere";
  other["git"]["revision"] = "1234567";
  other["date_utc"] = "2026-01-31T12:00:00Z";
  other["gpu"]["index"] = 3;
  EXPECT_TRUE(environment_differences(environment, other).empty());
  other["gpu"]["driver"] = "1.2";
  other["compiler"] = "g++ 3";
  EXPECT_EQ(environment_differences(environment, other),
            (std::vector<std::string>{"gpu driver \"1.1\" against \"1.2\"",
                                      "compiler \"g++ 2\" against \"g++ 3\""}));
  other = environment;
  other["cccl"] = "3.5.0";
  EXPECT_TRUE(environment_differences(environment, other).empty()) << "older files do not say";
  environment["cccl"] = "3.0.1";
  EXPECT_EQ(environment_differences(environment, other),
            std::vector<std::string>{"cccl \"3.0.1\" against \"3.5.0\""});
  other = environment;
  other["opencl"] = {{"name", "AMD Instinct MI300X"}, {"driver", "2"}, {"index", 1}};
  environment.erase("opencl");
  EXPECT_TRUE(environment_differences(environment, other).empty()) << "older files do not say";
  environment["opencl"] = {{"name", "AMD Instinct MI300X"}, {"driver", "1"}, {"index", 0}};
  EXPECT_EQ(environment_differences(environment, other),
            std::vector<std::string>{"opencl driver \"1\" against \"2\""});
  other = environment;
  other["cpu"]["l2_bytes"] = 1 << 20;
  EXPECT_TRUE(environment_differences(environment, other).empty()) << "older files do not say";
  environment["cpu"]["l2_bytes"] = 1 << 19;
  EXPECT_EQ(environment_differences(environment, other),
            std::vector<std::string>{"cpu l2_bytes 524288 against 1048576"});
  other = environment;
  other["gpu"] = nullptr;
  EXPECT_EQ(environment_differences(environment, other),
            std::vector<std::string>{"gpu \"NVIDIA H200\" against null"});
}

TEST(Environments, DifferInTheClocksThatWereSeen) {
  MeasuredPoint point = timed(1000);
  point.timing["cold"].sm_clock_mhz = 1980;
  const Side base = side({point});
  EXPECT_EQ(clock_difference(base, base), "");
  point.timing["cold"].sm_clock_mhz = 1755;
  EXPECT_EQ(clock_difference(base, side({point})), "SM clock 1980 MHz against 1755 MHz");
  EXPECT_EQ(clock_difference(base, side({timed(1000)})), "");
}

// ---- reports ----------------------------------------------------------------------------------

ComparisonReport report(const Side& base, const Side& new_) {
  return {base, new_, {"gpu name \"A\" against \"B\""}, compare_sides(base, new_, {})};
}

Side with_environment(Side side) {
  for (MeasuredRun& run : side.rounds) run.environment = document()["environment"];
  return side;
}

class Reports : public testing::Test {
 protected:
  const Side base = with_environment(side({timed(1000), timed(1000), timed(1000)}));
  const Side new_ = with_environment(
      side({timed(1500), {.status = Status::kWrong, .reason = "a < b & \"c\" | d"}, timed(1000)}));
};

TEST_F(Reports, TextListsWhatChangedAndCountsTheRest) {
  const std::string text = report(base, new_).text();
  EXPECT_CONTAINS(text, "1 broken, 1 slower, 1 same\n");
  EXPECT_CONTAINS(text, "a/x, 0 i32 sum uniform on cuda, cold\n");
  EXPECT_CONTAINS(text, "1.5000");
  EXPECT_CONTAINS(text, "(ok -> wrong: a < b & \"c\" | d)");
  EXPECT_CONTAINS(text, "environments differ: gpu name \"A\" against \"B\"");
  EXPECT_EQ(text.find("a/x, 2 "), std::string::npos) << text;
}

TEST_F(Reports, MarkdownIsATable) {
  const std::string text = report(base, new_).markdown();
  EXPECT_EQ(text.rfind("### reduce-bench: 1 broken, 1 slower, 1 same\n", 0), 0u) << text;
  EXPECT_CONTAINS(text, "| slower | 1.5000 | ");
  EXPECT_CONTAINS(text, "\"c\" \\| d");
}

TEST_F(Reports, WarnOfFewPointsInOneRound) {
  const std::string caution = "few points and one round: under 40 points of a backend";
  EXPECT_CONTAINS(report(base, new_).text(), caution);
  EXPECT_CONTAINS(report(base, new_).markdown(), "\n* " + caution);
  Side rounds = base;
  rounds.rounds.push_back(base.rounds[0]);
  EXPECT_EQ(report(rounds, rounds).text().find(caution), std::string::npos);
  const Side many = with_environment(side(std::vector<MeasuredPoint>(40, timed(1000))));
  EXPECT_EQ(report(many, many).text().find(caution), std::string::npos);
  EXPECT_EQ(report(many, many).markdown().find(caution), std::string::npos);
}

TEST_F(Reports, AllFormatsSayWhatIsCommonToAllPoints) {
  const Side before = with_environment(side(std::vector(5, timed(1000)))),
             after = with_environment(side(std::vector(5, timed(1e6))));
  const ComparisonReport slower = report(before, after);
  const std::string finding =
      "everything is slower: 1000 x in 5 of 5 points; build, machine or clocks";
  EXPECT_CONTAINS(slower.text(), finding);
  EXPECT_CONTAINS(slower.markdown(), "**" + finding + "**");
  EXPECT_CONTAINS(slower.text(), "\neverything slower, 5 slower\n");
  EXPECT_CONTAINS(slower.junit(), "tests=\"6\" failures=\"6\"");
  EXPECT_CONTAINS(slower.junit(), "name=\"everything on cuda\"><failure message=\"" + finding);
  const Json shift = slower.json()["common_shifts"].at(0);
  EXPECT_EQ(shift["verdict"], "slower");
  EXPECT_EQ(shift["backend"], "cuda");
  EXPECT_NEAR(shift["ratio"].get<double>(), 1000, 1e-6);
}

TEST_F(Reports, AllFormatsSayWhatIsLost) {
  const Side fewer = with_environment(side({timed(1000)}));
  const ComparisonReport lost = report(base, fewer);
  const std::string finding = "2 points are lost: measured in base";
  EXPECT_CONTAINS(lost.text(), finding);
  EXPECT_CONTAINS(lost.text(), "2 lost, 1 same");
  EXPECT_CONTAINS(lost.markdown(), "**" + finding);
  EXPECT_CONTAINS(lost.junit(), "failures=\"2\"");
  EXPECT_CONTAINS(lost.junit(), "message=\"lost: a verified time in base and none in new\"");
  EXPECT_CONTAINS(lost.junit(), finding);
  EXPECT_EQ(lost.json()["verdicts"]["lost"], 2);
}

TEST_F(Reports, AllFormatsSayThatTheSidesAreIdentical) {
  const ComparisonReport same = report(base, base);
  EXPECT_CONTAINS(same.text(), "\nidentical, 3 same\n");
  EXPECT_CONTAINS(same.markdown(), "### reduce-bench: identical, 3 same\n");
  EXPECT_CONTAINS(same.junit(), "<system-out>identical, 3 same; both sides");
  EXPECT_EQ(same.json()["identical"], true);
  EXPECT_EQ(report(base, new_).json()["identical"], false);
}

TEST_F(Reports, SlowerRunsOfOneBuildAreTheMachines) {
  const std::string finding = "all runs are of one build: suspect the machine";
  Side before = base, after = new_;
  for (Side* each : {&before, &after}) each->rounds[0].environment.erase("build_id");
  EXPECT_EQ(report(before, after).json()["one_build"], false);  // as of older files
  before.rounds[0].environment["build_id"] = "1";
  after.rounds[0].environment["build_id"] = "1";
  const ComparisonReport same = report(before, after);
  ASSERT_GT(same.comparison.count(Verdict::kSlower), 0u);
  EXPECT_CONTAINS(same.text(), finding);
  EXPECT_CONTAINS(same.markdown(), finding);
  EXPECT_EQ(same.json()["one_build"], true);
  after.rounds[0].environment["build_id"] = "2";
  const ComparisonReport other = report(before, after);
  EXPECT_EQ(other.text().find(finding), std::string::npos);
  EXPECT_EQ(other.json()["one_build"], false);
}

TEST_F(Reports, SayOfWhatMovedWhetherItsCodeDid) {
  Side before = base, after = new_;
  const auto set_code = [](Side& of, const std::string& code) {
    for (auto& [identity, point] : of.rounds[0].points) point.code = code;
  };
  const auto slower_of = [&] {
    const Json json = report(before, after).json();
    for (const Json& point : json["points"])
      if (point["verdict"] == "slower") return point["same_code"];
    return Json("none is slower");
  };
  const std::string same = "(same machine code: suspect the machine)", changed = "(code changed)";
  for (const char* code : {"", "00000000000000aa"}) {
    set_code(before, code);
    const std::string text = report(before, after).text();  // one side or both do not tell
    EXPECT_FALSE(contains(text, same) || contains(text, changed)) << text;
    EXPECT_EQ(slower_of(), nullptr);
  }
  set_code(after, "00000000000000aa");
  EXPECT_CONTAINS(report(before, after).text(), same);
  EXPECT_CONTAINS(report(before, after).junit(), "same machine code: suspect the machine");
  EXPECT_EQ(slower_of(), true);
  set_code(after, "00000000000000bb");
  EXPECT_CONTAINS(report(before, after).text(), changed);
  EXPECT_FALSE(contains(report(before, before).text(), same));  // nothing moved
  EXPECT_EQ(slower_of(), false);
}

TEST_F(Reports, JunitEscapesAndCounts) {
  const std::string text = report(base, new_).junit();
  EXPECT_CONTAINS(text, "tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"0\"");
  EXPECT_CONTAINS(text, "a &lt; b &amp; &quot;c&quot; | d");
}

TEST_F(Reports, JsonHoldsEveryPoint) {
  const Json json = report(base, new_).json();
  EXPECT_EQ(json["verdicts"]["slower"], 1);
  ASSERT_EQ(json["points"].size(), 3u);
  EXPECT_EQ(json["points"][1]["verdict"], "slower");
  EXPECT_EQ(json["points"][1]["from"], "summary");
  EXPECT_EQ(json["points"][2]["verdict"], "same");
}

TEST_F(Reports, NoRegressionIsLeftOut) {
  std::vector<MeasuredPoint> fast(30, timed(1000)), slow(30, timed(2000));
  const Side many_base = with_environment(side(fast)), many_new = with_environment(side(slow));
  const std::string text = report(many_base, many_new).text();
  EXPECT_CONTAINS(text, "30 slower");
  EXPECT_CONTAINS(text, "a/x, 29 ");
}

}  // namespace
}  // namespace reduce_bench
