#include "compare/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "common/error.hpp"

namespace reduce_bench {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kNormal95 = 1.959964;
constexpr double kFalseDiscoveryRate = 0.05;

/// One point in every round that has it, paired by round.
struct PairedPoint {
  std::vector<std::pair<const MeasuredPoint*, const MeasuredPoint*>> rounds;
  bool in_base = false, in_new = false;
};

std::map<PointIdentity, PairedPoint> pair_points(const Side& base, const Side& new_) {
  std::map<PointIdentity, PairedPoint> paired;
  for (std::size_t k = 0; k < base.rounds.size(); ++k) {
    const auto& new_points = new_.rounds[k].points;
    for (const auto& [identity, point] : base.rounds[k].points) {
      PairedPoint& pair = paired[identity];
      pair.in_base = true;
      if (const auto found = new_points.find(identity); found != new_points.end())
        pair.rounds.emplace_back(&point, &found->second);
    }
    for (const auto& [identity, unused] : new_points) paired[identity].in_new = true;
  }
  return paired;
}

/// The round of one side that decides its status: a bad one, else one without a ranked time.
const MeasuredPoint& worst(const PairedPoint& pair, bool of_new) {
  const MeasuredPoint* worst = nullptr;
  const auto rank = [](const MeasuredPoint& p) { return p.bad() ? 2 : p.ranked() ? 0 : 1; };
  for (const auto& [base, new_] : pair.rounds) {
    const MeasuredPoint* point = of_new ? new_ : base;
    if (worst == nullptr || rank(*point) > rank(*worst)) worst = point;
  }
  return *worst;
}

std::string status_text(const MeasuredPoint& point) {
  return point.known_wrong ? "wrong (known)" : std::string(name_of(point.status));
}

/// The verdict on a point that lacks a valid time on at least one side.
ComparedPoint judge_status(const PointIdentity& identity, const MeasuredPoint& base,
                           const MeasuredPoint& new_) {
  ComparedPoint compared{.identity = identity};
  if (new_.bad() && !base.bad()) compared.verdict = Verdict::kBroken;
  else if (base.bad() && new_.ranked()) compared.verdict = Verdict::kFixed;
  else if (base.ranked()) compared.verdict = Verdict::kOnlyBase;
  else if (new_.ranked()) compared.verdict = Verdict::kOnlyNew;
  compared.note = fmt::format("{} -> {}", status_text(base), status_text(new_));
  if (status_text(base) == status_text(new_)) compared.note = status_text(new_);
  const std::string& reason = new_.reason.empty() ? base.reason : new_.reason;
  if (!reason.empty()) compared.note += ": " + reason;
  return compared;
}

/// What the samples of one mode of one point say by themselves.
TimeChange change_of(const std::vector<Round>& rounds, double limit) {
  TimeChange change{.rounds = rounds.size()};
  if (rounds.size() > 1) change.evidence = Evidence::kRounds;
  else if (rounds[0].base.samples_ns.empty() || rounds[0].new_.samples_ns.empty())
    change.evidence = Evidence::kSummary;
  change.lone_sample =
      rounds.size() == 1 && std::min(rounds[0].base.count, rounds[0].new_.count) < 2;
  double log_base = 0, log_new = 0, log_clocks = 0;
  for (const Round& round : rounds) {
    log_base += std::log(round.base.median_ns);
    log_new += std::log(round.new_.median_ns);
    if (round.base.sm_clock_mhz && round.new_.sm_clock_mhz)
      log_clocks += std::log(*round.base.sm_clock_mhz / *round.new_.sm_clock_mhz);
  }
  const auto count = static_cast<double>(rounds.size());
  change.base_ns = std::exp(log_base / count);
  change.new_ns = std::exp(log_new / count);
  change.log_ratio = log_ratio(rounds);
  // Clocks that differ change a time as much, though the code is the same.
  change.threshold = limit + std::expm1(std::abs(log_clocks / count));
  return change;
}

bool less_noise(const Noise& a, const Noise& b) { return a.variance < b.variance; }

/// The noise of each point of a single round, from its neighbours in the order of either run.
std::map<const ComparedPoint*, Noise> neighbour_noises(const std::vector<ComparedPoint*>& points,
                                                       const Side& base, const Side& new_) {
  std::map<const ComparedPoint*, Noise> noises;
  for (const Side* side : {&base, &new_}) {
    std::map<std::string, std::vector<std::pair<std::size_t, const ComparedPoint*>>> by_mode;
    for (const ComparedPoint* point : points)
      by_mode[point->mode].emplace_back(side->rounds[0].points.at(point->identity).position, point);
    for (auto& [mode, in_order] : by_mode) {
      std::sort(in_order.begin(), in_order.end());
      std::vector<double> log_ratios;
      for (const auto& [position, point] : in_order)
        log_ratios.push_back(point->change->log_ratio.value);
      for (std::size_t i = 0; i < in_order.size(); ++i) {
        Noise& noise = noises[in_order[i].second];
        noise = std::max(noise, noise_of_neighbours(log_ratios, i), less_noise);
      }
    }
  }
  return noises;
}

/// Adds the noise between identical runs to the points of one backend.
void add_noise(const std::vector<ComparedPoint*>& points, const Noise& pairs, const Side& base,
               const Side& new_) {
  std::vector<double> log_ratios;
  std::map<const ComparedPoint*, Noise> neighbours;
  // Several rounds show the noise by their own spread; a single one only by the whole sweep.
  if (base.rounds.size() == 1 && points.size() >= kLeastSweep) {
    for (const ComparedPoint* point : points) log_ratios.push_back(point->change->log_ratio.value);
    neighbours = neighbour_noises(points, base, new_);
  }
  const SweepNoise sweep(std::move(log_ratios));
  for (ComparedPoint* point : points) {
    TimeChange& change = *point->change;
    // Only the rounds that have the point average its noise.
    const Noise own{pairs.variance / static_cast<double>(change.rounds), pairs.degrees};
    const Noise noise =
        std::max({sweep.as_seen_from(change.log_ratio.value), own, neighbours[point]}, less_noise);
    change.log_ratio = with_noise(change.log_ratio, noise);
    change.p_value = change.lone_sample ? 1 : change.log_ratio.p_value();
    change.noise_floor = std::expm1(kNormal95 * std::sqrt(noise.variance));
    change.threshold += change.noise_floor;
  }
}

Verdict judge(const TimeChange& change, bool discovered) {
  if (change.lone_sample) return Verdict::kInconclusive;
  const double most = 1 + change.threshold;
  if (discovered && change.ratio() > most) return Verdict::kSlower;
  if (discovered && change.ratio() < 1 / most) return Verdict::kFaster;
  if (change.ratio_low() >= 1 / most && change.ratio_high() <= most) return Verdict::kSame;
  return Verdict::kInconclusive;
}

std::vector<GeometricMean> geometric_means(const std::vector<ComparedPoint>& points) {
  std::map<std::pair<std::string, std::string>, GeometricMean> means;
  std::map<std::pair<std::string, std::string>, double> log_sums;
  for (const ComparedPoint& p : points) {
    if (!p.change) continue;
    GeometricMean& mean = means[{p.identity.operation, p.identity.backend}];
    mean.operation = p.identity.operation;
    mean.backend = p.identity.backend;
    log_sums[{p.identity.operation, p.identity.backend}] += p.change->log_ratio.value;
    ++mean.count;
  }
  std::vector<GeometricMean> list;
  for (auto& [key, mean] : means) {
    mean.ratio = std::exp(log_sums[key] / static_cast<double>(mean.count));
    list.push_back(std::move(mean));
  }
  return list;
}

}  // namespace

double TimeChange::ratio() const { return std::exp(log_ratio.value); }
double TimeChange::ratio_low() const {
  return std::exp(log_ratio.value - log_ratio.half_width(kConfidence));
}
double TimeChange::ratio_high() const {
  return std::exp(log_ratio.value + log_ratio.half_width(kConfidence));
}

std::size_t RunComparison::count(Verdict verdict) const {
  return static_cast<std::size_t>(std::count_if(
      points.begin(), points.end(), [&](const auto& point) { return point.verdict == verdict; }));
}

RunComparison compare_sides(const Side& base, const Side& new_, const Thresholds& thresholds) {
  if (base.rounds.size() != new_.rounds.size())
    throw UsageError(fmt::format(
        "'{}' has {} rounds and '{}' has {}: a round of one side is compared with the same round "
        "of the other, so run both equally often",
        base.name, base.rounds.size(), new_.name, new_.rounds.size()));
  RunComparison result;
  result.rounds = base.rounds.size();

  bool any_common = false;
  for (const auto& [identity, pair] : pair_points(base, new_)) {
    if (pair.rounds.empty()) {
      result.points.push_back(
          {.identity = identity, .verdict = pair.in_base ? Verdict::kOnlyBase : Verdict::kOnlyNew});
      continue;
    }
    any_common = true;
    const MeasuredPoint &worst_base = worst(pair, false), &worst_new = worst(pair, true);
    if (!worst_base.ranked() || !worst_new.ranked()) {
      result.points.push_back(judge_status(identity, worst_base, worst_new));
      continue;
    }
    std::map<std::string, std::vector<Round>> modes;
    std::set<std::string> base_modes, new_modes;
    for (const auto& [base_point, new_point] : pair.rounds) {
      for (const auto& [mode, unused] : new_point->timing) new_modes.insert(mode);
      for (const auto& [mode, series] : base_point->timing) {
        base_modes.insert(mode);
        if (const auto found = new_point->timing.find(mode); found != new_point->timing.end())
          modes[mode].push_back({series, found->second});
      }
    }
    for (const auto& [mode, rounds] : modes) {
      ComparedPoint point{.identity = identity,
                          .mode = mode,
                          .change = change_of(rounds, thresholds.of(identity.variant))};
      if (rounds.size() < result.rounds)
        point.note = fmt::format("in {} of {} rounds", rounds.size(), result.rounds);
      else if (point.change->lone_sample) point.note = "a single sample";
      result.points.push_back(std::move(point));
    }
    for (const auto& [side_modes, verdict] :
         {std::pair{&base_modes, Verdict::kOnlyBase}, {&new_modes, Verdict::kOnlyNew}})
      for (const std::string& mode : *side_modes)
        if (!modes.contains(mode))
          result.points.push_back({.identity = identity, .mode = mode, .verdict = verdict});
  }
  if (!any_common)
    throw UsageError(
        fmt::format("'{}' and '{}' have no point in common: compare runs of one "
                    "configuration",
                    base.name, new_.name));

  std::map<std::string, std::vector<double>> aa_log_ratios;
  for (const Side* side : {&base, &new_})
    for (const MeasuredRun& run : side->rounds)
      for (const auto& [backend, ratios] : run.aa_log_ratios)
        aa_log_ratios[backend].insert(aa_log_ratios[backend].end(), ratios.begin(), ratios.end());
  std::map<std::string, std::vector<ComparedPoint*>> timed;
  for (ComparedPoint& point : result.points)
    if (point.change) timed[point.identity.backend].push_back(&point);
  for (const auto& [backend, points] : timed)
    add_noise(points, noise_of_pairs(aa_log_ratios[backend]), base, new_);

  std::vector<double> p_values;
  for (const ComparedPoint& point : result.points)
    if (point.change) p_values.push_back(point.change->p_value);
  const std::vector<bool> discovered = discoveries(p_values, kFalseDiscoveryRate);
  std::size_t next = 0;
  for (ComparedPoint& point : result.points)
    if (point.change) point.verdict = judge(*point.change, discovered[next++]);

  std::stable_sort(result.points.begin(), result.points.end(),
                   [](const ComparedPoint& a, const ComparedPoint& b) {
                     const auto size = [](const ComparedPoint& p) {
                       return p.change ? -std::abs(p.change->log_ratio.value) : 0;
                     };
                     return std::tuple(a.verdict, size(a)) < std::tuple(b.verdict, size(b));
                   });
  result.means = geometric_means(result.points);
  return result;
}

}  // namespace reduce_bench
