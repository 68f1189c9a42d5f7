#include "results/run_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "common/error.hpp"
#include "kernels/api/devices.hpp"
#include "point/measure.hpp"
#include "results/results.hpp"

namespace reduce_bench {
namespace {

/// Points that make it worth starting a process for each of their rounds.
constexpr std::ptrdiff_t kLeastBlock = 200;

/// The most that a point takes of which the noise is measured, unless all take longer: sums of 2^30
/// elements by one core of a processor, 1 s each, kept a run of nine points 25 s longer.
constexpr double kMostNoiseNs = 1e8;

/// Everything a run holds while it goes through its plan.
class Run {
 public:
  Run(const std::vector<Point>& plan, const RunSettings& settings, Restored restored,
      Journal* journal, RunSurroundings& surroundings)
      : plan_(plan),
        settings_(settings),
        journal_(journal),
        surroundings_(surroundings),
        lost_(settings.absent) {
    results_.ceilings = std::move(restored.ceilings);
    results_.points = std::move(restored.points);
    results_.points.resize(plan.size());
  }

  RunResults execute() {
    measure_all_ceilings();
    run_points();
    measure_noise();
    results_.interrupted = surroundings_.interrupts() > 0;
    return std::move(results_);
  }

 private:
  /// Whether a backend that was there cannot run any more.
  bool was_lost(Backend backend) const {
    return lost_.contains(backend) && !settings_.absent.contains(backend);
  }
  bool is_done(const Point& point) const { return results_.points[point.index].has_value(); }

  void measure_all_ceilings() {
    std::map<Backend, std::set<std::size_t>> sizes;
    std::set<Backend> between_devices;
    for (const Point& point : plan_) {
      if (is_done(point) || point.n == 0) continue;
      // How many devices `all` are is known to the worker alone: as one they have the largest share.
      const DeviceTraits one;
      const Problem problem = point.problem(one);
      sizes[point.backend].insert(largest_share(problem).input_bytes());
      if (point.params.has("devices") && !point.params.is("devices", "1"))
        between_devices.insert(point.backend);
    }
    for (const auto& [backend, bytes] : sizes) {
      if (results_.ceilings.contains(backend) || lost_.contains(backend) ||
          surroundings_.interrupts() > 0)
        continue;
      const auto chosen = ceiling_sizes({bytes.begin(), bytes.end()});
      surroundings_.begin_ceilings(backend, chosen.size());
      try {
        const auto measured = executor(backend).measure_ceilings(
            chosen, between_devices.contains(backend),
            [&](std::size_t k) { surroundings_.begin_ceiling(k); });
        if (!measured) return;
        results_.ceilings[backend] = *measured;
      } catch (const DeviceLost& error) {
        lost_[backend] = fmt::format("not run: the ceilings of {} could not be measured: {}",
                                     name_of(backend), error.what());
        continue;
      }
      if (journal_ != nullptr) journal_->append(backend, results_.ceilings[backend]);
    }
  }

  /// The points of one problem take turns in random order, round by round, and every round runs in a
  /// fresh process: the same code takes up to a tenth longer in one process than in the next, which
  /// no sample within a process shows (docs/adr/0004-measurement.md).
  void run_points() {
    for (const Point& point : plan_)
      if (!is_done(point)) turns_ += point.measurement.interleave;
    std::mt19937_64 order(settings_.seed);
    for (auto first = plan_.begin(); first != plan_.end();) {
      const auto last = end_of_block(first);
      run_block(first, last, order);
      if (surroundings_.interrupts() > 0) return;
      first = last;
    }
  }

  using Points = std::vector<Point>::const_iterator;

  /// A block is one problem; where it takes several processes, as many whole problems as make up
  /// kLeastBlock points, because starting a process takes longer than a short point.
  Points end_of_block(Points first) const {
    Points last = first;
    do {
      last = std::find_if(last, plan_.end(),
                          [&](const Point& point) { return point.group != last->group; });
    } while ((first->measurement.interleave > 1 || is_more_asked(*first)) && last != plan_.end() &&
             last->measurement.interleave == first->measurement.interleave &&
             is_more_asked(*last) == is_more_asked(*first) && last - first < kLeastBlock);
    return last;
  }

  void run_block(Points first, Points last, std::mt19937_64& order) {
    std::map<std::size_t, std::vector<const Point*>> problems;
    for (auto point = first; point != last; ++point)
      if (!is_done(*point)) problems[point->group].push_back(&*point);
    const unsigned rounds = first->measurement.interleave;
    std::map<std::size_t, Record> records;
    for (unsigned round = 0; round < rounds; ++round) {
      if (round > 0)
        for (const Backend backend : used_) executor(backend).renew();
      for (auto& [unused, points] : problems) {
        if (rounds > 1) std::shuffle(points.begin(), points.end(), order);
        for (const Point* point : points) {
          if (surroundings_.interrupts() > 0) return;
          surroundings_.begin_point(*point, turns_begun_++ / turns_);
          // One interrupt lets the point in flight end, the second gives it up.
          auto record = execute_point(*point, {.budget_share = 1.0 / rounds}, 2);
          if (!record) return;
          const auto [known, is_first] = records.try_emplace(point->index, std::move(*record));
          if (!is_first) known->second.merge(*record);
          if (round + 1 < rounds || is_examined(known->second)) continue;
          keep(*point, known->second);
          records.erase(known);
        }
      }
    }
    if (!records.empty()) examine(problems, records);
  }

  /// Whether more than its times is asked for of the point. A CPU's counters are always read.
  static bool is_more_asked(const Point& point) {
    return (point.measurement.counters || point.measurement.energy) &&
           point.backend == Backend::kCuda;
  }
  static bool is_examined(const Record& record) {
    return is_more_asked(record.point) && !record.timing.empty();
  }

  /// Counts the points whose times are taken, measures their energy, and keeps them. What counts
  /// stays in the way of later launches, and what works for a second warms the GPU, so either has a
  /// process of its own behind the times.
  void examine(const std::map<std::size_t, std::vector<const Point*>>& problems,
               std::map<std::size_t, Record>& records) {
    const auto for_each = [&](bool MeasurementSettings::* asked, const ExecuteOptions& options,
                              auto&& take) {
      executor(Backend::kCuda).renew();
      for (const auto& [unused, points] : problems)
        for (const Point* point : points) {
          const auto known = records.find(point->index);
          if (known == records.end() || !(point->measurement.*asked)) continue;
          if (surroundings_.interrupts() > 0) return;
          surroundings_.begin_point(*point, turns_begun_ / turns_);
          const auto record = execute_point(*point, options, 2);
          if (!record) return;
          take(known->second, *record);
        }
    };
    const auto why = [](const Record& record) {
      return fmt::format("the call for it ended as '{}': {}", name_of(record.status),
                         record.reason);
    };
    for_each(&MeasurementSettings::energy,
             {.timed = false, .weighed = true, .check_determinism = false},
             [&](Record& to, const Record& from) {
               to.energy = from.energy ? from.energy : Energy{.unavailable = why(from)};
             });
    for_each(&MeasurementSettings::counters,
             {.timed = false, .profiled = true, .check_determinism = false},
             [&](Record& to, const Record& from) {
               to.counters = from.counters;
               to.code = from.code ? from.code : MachineCode{.unavailable = why(from)};
               if (to.counters.empty())
                 to.counters = {{.name = std::string(kAllCounters), .unavailable = why(from)}};
             });
    executor(Backend::kCuda).renew();
    if (surroundings_.interrupts() > 0) return;
    for (auto& [index, record] : records) keep(plan_[index], record);
  }

  /// One execution of one point, whatever happens to it; nothing where `patience` interrupts came
  /// before its end.
  std::optional<Record> execute_point(const Point& point, const ExecuteOptions& options,
                                      int patience) {
    if (!lost_.contains(point.backend)) {
      try {
        return executor(point.backend).execute(point, options, patience);
      } catch (const DeviceLost& error) {
        if (surroundings_.interrupts() > 0) return std::nullopt;
        lost_[point.backend] = fmt::format("not run: {}", error.what());
      }
    }
    Record record{.point = point};
    record.status = was_lost(point.backend) ? Status::kFailed : Status::kSkipped;
    record.reason = lost_.at(point.backend);
    return record;
  }

  void keep(const Point& point, Record record) {
    const auto ceilings = results_.ceilings.find(point.backend);
    if (ceilings != results_.ceilings.end())
      if (std::string why = impossible_time(record, ceilings->second); !why.empty()) {
        record.status = Status::kWrong;
        record.reason = std::move(why);
        record.timing.clear();
      }
    const auto peak = settings_.peak_gb_per_s.find(point.backend);
    FinishedPoint finished =
        finish(point, record, ceilings == results_.ceilings.end() ? Ceilings{} : ceilings->second,
               peak == settings_.peak_gb_per_s.end() ? std::nullopt : std::optional(peak->second),
               settings_.keep_samples);
    if (was_lost(point.backend)) results_.not_run.insert(point.index);
    else if (journal_ != nullptr) journal_->append(finished.entry);
    surroundings_.end_point(point, record, finished.outcome);
    results_.points[point.index] = std::move(finished);
  }

  /// Times a small, a middle and a large point of every backend twice more. Those of the plan, not
  /// those that were used: a run that was resumed may have found all points done.
  void measure_noise() {
    std::set<Backend> backends;
    for (const Point& point : plan_) backends.insert(point.backend);
    for (const Backend backend : backends) {
      if (lost_.contains(backend)) continue;
      std::vector<const Point*> good = points_to_repeat(backend, kMostNoiseNs);
      if (good.empty()) good = points_to_repeat(backend, std::numeric_limits<double>::infinity());
      // Where the host waits, times differ by more than those of a kernel, whose noise this is too.
      const auto waits = [](const Point* point) { return point->entry->variant.synchronous; };
      if (!std::all_of(good.begin(), good.end(), waits)) std::erase_if(good, waits);
      std::stable_sort(good.begin(), good.end(),
                       [](const Point* a, const Point* b) { return a->n < b->n; });
      std::set<const Point*> chosen;
      if (!good.empty()) chosen = {good.front(), good[good.size() / 2], good.back()};
      for (const Point* point : chosen) {
        if (surroundings_.interrupts() > 0) return;
        const auto a = execute_point(*point, {}, 1), b = execute_point(*point, {}, 1);
        if (!a || !b) return;
        if (a->timing.empty() || b->timing.empty()) continue;
        const auto& [mode, measured] = *a->timing.begin();
        results_.noise.push_back({.point = point,
                                  .mode = mode,
                                  .median_a_ns = median(measured.samples_ns),
                                  .median_b_ns = median(b->timing.begin()->second.samples_ns)});
      }
    }
  }

  /// Those that are right, have inputs and take no longer than that.
  std::vector<const Point*> points_to_repeat(Backend backend, double most_ns) const {
    std::vector<const Point*> points;
    for (const Point& point : plan_) {
      if (point.backend != backend || point.n == 0 || !is_done(point)) continue;
      const Outcome& outcome = results_.points[point.index]->outcome;
      if (outcome.status == Status::kOk && outcome.median_ns.value_or(0) <= most_ns)
        points.push_back(&point);
    }
    return points;
  }

  Executor& executor(Backend backend) {
    used_.insert(backend);
    return surroundings_.executor(backend);
  }

  const std::vector<Point>& plan_;
  const RunSettings& settings_;
  Journal* journal_;
  RunSurroundings& surroundings_;
  std::map<Backend, std::string> lost_;  ///< why a backend cannot run (any more)
  std::set<Backend> used_;
  double turns_ = 0, turns_begun_ = 0;  ///< of all points that are not done
  RunResults results_;
};

}  // namespace

std::size_t RunResults::done() const {
  return static_cast<std::size_t>(
      std::count_if(points.begin(), points.end(), [](const auto& point) { return point; }));
}

std::optional<double> RunResults::noise_floor() const {
  std::optional<double> largest;
  for (const NoisePair& pair : noise)
    largest = std::max(largest.value_or(0), std::abs(pair.ratio() - 1));
  return largest;
}

bool RunResults::all_skipped() const {
  return std::all_of(points.begin(), points.end(), [](const auto& point) {
    return !point || point->outcome.status == Status::kSkipped;
  });
}

int RunResults::exit_status() const {
  if (interrupted) return kExitInterrupted;
  const auto any = [&](auto&& test) {
    return std::any_of(points.begin(), points.end(),
                       [&](const auto& point) { return point && test(point->outcome); });
  };
  if (any([](const Outcome& o) { return o.status == Status::kWrong && !o.known_wrong; }))
    return kExitWrongResult;
  if (any([](const Outcome& o) {
        return (o.status == Status::kFailed && !o.known_wrong) || o.status == Status::kTimeout;
      }))
    return kExitIncomplete;
  return all_skipped() ? kExitIncomplete : kExitGood;
}

RunResults run_plan(const std::vector<Point>& plan, const RunSettings& settings, Restored restored,
                    Journal* journal, RunSurroundings& surroundings) {
  return Run(plan, settings, std::move(restored), journal, surroundings).execute();
}

}  // namespace reduce_bench
