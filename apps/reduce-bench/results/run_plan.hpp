// A run: the ceilings of its backends, its points in turns, and its noise floor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "point/executor.hpp"
#include "results/journal.hpp"
#include "results/outcome.hpp"

namespace reduce_bench {

struct RunSettings {
  std::uint64_t seed = 1;  ///< of the order in which the variants of one problem take turns
  bool keep_samples = false;
  std::map<Backend, std::string> absent;    ///< backends that this machine lacks, and why
  std::map<Backend, double> peak_gb_per_s;  ///< datasheet bandwidths, where known
};

/// What a run needs from outside: backends, interrupts, and someone to tell of its progress.
class RunSurroundings {
 public:
  virtual ~RunSurroundings() = default;

  /// The executor of a backend that is not absent, the same at every call.
  virtual Executor& executor(Backend backend) = 0;
  /// How many interrupts came. One asks for the point in flight to be the last.
  virtual int interrupts() = 0;

  virtual void begin_ceilings(Backend backend, std::size_t sizes) = 0;
  /// That of one of the sizes, from 0.
  virtual void begin_ceiling(std::size_t k) = 0;
  /// A point begins, in each of its turns; `share` of the turns of all points are over.
  virtual void begin_point(const Point& point, double share) = 0;
  /// A point ended, after its last turn.
  virtual void end_point(const Point& point, const Record& record, const Outcome& outcome) = 0;
};

/// One point timed twice, as if it were two variants.
struct NoisePair {
  const Point* point = nullptr;
  Mode mode = Mode::kCold;
  double median_a_ns = 0, median_b_ns = 0;

  double ratio() const { return median_b_ns / median_a_ns; }
};

struct RunResults {
  std::map<Backend, Ceilings> ceilings;
  std::vector<std::optional<FinishedPoint>> points;  ///< by index in the plan; nothing: not done
  std::set<std::size_t> not_run;                     ///< points whose backend was lost before them
  std::vector<NoisePair> noise;
  bool interrupted = false;

  std::size_t done() const;
  /// The largest |ratio - 1| of the pairs; nothing without pairs.
  std::optional<double> noise_floor() const;
  bool all_skipped() const;
  /// The exit code of `reduce-bench run`.
  int exit_status() const;
};

/// Runs what `restored` lacks of the plan, whose points the results refer to. Every finished point
/// and every backend's ceilings go to the journal, where there is one; points that could not be run
/// do not, so that resuming tries them again.
RunResults run_plan(const std::vector<Point>& plan, const RunSettings& settings, Restored restored,
                    Journal* journal, RunSurroundings& surroundings);

}  // namespace reduce_bench
