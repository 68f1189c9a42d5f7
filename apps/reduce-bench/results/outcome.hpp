// What the tables, the problems and the exit status of a run need of its points.
#pragma once

#include <optional>
#include <string>

#include "common/document.hpp"
#include "point/ceilings.hpp"
#include "point/record.hpp"

namespace reduce_bench {

struct Outcome {
  Status status = Status::kOk;
  bool known_wrong = false;
  std::string reason;               ///< why the status is not ok
  std::string uncounted;            ///< why nothing was counted of what was to be
  std::optional<double> median_ns;  ///< of the first mode, in the order asked for, that was timed
  std::optional<double> gb_per_s, ceiling_share;  ///< of the primary mode
  std::optional<double> error_ulp;                ///< of floats, in units of the last place
};

/// One point of the plan that is done: as the tables need it, and as the document holds it.
struct FinishedPoint {
  const Point* point = nullptr;
  Outcome outcome;
  Json entry;  ///< of the document's `points`
};

/// `peak_gb_per_s` is the datasheet bandwidth, if known.
FinishedPoint finish(const Point& point, const Record& record, const Ceilings& ceilings,
                     std::optional<double> peak_gb_per_s, bool keep_samples);

/// The same from the point's entry, which a journal kept. Throws UsageError that names the place
/// where no run of the point can have written it.
FinishedPoint read_finished(const Point& point, Json entry, const std::string& where);

}  // namespace reduce_bench
