#include "point/execute.hpp"

#include <fmt/format.h>

#include <utility>

#include "common/pages.hpp"
#include "kernels/platform/emu_device.hpp"
#include "point/input.hpp"
#include "point/nvtx.hpp"
#include "point/setup.hpp"
#include "point/trial.hpp"

namespace reduce_bench {

Session::Session(std::unique_ptr<Device> device) : device_(std::move(device)) {}
Session::~Session() = default;

Record Session::execute(const Point& point, const ExecuteOptions& options) {
  const NvtxRange range(describe(point));
  if (options.profiled) device_->watch_code();
  Record record{.point = point};
  const Variant* variant = options.tracing ? point.entry->traced : point.entry->on(point.backend);
  if (variant == nullptr) {
    record.reason = fmt::format("{} needs the {} backend, which this build lacks",
                                point.entry->variant.id, name_of(point.backend));
    return record;
  }
  DeviceTraits traits = device_->traits();
  if (options.emu_sm_count) traits.sm_count = *options.emu_sm_count;
  const Problem problem = record.point.problem(traits);
  if (options.emu_seed) emu::reseed(*options.emu_seed);
  try {
    run(record, *variant, problem, options);
  } catch (const DeviceLacks& lacks) {
    record = {.point = point, .reason = lacks.what(), .device_lacks = true};
  } catch (const OutOfMemory& error) {
    record.status = Status::kFailed;
    record.reason = error.what();
  } catch (const std::bad_alloc&) {
    record.status = Status::kFailed;
    record.reason = fmt::format("asked for more host memory than there is ({} are available now)",
                                megabytes(available_memory_bytes()));
  } catch (const std::exception& error) {
    carried_.lost =
        !device_->survives_errors() || dynamic_cast<const DeviceLost*>(&error) != nullptr;
    // A variant with a documented defect may fault because of it.
    const auto defect = variant->defect != nullptr ? variant->defect(problem) : std::nullopt;
    record.status = Status::kFailed;
    record.known_wrong = defect.has_value();
    record.reason = defect ? fmt::format("{}: {}", defect->reason, error.what()) : error.what();
  }
  if (record.status == Status::kFailed)
    carried_.input.reset();  // work that ended half way may have written to it
  if (!record.may_have_timing()) record.timing.clear();
  return record;
}

void Session::run(Record& record, const Variant& variant, const Problem& problem,
                  const ExecuteOptions& options) {
  if (record.reason = unsupported(variant, problem, record.point); !record.reason.empty()) return;
  const Setup setup{record.point, variant, problem, options, *device_};
  if (record.reason = setup.missing_reach(); !record.reason.empty()) {
    record.device_lacks = true;
    return;
  }
  if (record.reason = setup.missing_memory(carried_); !record.reason.empty()) return;
  Input& input = prepare_input(setup);
  record.input_checksum = input.sum();
  record.traffic = setup.traffic(input.expected);
  record.workspace_bytes = setup.workspace.device_bytes;
  if (variant.count_bits != nullptr)
    if (const unsigned bits = variant.count_bits(problem); bits != 0) record.count_bits = bits;
  // Where the bounds say too little, the same launch must also give the sums of values that no order
  // rounds.
  const std::uint64_t depth = setup.depth();
  const bool needs_twin = input.expected.bounds_hide_faults(depth, problem.n);
  if (needs_twin && !input.twin) {
    record.reason = setup.missing_memory_of_twin(input.expected);
    if (!record.reason.empty()) return;
    input.make_twin(record.point);
  }
  Trial(setup, needs_twin ? &*input.twin : nullptr, depth, carried_, record).run();
}

Input& Session::prepare_input(const Setup& setup) {
  if (!carried_.input || !carried_.input->is_of(setup)) {
    InputArray same_values;
    if (carried_.input && carried_.input->has_values_of(setup))
      same_values = std::move(carried_.input->values);
    carried_.input.reset();  // frees the old one first: two large inputs may not fit
    carried_.input = std::make_unique<Input>(setup, std::move(same_values));
  }
  return *carried_.input;
}

}  // namespace reduce_bench
