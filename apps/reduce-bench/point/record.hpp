// What is known about a point after it ran.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/fields.hpp"
#include "devices/counters.hpp"
#include "devices/energy.hpp"
#include "devices/machine_code.hpp"
#include "kernels/api/variant.hpp"
#include "kernels/platform/emu_device.hpp"
#include "plan/plan.hpp"
#include "point/measure.hpp"
#include "point/oracle.hpp"

namespace reduce_bench {

enum class Status { kOk, kSkipped, kWrong, kFailed, kTimeout };
inline constexpr std::array kStatusNames{std::string_view{"ok"}, std::string_view{"skipped"},
                                         std::string_view{"wrong"}, std::string_view{"failed"},
                                         std::string_view{"timeout"}};
constexpr std::string_view name_of(Status s) { return kStatusNames[index_of(s)]; }

/// What every element of the outputs was compared to. `expected`, `actual` and the errors are those
/// of one element: the first that is wrong, or where all are right the one nearest to its bound.
struct Verification {
  std::string array = "results";  ///< which output: results, labels or count
  unsigned device = 0;            ///< whose output it is, of the point's devices
  std::size_t index = 0;          ///< of the element in it
  std::size_t elements = 1;       ///< compared
  std::size_t mismatches = 0;
  Scalar expected, actual;
  Comparison comparison;
  double bound_abs = 0;
  std::optional<double> condition;
  bool passed_before = false;
  std::optional<bool> passed_after;   ///< of the output that the last timed call left
  std::optional<bool> deterministic;  ///< two calls gave the same bits
  /// Where the bounds could hide a fault: whether the same launch gave exact sums of other values
  /// that no order rounds (`generate_twin`), and did so again after timing.
  std::optional<bool> twin_passed_before, twin_passed_after;
};

/// What a point's arrays lie on, where its variant chooses.
struct GrantedPages {
  std::size_t bytes = 0;                  ///< of the arrays, each in whole huge pages
  std::optional<std::size_t> huge_bytes;  ///< of these; nothing where the kernel does not tell
};

/// The devices that a point was spread over, and what went between them.
struct Spread {
  unsigned devices = 1;
  unsigned processes = 1;         ///< that have them
  std::optional<unsigned> links;  ///< of the first that are up; nothing where nobody tells
  std::size_t link_bytes = 0;     ///< that the algorithm must move over links
};

/// Everything that is known about a point after it ran, or why it did not.
struct Record {
  Point point;
  Status status = Status::kSkipped;
  bool known_wrong = false;   ///< a documented defect: never ranked, no fault of this run
  std::string reason;         ///< why the status is not ok
  bool device_lacks = false;  ///< skipped for what this device lacks, which others may have
  std::optional<std::uint64_t> input_checksum;
  std::optional<Launches> launch;
  Traffic traffic;
  std::size_t workspace_bytes = 0;     ///< scratch memory of the device
  std::optional<unsigned> count_bits;  ///< of the counts that the library called was given
  std::optional<Verification> verification;
  std::map<Mode, Measurement> timing;  ///< only for verified or documented-wrong results
  std::string library;  ///< that the variant loads at run time, with its version; empty: none
  std::optional<Spread> spread;       ///< of variants that can be spread over devices
  std::optional<GrantedPages> pages;  ///< once written to; nothing where the variant has no choice
  std::vector<Counter> counters;      ///< of calls that are not timed; empty: none made
  std::optional<MachineCode> code;    ///< of the kernels; nothing: not asked for
  std::optional<Energy> energy;       ///< of many calls that are not timed; nothing: not asked for
  std::vector<emu::CountedPlace> counted;  ///< of the first call, where the emulator was to count

  /// A wrong result that nothing excuses.
  bool unexpected_wrong() const { return status == Status::kWrong && !known_wrong; }
  /// Only verified results have a time, and those documented as wrong.
  bool may_have_timing() const {
    return status == Status::kOk || (status == Status::kWrong && known_wrong);
  }
  /// Adds another round of the same point.
  void merge(const Record& round);
};

// Every member: what travels from the worker to the driver. Names are those of the results document,
// where it has them.
FIELDS(Scalar, type, bits);
FIELDS(Comparison, passed, error_abs, error_relative, error_ulp);
FIELDS(Verification, array, device, index, elements, mismatches, expected, actual, comparison,
       bound_abs, condition, passed_before, passed_after, deterministic, twin_passed_before,
       twin_passed_after);
FIELDS(Launches, kernels, grid, block, shared_bytes, registers);
FIELDS(Traffic, read_bytes, written_bytes, link_bytes);
FIELDS(Measurement, samples_ns, sm_clocks_mhz, round_trips_ns, discarded, throttled, stopped_by);
FIELDS(Spread, devices, processes, links, link_bytes);
FIELDS(GrantedPages, bytes, huge_bytes);
FIELDS(Counter, name, count, unavailable);
FIELDS(MachineCode, hash, kernels, unavailable);
FIELDS(Energy, joules_per_call, calls, window_ms, unavailable);
namespace emu {
FIELDS(CountedPlace, kernel, where, counts);
}
FIELDS(Record, point, status, known_wrong, reason, device_lacks, input_checksum, launch, traffic,
       workspace_bytes, count_bits, verification, timing, library, spread, pages, counters, code,
       energy, counted);

}  // namespace reduce_bench
