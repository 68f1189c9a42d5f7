// One point on memory of its own: the calls that verify its variant, count what it does and time it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.hpp"
#include "kernels/api/variant.hpp"
#include "point/changing_inputs.hpp"
#include "point/execute.hpp"
#include "point/guarded.hpp"
#include "point/input.hpp"
#include "point/output.hpp"
#include "point/record.hpp"
#include "point/setup.hpp"

namespace reduce_bench {

class Trial {
 public:
  /// Allocates the outputs and the scratch memory. The inputs are those that `carried` has; `twin` is
  /// their twin where it is needed, else null.
  Trial(const Setup& setup, const Input::Twin* twin, std::uint64_t depth, Carried& carried,
        Record& record);
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// Verifies the variant, and does with it what the options ask for; the record tells of it.
  void run();

 private:
  // What the calls are made of.
  std::vector<GuardedMemory> allocate_scratch() const;
  std::vector<DeviceShare> share_arrays() const;
  void tell_other_processes();
  /// Lets the calls from here on read these values.
  void read_from(const InputArray& values);
  /// A call on outputs that hold nothing but poison. When this returns it has ended.
  void call_afresh();

  // The stages of a run.
  std::uint64_t check_first_call();  ///< returns a checksum of the results
  void check_second_call(std::uint64_t first_sum);
  bool passes_on_twin();
  void judge();
  void note_arrays();
  void count_and_weigh();
  void time();
  void check_memory();

  // The parts of a stage.
  void count();
  bool passes_timed(Mode mode);
  void measure_in(Mode mode);
  std::optional<ChangingInputs::Fault> measure_on_changing_inputs(Mode mode);
  std::optional<ChangingInputs::Fault> fault_of(const ChangingInputs& changing) const;
  void reject(const Verification& timed, const std::string& when, const std::string& more = {});
  std::string describe_mismatch() const;

  bool on_one_device() const { return setup_.devices.size() == 1; }

  const Setup& setup_;
  const Input& input_;
  const Input::Twin* const twin_;
  const std::uint64_t depth_;
  Carried& carried_;
  Record& record_;

  Output output_;
  std::vector<GuardedMemory> scratch_;  ///< of each device
  GuardedMemory host_scratch_;
  LaunchLog log_;
  std::vector<DeviceShare> shares_;
  Call call_;
  Work work_;

  bool repeats_ = true;       ///< the second call was as right as the first
  bool twin_failed_ = false;  ///< the check tells of the twin
};

}  // namespace reduce_bench
