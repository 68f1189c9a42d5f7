// From a point to its record: inputs, verification, timing.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/fields.hpp"
#include "common/inputs.hpp"
#include "devices/device.hpp"
#include "kernels/platform/emu_device.hpp"
#include "point/record.hpp"

namespace reduce_bench {

struct ExecuteOptions {
  bool timed = true;
  /// The GPU's counters and the machine code are read; in this process times are not to be trusted
  /// afterwards.
  bool profiled = false;
  bool weighed = false;     ///< its energy is measured, for a second or longer
  double budget_share = 1;  ///< of the measurement's time and sample limits
  Lead lead;                ///< off alignment
  bool check_determinism = true;
  std::optional<std::uint64_t> emu_seed;  ///< starts the emulator's schedule anew
  std::optional<unsigned> emu_sm_count;   ///< of the emulated device, instead of the usual
  /// Emulated with every access traced: a race makes the point fail, or everything is counted.
  std::optional<emu::Tracing> tracing;
};
FIELDS(ExecuteOptions, timed, profiled, weighed, budget_share, lead, check_determinism, emu_seed,
       emu_sm_count, tracing);

struct Input;
struct Setup;

/// What a session carries from one point to the next.
struct Carried {
  std::unique_ptr<Input> input;  ///< uploaded last: the next point often shares it
  Memory downloaded;  ///< outputs, on the host; kept, as new pages cost more than the copies
  bool lost = false;  ///< see `Session::lost`
};

/// A backend's device, and what is carried from point to point.
class Session {
 public:
  explicit Session(std::unique_ptr<Device> device);
  ~Session();

  Device& device() { return *device_; }

  /// Runs one point. Faults of the variant are recorded, not thrown.
  Record execute(const Point& point, const ExecuteOptions& options = {});
  /// Whether a point did harm that may outlast it (a poisoned context, damaged memory): the next
  /// one needs another session, in another process.
  bool lost() const { return carried_.lost; }

 private:
  void run(Record& record, const Variant& variant, const Problem& problem,
           const ExecuteOptions& options);
  Input& prepare_input(const Setup& setup);

  std::unique_ptr<Device> device_;
  Carried carried_;
};

}  // namespace reduce_bench
