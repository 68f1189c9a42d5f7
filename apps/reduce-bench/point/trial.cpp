#include "point/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "common/inputs.hpp"
#include "common/labels.hpp"
#include "common/pages.hpp"
#include "kernels/api/devices.hpp"
#include "kernels/platform/emu_device.hpp"
#include "point/measure.hpp"

namespace reduce_bench {
namespace {

GrantedPages granted_pages(const std::vector<const Memory*>& arrays) {
  GrantedPages granted;
  std::vector<std::span<const std::byte>> parts;
  for (const Memory* memory : arrays) {
    if (memory->data() == nullptr) continue;
    parts.emplace_back(memory->data(), memory->size_bytes());
    granted.bytes += whole_huge_pages(memory->size_bytes());
  }
  granted.huge_bytes = huge_page_bytes(parts);
  return granted;
}

/// The arrays of a call by name, for messages about races.
std::vector<emu::NamedArray> named_arrays(const Call& call, const Arrays& arrays,
                                          std::size_t workspace_bytes) {
  const bool any = any_wins(call.problem.params);
  std::vector<emu::NamedArray> named;
  const auto add = [&](std::string_view name, const void* data, Extent extent,
                       bool any_wins = false) {
    named.push_back({name, static_cast<const std::byte*>(data), extent.bytes(),
                     size_bytes(extent.type), any_wins});
  };
  const auto add_workspace = [&](const std::byte* workspace) {
    named.push_back({"workspace", workspace, workspace_bytes, 1, false});
  };
  if (call.shares.empty()) {
    add("values", call.values, arrays.values);
    add("labels", call.labels, arrays.labels);
    add("results", call.results, arrays.results, any);
    add("result labels", call.result_labels, arrays.result_labels);
    add("result count", call.result_count, arrays.result_count);
    add_workspace(call.workspace);
  }
  for (const DeviceShare& share : call.shares) {
    add("values", share.values, {arrays.values.type, share.values == nullptr ? 0 : share.n});
    add("labels", share.labels, {arrays.labels.type, share.labels == nullptr ? 0 : share.n});
    if (share.results != nullptr) add("results", share.results, arrays.results);
    add_workspace(share.workspace);
  }
  return named;
}

/// The array on the host, which may keep a copy of what the device has. Else `make` makes it anew, and
/// `made` holds it.
template <class Make>
std::byte* host_copy(const InputArray& array, HostArray& made, Make&& make) {
  if (array.data() == nullptr) return nullptr;
  if (array.host.bytes) return array.host.bytes.get() + array.host.data_offset_bytes;
  made = make();
  return made.bytes.get();
}

}  // namespace

// ---- arrays and calls -------------------------------------------------------------------------

Trial::Trial(const Setup& setup, const Input::Twin* twin, std::uint64_t depth, Carried& carried,
             Record& record)
    : setup_(setup),
      input_(*carried.input),
      twin_(twin),
      depth_(depth),
      carried_(carried),
      record_(record),
      output_(setup, input_.expected, carried.downloaded),
      scratch_(allocate_scratch()),
      host_scratch_(
          setup.device, [&](std::size_t bytes) { return setup.device.allocate_host(bytes); },
          setup.workspace.host_bytes),
      shares_(share_arrays()),
      // Where each device is of another process, the call has the share of this process alone.
      call_{.values = input_.values.data(),
            .labels = input_.labels.data(),
            .results = output_.data("results"),
            .result_labels = output_.data("labels"),
            .result_count = output_.data("count"),
            .workspace = scratch_.front().data(),
            .host_workspace = host_scratch_.data(),
            .stream = setup.device.stream(),
            .problem = setup.problem,
            .shares = std::span(shares_).first(setup.is_of_processes() ? 1 : shares_.size())},
      work_{.synchronous = setup.variant.synchronous,
            .devices = setup.devices,
            .ends_on_all = results_on_all(setup.problem.params)} {
  const Problem& problem = setup.problem;
  const Enqueue enqueue = setup.variant.enqueue[index_of(problem.type)][index_of(problem.op)];
  work_.enqueue = [this, enqueue] { enqueue(call_); };
  tell_other_processes();
}

std::vector<GuardedMemory> Trial::allocate_scratch() const {
  const Workspace& workspace = setup_.workspace;
  std::vector<GuardedMemory> scratch;
  for (Device* const device : setup_.devices) {
    scratch.emplace_back(
        *device, [&](std::size_t bytes) { return allocate_on(*device, setup_.pages, bytes); },
        workspace.device_bytes);
    device->fill(scratch.back().data(), 0xa5, workspace.device_bytes);
    device->fill(scratch.back().data(), 0, workspace.zeroed_bytes);
  }
  return scratch;
}

/// Empty where the variant cannot be spread over devices.
std::vector<DeviceShare> Trial::share_arrays() const {
  std::vector<DeviceShare> shares;
  if (!setup_.problem.params.has("devices")) return shares;
  const auto count = static_cast<unsigned>(setup_.devices.size());
  for (unsigned rank = 0; rank < count; ++rank)
    shares.push_back({.values = input_.values.data(rank),
                      .labels = input_.labels.data(rank),
                      .n = share_of(setup_.problem.n, count, rank),
                      .results = output_.data("results", rank),
                      .workspace = scratch_[rank].data(),
                      .stream = setup_.devices[rank]->stream()});
  return shares;
}

void Trial::tell_other_processes() {
  if (setup_.is_of_processes()) setup_.device.share(setup_.variant, setup_.problem, shares_);
}

void Trial::read_from(const InputArray& values) {
  call_.values = values.data();
  for (unsigned rank = 0; rank < shares_.size(); ++rank) shares_[rank].values = values.data(rank);
  tell_other_processes();
}

void Trial::call_afresh() {
  output_.fill_with_poison();
  if (setup_.options.tracing) {
    emu::settings().tracing = *setup_.options.tracing;
    emu::settings().arrays = named_arrays(call_, setup_.arrays, setup_.workspace.device_bytes);
    emu::counted().clear();
  }
  setup_.device.call(work_);
  for (Device* const device : setup_.devices) device->synchronize();
}

// ---- the stages -------------------------------------------------------------------------------

void Trial::run() {
  const ExecuteOptions& options = setup_.options;
  const std::uint64_t first_sum = check_first_call();
  if (options.check_determinism) check_second_call(first_sum);
  Verification& check = *record_.verification;
  if (twin_ != nullptr && check.passed_before) {
    const bool passed = passes_on_twin();
    check.twin_passed_before = check.passed_before = passed;
  }
  judge();
  note_arrays();
  work_.kernels = std::max(1u, log_.kernels);
  if (!record_.unexpected_wrong()) count_and_weigh();
  const bool timed = options.timed && !record_.unexpected_wrong();
  if (timed) time();
  check_memory();
  if (timed && record_.timing.empty() && record_.status == Status::kOk) {
    record_.status = Status::kSkipped;
    record_.reason = fmt::format("{} has none of the modes asked for on {}", setup_.variant.id,
                                 name_of(setup_.point.backend));
  }
}

std::uint64_t Trial::check_first_call() {
  Verification& check = record_.verification.emplace();
  check.condition = input_.expected.condition;
  Stream& logged = shares_.empty() ? call_.stream : shares_.front().stream;
  logged.log = &log_;
  call_afresh();
  logged.log = nullptr;
  record_.counted = std::move(emu::counted());
  if (setup_.variant.loaded_library != nullptr) record_.library = setup_.variant.loaded_library();
  if (log_.block > 0) record_.launch = log_;  // a plug-in tells its number of launches alone
  const std::uint64_t sum = output_.compare_to(input_.expected, check, depth_);
  check.passed_before = check.mismatches == 0;
  return sum;
}

/// A call that leaves its scratch memory in another state than it found fails here.
void Trial::check_second_call(std::uint64_t first_sum) {
  call_afresh();
  Verification& check = *record_.verification;
  Verification second = check;
  check.deterministic = output_.compare_to(input_.expected, second, depth_) == first_sum;
  if (!check.passed_before || second.mismatches == 0) return;
  repeats_ = false;
  second.deterministic = check.deterministic;
  second.passed_before = false;
  check = second;
}

/// If the sums of the twin are wrong the check tells of them, else it stays.
bool Trial::passes_on_twin() {
  read_from(twin_->values);
  call_afresh();
  read_from(input_.values);
  Verification of_twin = *record_.verification;
  output_.compare_to(twin_->expected, of_twin, depth_);
  twin_failed_ = of_twin.mismatches > 0;
  if (twin_failed_) *record_.verification = of_twin;
  return !twin_failed_;
}

/// Whether the point is right, and why not. A variant with a defect is wrong, whatever it gave.
void Trial::judge() {
  const bool passed = record_.verification->passed_before;
  record_.status = passed ? Status::kOk : Status::kWrong;
  if (!setup_.defect) {
    if (!passed) record_.reason = describe_mismatch();
    return;
  }
  const Defect& defect = *setup_.defect;
  const bool must_show =
      defect.certain && setup_.point.distribution.kind == Distribution::Kind::kUniform;
  record_.status = Status::kWrong;
  record_.known_wrong = !passed || !must_show;
  if (!passed) record_.reason = fmt::format("{} ({})", defect.reason, describe_mismatch());
  else if (must_show)
    record_.reason = fmt::format(
        "expected to be wrong as published ({}), but the result verified: correct the declaration",
        defect.reason);
  else record_.reason = fmt::format("{} (this run happened to be right)", defect.reason);
}

/// What the arrays lie on, and what devices they are spread over. The pages explain times; to look
/// them up takes longer than to verify a small point.
void Trial::note_arrays() {
  if (setup_.pages && setup_.options.timed) {
    std::vector<const Memory*> memories{&scratch_.front().whole()};
    for (const InputArray* array : {&input_.values, &input_.labels})
      for (const InputArray::Part& part : array->parts) memories.push_back(&part.on_device);
    for (const Output::Array& array : output_.arrays()) memories.push_back(&array.memory.whole());
    record_.pages = granted_pages(memories);
  }
  if (!shares_.empty()) {
    const auto devices = static_cast<unsigned>(setup_.devices.size());
    record_.spread = Spread{.devices = devices,
                            .processes = setup_.is_of_processes() ? devices : 1,
                            .links = devices > 1 ? setup_.device.link_count() : std::nullopt,
                            .link_bytes = record_.traffic.link_bytes};
  }
}

/// What counts or weighs looks at one GPU.
void Trial::count_and_weigh() {
  if (!on_one_device()) return;
  if (setup_.options.profiled) {
    record_.code = setup_.device.code(work_);
    count();
  }
  if (setup_.options.weighed) record_.energy = setup_.device.energy(work_);
}

/// Ends with the first mode in which an output was wrong, unless that is documented.
void Trial::time() {
  record_.verification->passed_after = true;
  for (const Mode mode : setup_.point.measurement.modes)
    if (setup_.device.has_mode(mode, work_) && !passes_timed(mode)) return;
  // Perf events disturb no later time, so a CPU's are counted without being asked for.
  if (!record_.timing.empty() && on_one_device() && setup_.point.backend == Backend::kCpu) count();
}

void Trial::check_memory() {
  const auto damaged = [&](std::string what) {
    record_.status = Status::kWrong;
    record_.known_wrong = false;
    record_.reason = std::move(what);
  };
  const bool unharmed = input_.is_unharmed();
  if (!unharmed) damaged("the input was modified");
  std::vector<std::pair<const GuardedMemory*, std::string>> guarded{
      {&host_scratch_, "host scratch memory"}};
  for (const GuardedMemory& memory : scratch_) guarded.emplace_back(&memory, "scratch memory");
  for (const Output::Array& array : output_.arrays()) guarded.emplace_back(&array.memory, "output");
  for (const auto& [memory, name] : guarded) {
    if (!memory->damaged()) continue;
    carried_.lost = true;
    damaged(fmt::format("wrote out of the bounds of its {}", name));
  }
  // The next point must not inherit the damage. No stage may follow: there is no input then.
  if (!unharmed) carried_.input.reset();
}

// ---- their parts ------------------------------------------------------------------------------

void Trial::count() {
  record_.counters = setup_.device.count(setup_.point.measurement.modes.front(), work_,
                                         [&] { output_.fill_with_poison(); });
}

/// Times in one mode, and checks what the calls left in the output. Returns whether the other modes
/// are of interest.
bool Trial::passes_timed(Mode mode) {
  Verification& check = *record_.verification;
  Verification timed = check;
  if (setup_.is_foreign()) {
    if (const auto fault = measure_on_changing_inputs(mode)) {
      tell_of(timed, fault->array, fault->found);
      reject(timed,
             fmt::format("but not in {} timing, where inputs change between calls", name_of(mode)),
             fault->came_late
                 ? "; work went on after the call was done, on another stream or thread"
                 : "");
      return false;
    }
    call_afresh();
  } else {
    output_.fill_with_poison();
    measure_in(mode);
  }
  output_.compare_to(input_.expected, timed, depth_);
  bool passed = timed.mismatches == 0;
  if (passed && twin_ != nullptr) {
    passed = passes_on_twin();
    check.twin_passed_after = check.twin_passed_after.value_or(true) && passed;
    timed = check;
  }
  check.passed_after = *check.passed_after && passed;
  if (passed || setup_.defect) return true;
  reject(timed, fmt::format("wrong after {} timing", name_of(mode)));
  return false;
}

void Trial::measure_in(Mode mode) {
  record_.timing.emplace(mode, measure(setup_.device, mode, work_, setup_.point.measurement,
                                       setup_.options.budget_share));
}

/// A plug-in is timed on inputs that change, and its outputs are checked on those.
std::optional<ChangingInputs::Fault> Trial::measure_on_changing_inputs(Mode mode) {
  std::byte* const values = (twin_ != nullptr ? twin_->values : input_.values).data();
  const Expected& before = twin_ != nullptr ? twin_->expected : input_.expected;
  call_.values = values;
  std::vector<ChangingInputs::Output> outputs;
  for (const Output::Array& array : output_.arrays())
    outputs.push_back({array.name, array.memory.data(), array.extent, array.expected});
  ChangingInputs changing(setup_.device, setup_.point, values, input_.labels.data(), before,
                          std::move(outputs), output_.poison());
  work_.guard = &changing;
  measure_in(mode);
  work_.guard = nullptr;
  changing.restore();
  call_.values = input_.values.data();
  return fault_of(changing);
}

std::optional<ChangingInputs::Fault> Trial::fault_of(const ChangingInputs& changing) const {
  const bool on_twin = twin_ != nullptr;
  HostArray made_values, made_labels;
  std::byte* const values = host_copy(on_twin ? twin_->values : input_.values, made_values, [&] {
    return on_twin ? generate_twin(input_.values_key) : generate(input_.values_key);
  });
  std::byte* const labels =
      host_copy(input_.labels, made_labels, [&] { return generate(*input_.labels_key); });
  return changing.check(values, labels, depth_, [&](const std::byte* v, const std::byte* l) {
    const OperationInput changed = operation_input(setup_.point, v, l);
    return on_twin ? expected_of_twin(changed) : expected_of(changed);
  });
}

/// What was right before the timing is wrong: `timed` is what the check says, and `when` it was so.
void Trial::reject(const Verification& timed, const std::string& when, const std::string& more) {
  *record_.verification = timed;
  record_.verification->passed_after = false;
  record_.status = Status::kWrong;
  record_.reason = fmt::format("right before timing, {}: {}{}", when, describe_mismatch(), more);
}

std::string Trial::describe_mismatch() const {
  const Verification& check = *record_.verification;
  const std::size_t choices =
      check.array == "results" ? input_.expected.results.choice_count(check.index) : 0;
  const std::string what =
      fmt::format("{}{}{}got {}, expected {}{} within {:.3g}",
                  twin_failed_ ? "of values whose sums no order rounds, " : "",
                  repeats_ ? "" : "right in a first call, but the second ",
                  check.device > 0 ? fmt::format("on device {} of the point, ", check.device) : "",
                  check.actual.to_text(), check.expected.to_text(),
                  choices > 1 ? fmt::format(" or the value of another of {} inputs", choices) : "",
                  check.bound_abs);
  if (setup_.problem.operation == Operation::kReduce) return what;
  return fmt::format("{}[{}]: {}; {} of {} elements are wrong", check.array, check.index, what,
                     check.mismatches, check.elements);
}

}  // namespace reduce_bench
