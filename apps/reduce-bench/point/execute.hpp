// From a point to its record: inputs, verification, timing.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.hpp"
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
};

/// What a point's arrays lie on, where its variant chooses.
struct GrantedPages {
  std::size_t bytes = 0;                  ///< of the arrays, each in whole huge pages
  std::optional<std::size_t> huge_bytes;  ///< of these; nothing where the kernel does not tell
};

/// Everything that is known about a point after it ran, or why it did not.
struct Record {
  Point point;
  Status status = Status::kSkipped;
  bool known_wrong = false;  ///< a documented defect: never ranked, no fault of this run
  std::string reason;        ///< why the status is not ok
  std::optional<std::uint64_t> input_checksum;
  std::optional<LaunchLog> launch;
  Traffic traffic;
  std::optional<Verification> verification;
  std::map<Mode, Measurement> timing;  ///< only for verified or documented-wrong results
  std::optional<GrantedPages> pages;   ///< once written to; nothing where the variant has no choice
  std::vector<Counter> counters;       ///< of one call after the timed ones; empty: none made

  /// A wrong result that nothing excuses.
  bool unexpected_wrong() const { return status == Status::kWrong && !known_wrong; }
  /// No verified result, no time, unless the result is documented as wrong.
  bool may_have_timing() const {
    return status == Status::kOk || (status == Status::kWrong && known_wrong);
  }
  /// Adds another round of the same point.
  void merge(const Record& round);
};

struct ExecuteOptions {
  bool timed = true;
  double budget_share = 1;  ///< of the measurement's time and sample limits
  std::size_t lead = 0;     ///< elements before the input, so that its address is misaligned
  bool check_determinism = true;
  std::optional<std::uint64_t> emu_seed;  ///< starts the emulator's schedule anew
};

/// A backend's device with the input uploaded last, which the next point often shares.
class Session {
 public:
  explicit Session(std::unique_ptr<Device> device);
  ~Session();

  Device& device() { return *device_; }

  /// Runs one point. Faults of the variant are recorded, not thrown.
  Record execute(const Point& point, const ExecuteOptions& options = {});
  /// Whether a point did harm that may outlast it (a poisoned context, damaged memory): the next
  /// one needs another session, in another process.
  bool lost() const { return lost_; }

 private:
  struct Input;
  struct Output;
  const Input& prepare_input(const Point& point, std::size_t lead, std::size_t overread);
  void run(Record& record, const Variant& variant, const Problem& problem,
           const ExecuteOptions& options);

  std::unique_ptr<Device> device_;
  std::unique_ptr<Input> input_;
  Memory downloaded_;  ///< outputs, on the host; kept, as new pages cost more than the copies
  bool lost_ = false;
};

}  // namespace reduce_bench
