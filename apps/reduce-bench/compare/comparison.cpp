#include "compare/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <tuple>

#include "common/error.hpp"
#include "common/text.hpp"
#include "plan/mode.hpp"

namespace reduce_bench {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kFalseDiscoveryRate = 0.05;

// How far the logarithms of identical code's times lie apart from process to process, at most
// (docs/adr/0006-comparison.md): of kernels on a GPU, and on a CPU or where it waits for a GPU, as if
// a neighbour took half of the CPU's time.
constexpr double kDeviceProcesses = 0.10, kHostProcesses = std::numbers::ln2;

// How far they lie apart together, at most: by the launch, which takes the same time from all kernels,
// and by a factor.
constexpr double kDeviceLaunchNs = 700, kDeviceFactor = 0.065;

// Short times are those in which a launch counts: two processes differ more in them than in others.
constexpr double kShortNs = 16e3;

constexpr std::string_view kCpu = name_of(Backend::kCpu);

// The spread of fewer rounds is too often small by chance.
constexpr std::size_t kLeastRounds = 5;

// Everything is slower where most points are, and all but so many to some degree, of so many or more.
constexpr double kExceptions = 0.05;
constexpr std::size_t kLeastCommon = 5;
constexpr double kSomeDegree = 0.5;  // of what is beyond noise, or of the shift if that is smaller

/// One point in every round that has it, paired by round.
struct PairedPoint {
  std::vector<std::pair<const MeasuredPoint*, const MeasuredPoint*>> rounds;
  bool in_base = false, timed_in_base = false;
};

std::map<PointIdentity, PairedPoint> pair_points(const Side& base, const Side& new_) {
  std::map<PointIdentity, PairedPoint> paired;
  for (std::size_t k = 0; k < base.rounds.size(); ++k) {
    const auto& new_points = new_.rounds[k].points;
    for (const auto& [identity, point] : base.rounds[k].points) {
      PairedPoint& pair = paired[identity];
      pair.in_base = true;
      pair.timed_in_base = pair.timed_in_base || point.ranked();
      if (const auto found = new_points.find(identity); found != new_points.end())
        pair.rounds.emplace_back(&point, &found->second);
    }
    for (const auto& [identity, unused] : new_points) paired.try_emplace(identity);
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

/// Whether all rounds of both sides ran the same machine code; nothing where one does not tell.
std::optional<bool> same_code(const PairedPoint& pair) {
  const std::string& first = pair.rounds.front().first->code;
  bool same = true;
  for (const auto& [base, new_] : pair.rounds) {
    if (base->code.empty() || new_->code.empty()) return std::nullopt;
    same = same && base->code == first && new_->code == first;
  }
  return same;
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
  else if (base.ranked()) compared.verdict = Verdict::kLost;
  else if (new_.ranked()) compared.verdict = Verdict::kOnlyNew;
  compared.note = fmt::format("{} -> {}", status_text(base), status_text(new_));
  if (status_text(base) == status_text(new_)) compared.note = status_text(new_);
  const std::string& reason = new_.reason.empty() ? base.reason : new_.reason;
  if (!reason.empty()) compared.note += ": " + reason;
  return compared;
}

/// What the samples of one mode of one point say by themselves.
TimeChange change_of(const std::vector<Round>& rounds, double limit, Middle middle, bool waits) {
  TimeChange change{.waits = waits, .rounds = rounds.size()};
  if (rounds.size() > 1) change.interval_source = IntervalSource::kRounds;
  else if (rounds[0].base.samples_ns.empty() || rounds[0].new_.samples_ns.empty())
    change.interval_source = IntervalSource::kSummary;
  change.decides = rounds.size() > 1 || std::min(rounds[0].base.count, rounds[0].new_.count) > 1;
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
  change.log_ratio = log_ratio(rounds, middle);
  if (waits && rounds.size() >= kLeastRounds)
    if (const auto at_one_speed = log_ratio_at_one_speed(rounds, middle)) {
      change.trip_ratio = std::exp(at_one_speed->log_trips);
      change.at_one_speed = at_one_speed->log_ratio.has_value();
      if (change.at_one_speed) change.log_ratio = *at_one_speed->log_ratio;
      else change.trip_noise = at_one_speed->slope_at_most * std::abs(at_one_speed->log_trips);
    }
  // Clocks that differ change a time as much, though the code is the same.
  change.threshold = limit;
  change.clocks = std::expm1(std::abs(log_clocks / count));
  return change;
}

/// 95 % of ratios with this noise differ from 1 by less.
double floor_of(const Noise& noise) { return std::expm1(noise.half_width()); }

bool is_short(const TimeChange& change) {
  return std::min(change.base_ns, change.new_ns) < kShortNs;
}

/// What two processes of the same code differ by.
Noise processes_of(const ComparedPoint& point) {
  const bool on_host = point.identity.backend == kCpu || point.change->waits;
  return known_noise(on_host ? kHostProcesses : kDeviceProcesses);
}

/// How much of the time of a kernel this launch is.
double launch_at(const ComparedPoint& point, double launch_ns) {
  return std::min(kDeviceProcesses,
                  launch_ns / std::min(point.change->base_ns, point.change->new_ns));
}

/// What two processes of the same code differ by at all points alike, as seen at this one.
Noise common_processes_of(const ComparedPoint& point) {
  if (point.identity.backend == kCpu || point.change->waits) return processes_of(point);
  return known_noise(std::hypot(kDeviceFactor, launch_at(point, kDeviceLaunchNs)));
}

/// Lets the points of several rounds learn from those like them how far rounds lie apart.
void moderate_alike(const std::vector<ComparedPoint*>& points, std::size_t rounds) {
  std::map<std::tuple<std::string, bool, bool, bool>, std::vector<LogRatio*>> alike;
  for (ComparedPoint* point : points) {
    TimeChange& change = *point->change;
    if (change.rounds == rounds)
      alike[{point->mode, change.waits, change.at_one_speed, is_short(change)}].push_back(
          &change.log_ratio);
  }
  for (const auto& [unused, ratios] : alike) moderate(ratios);
}

using Noises = std::map<const ComparedPoint*, Noise>;

/// The noise of each point of a single round, from its neighbours in the order of either run.
Noises neighbour_noises(const std::vector<ComparedPoint*>& points, const Side& base,
                        const Side& new_) {
  Noises noises;
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
        noise = larger_of(noise, noise_of_neighbours(log_ratios, i));
      }
    }
  }
  return noises;
}

/// Adds to the noise of each point how far all points lie apart, and short ones also how far short
/// ones do: they may be too few to show in the spread of all.
void add_spread(Noises& noises, const std::vector<ComparedPoint*>& points) {
  std::vector<double> all, in_short;
  for (const ComparedPoint* point : points) {
    all.push_back(point->change->log_ratio.value);
    if (is_short(*point->change)) in_short.push_back(all.back());
  }
  const bool short_tell = in_short.size() >= kLeastSweep;
  const SweepNoise of_all(std::move(all)), of_short(std::move(in_short));
  for (const ComparedPoint* point : points) {
    const double value = point->change->log_ratio.value;
    Noise& noise = noises[point];
    noise = larger_of(noise, of_all.as_seen_from(value));
    if (is_short(*point->change))
      noise = larger_of(noise, short_tell ? of_short.as_seen_from(value) : processes_of(*point));
  }
}

/// Adds to the noise of each point what a launch that takes longer, or shorter, explains of it: the
/// short ones show it, or where they are few the shortest.
void add_launch(Noises& noises, const std::vector<ComparedPoint*>& points) {
  std::vector<std::pair<double, double>> times_and_changes_ns;
  for (const ComparedPoint* point : points) {
    const TimeChange& change = *point->change;
    times_and_changes_ns.emplace_back(std::min(change.base_ns, change.new_ns),
                                      change.new_ns - change.base_ns);
  }
  std::sort(times_and_changes_ns.begin(), times_and_changes_ns.end());
  std::vector<double> changes_ns;
  for (const auto& [time_ns, change_ns] : times_and_changes_ns)
    if (time_ns < kShortNs || changes_ns.size() < kLeastSweep) changes_ns.push_back(change_ns);
  std::sort(changes_ns.begin(), changes_ns.end());
  const double launch_ns = changes_ns[changes_ns.size() / 2];
  for (const ComparedPoint* point : points)
    if ((launch_ns > 0) == (point->change->log_ratio.value > 0)) {
      Noise& noise = noises[point];
      noise = larger_of(noise, known_noise(launch_at(*point, std::abs(launch_ns))));
    }
}

/// Adds the noise between identical runs to the points of one backend.
void add_noise(const std::vector<ComparedPoint*>& points, const Noise& pairs, const Side& base,
               const Side& new_) {
  const bool single = base.rounds.size() == 1, tells = points.size() >= kLeastSweep;
  if (!single) moderate_alike(points, base.rounds.size());
  // Several rounds show the noise by their own spread; a single one only by the whole sweep.
  Noises sweep;
  if (single && tells) {
    sweep = neighbour_noises(points, base, new_);
    add_spread(sweep, points);
    if (points[0]->identity.backend != kCpu) add_launch(sweep, points);
  }
  for (ComparedPoint* point : points) {
    TimeChange& change = *point->change;
    // Only the rounds that have the point average its noise.
    const auto rounds = static_cast<double>(change.rounds);
    Noise noise{pairs.variance / rounds, pairs.degrees};
    const Noise processes = processes_of(*point);
    if (change.trip_noise > 0) noise = larger_of(noise, known_noise(change.trip_noise));
    if (!single && change.rounds < kLeastRounds)
      noise = larger_of(noise, {processes.variance / rounds, processes.degrees});
    if (single) {
      const Noise most = most_noise(processes, pairs);
      const Noise bound = larger_of(noise, most);
      noise = tells ? larger_of(noise, sweep[point]) : bound;
      if (change.waits) noise = larger_of(noise, processes);
      // What lies further apart than runs can is a change, and no noise, whatever the sweep shows.
      if (with_noise(change.log_ratio, bound).p_value() <
          with_noise(change.log_ratio, noise).p_value())
        noise = bound;
      const double common = floor_of(most_noise(common_processes_of(*point), pairs));
      change.common_threshold = std::max(change.threshold, common) + change.clocks;
      // By how much a neighbour delays threads that wait for each other has no bound.
      if (!tells && point->identity.backend == kCpu && change.decides) {
        change.decides = false;
        point->note = "few points in one round";
      }
    }
    change.log_ratio = with_noise(change.log_ratio, noise);
    change.p_value = change.decides ? change.log_ratio.p_value() : 1;
    change.noise_floor = floor_of(noise);
    change.threshold += change.noise_floor + change.clocks;
    if (!single) change.common_threshold = change.threshold;
  }
}

Verdict judge(const TimeChange& change, bool discovered) {
  if (!change.decides) return Verdict::kInconclusive;
  const double most = 1 + change.threshold;
  if (discovered && change.ratio() > most) return Verdict::kSlower;
  if (discovered && change.ratio() < 1 / most) return Verdict::kFaster;
  if (change.ratio_low() >= 1 / most && change.ratio_high() <= most) return Verdict::kSame;
  return Verdict::kInconclusive;
}

/// How many times as long a point takes, or as short.
double times(const ComparedPoint& point, Verdict verdict) {
  const double ratio = point.change->ratio();
  return verdict == Verdict::kSlower ? ratio : 1 / ratio;
}

/// Nothing where the points of one backend did not become slower, or faster, together.
std::optional<CommonShift> common_shift(const std::vector<const ComparedPoint*>& points,
                                        Verdict verdict, bool single) {
  std::vector<double> ratios;
  std::size_t sure = 0, along = 0;
  for (const ComparedPoint* point : points) {
    ratios.push_back(point->change->ratio());
    sure += point->verdict == verdict ||
            (single && times(*point, verdict) > 1 + point->change->common_threshold);
  }
  if (points.size() < kLeastCommon || 2 * sure <= points.size()) return std::nullopt;
  std::sort(ratios.begin(), ratios.end());
  const double ratio = ratios[ratios.size() / 2];
  const double shift = (verdict == Verdict::kSlower ? ratio : 1 / ratio) - 1;
  for (const ComparedPoint* point : points)
    along +=
        times(*point, verdict) > 1 + kSomeDegree * std::min(shift, point->change->common_threshold);
  const auto all = static_cast<double>(points.size());
  if (static_cast<double>(along) < (1 - kExceptions) * all) return std::nullopt;
  return CommonShift{.backend = points[0]->identity.backend,
                     .verdict = verdict,
                     .ratio = ratio,
                     .count = along,
                     .of = points.size()};
}

std::vector<CommonShift> common_shifts(const std::vector<ComparedPoint>& points, bool single) {
  std::map<std::string, std::vector<const ComparedPoint*>> by_backend;
  for (const ComparedPoint& point : points)
    if (point.change) by_backend[point.identity.backend].push_back(&point);
  std::vector<CommonShift> shifts;
  for (const auto& [backend, compared] : by_backend)
    for (const Verdict verdict : {Verdict::kSlower, Verdict::kFaster})
      if (const auto shift = common_shift(compared, verdict, single)) shifts.push_back(*shift);
  return shifts;
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

/// Whether all the runs name one program by its checksum; older files name none.
bool is_one_build(const Side& base, const Side& new_) {
  const auto build_of = [](const MeasuredRun& run) {
    return run.environment.is_object() ? run.environment.value("build_id", Json()) : Json();
  };
  const Json build = build_of(base.rounds.front());
  const auto is_of_it = [&](const MeasuredRun& run) { return build_of(run) == build; };
  return !build.is_null() && std::all_of(base.rounds.begin(), base.rounds.end(), is_of_it) &&
         std::all_of(new_.rounds.begin(), new_.rounds.end(), is_of_it);
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

bool RunComparison::has_regression() const {
  const auto of_verdict = [](const auto& item) { return is_regression(item.verdict); };
  return std::any_of(points.begin(), points.end(), of_verdict) ||
         std::any_of(shifts.begin(), shifts.end(), of_verdict);
}

RunComparison compare_sides(const Side& base, const Side& new_, const Thresholds& thresholds,
                            Missing missing) {
  if (base.rounds.size() != new_.rounds.size())
    throw UsageError(fmt::format(
        "'{}' has {} and '{}' has {}: a round of one side is compared with the same round "
        "of the other, so run both equally often",
        base.name, counted(base.rounds.size(), "round"), new_.name,
        counted(new_.rounds.size(), "round")));
  RunComparison result;
  result.rounds = base.rounds.size();
  result.identical =
      std::equal(base.rounds.begin(), base.rounds.end(), new_.rounds.begin(),
                 [](const MeasuredRun& a, const MeasuredRun& b) { return a.is_same_as(b); });
  result.one_build = is_one_build(base, new_);

  bool any_common = false;
  for (const auto& [identity, pair] : pair_points(base, new_)) {
    if (pair.rounds.empty()) {
      result.points.push_back({.identity = identity,
                               .verdict = pair.timed_in_base ? Verdict::kLost
                                          : pair.in_base     ? Verdict::kOnlyBase
                                                             : Verdict::kOnlyNew});
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
    const bool on_gpu = identity.backend != kCpu;
    const bool waits = on_gpu && (worst_base.waits || worst_new.waits);
    // Short times on a GPU lie on a few ticks of its clock and around two modes, between which a median
    // jumps.
    for (const auto& [mode, rounds] : modes) {
      const bool mode_waits = waits || (on_gpu && mode == name_of(Mode::kWall));
      const Middle middle = on_gpu ? Middle::kTrimean : Middle::kMedian;
      ComparedPoint point{
          .identity = identity,
          .mode = mode,
          .change = change_of(rounds, thresholds.of(identity.variant), middle, mode_waits),
          .same_code = same_code(pair)};
      if (rounds.size() < result.rounds)
        point.note = fmt::format("in {} of {} rounds", rounds.size(), result.rounds);
      else if (!point.change->decides) point.note = "a single sample";
      result.points.push_back(std::move(point));
    }
    for (const auto& [side_modes, verdict] :
         {std::pair{&base_modes, Verdict::kLost}, {&new_modes, Verdict::kOnlyNew}})
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
    if (point.change)
      point.verdict = result.identical ? Verdict::kSame : judge(*point.change, discovered[next++]);
  if (missing == Missing::kAllowed)
    for (ComparedPoint& point : result.points)
      if (point.verdict == Verdict::kLost) point.verdict = Verdict::kOnlyBase;

  std::stable_sort(result.points.begin(), result.points.end(),
                   [](const ComparedPoint& a, const ComparedPoint& b) {
                     const auto size = [](const ComparedPoint& p) {
                       return p.change ? -std::abs(p.change->log_ratio.value) : 0;
                     };
                     return std::tuple(a.verdict, size(a)) < std::tuple(b.verdict, size(b));
                   });
  result.means = geometric_means(result.points);
  result.shifts = common_shifts(result.points, result.rounds == 1);
  return result;
}

}  // namespace reduce_bench
