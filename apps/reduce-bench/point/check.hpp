// What `verify` concludes about a variant from all of its cases.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "plan/cases.hpp"
#include "point/execute.hpp"

namespace reduce_bench {

/// Runs one point, wherever that is.
using Execute = std::function<Record(const Point&, const ExecuteOptions&)>;

/// The executions of one variant on one backend.
struct Tally {
  unsigned passed = 0, skipped = 0, known_wrong = 0;
  bool deterministic = true;          ///< every point that passed gave the same bits twice
  std::set<std::string> lacks;        ///< of the device, for which cases were skipped
  std::vector<std::string> failures;  ///< one line each, with all that repeats the execution
};

/// Runs every case of the variant, full checks under several schedules where it is emulated. Besides
/// wrong results, these are failures: a setting whose every case was skipped, and on the emulator,
/// which can schedule any race into view, a documented defect that no case showed.
/// `ended` is told of each case.
Tally check_variant(
    const Subject& subject, const Execute& execute,
    const std::function<void(const Case&)>& ended = [](const Case&) {});
/// All the cases of the variant, in the order in which they run.
std::vector<Case> all_cases(const Subject& subject);

}  // namespace reduce_bench
