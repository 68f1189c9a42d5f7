#include "harness/execute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/environment.hpp"
#include "harness/guarded.hpp"
#include "harness/inputs.hpp"
#include "harness/nvtx.hpp"
#include "kernels/platform/emu_device.hpp"

namespace reduce_bench {

struct Session::Input {
  InputKey key;
  std::size_t lead = 0, overread = 0;
  HostArray host;
  Memory on_device;  ///< empty where the backend reads host memory
  const std::byte* data = nullptr;
  std::uint64_t sum = 0;  ///< checksum
  Reference reference;
};

namespace {

std::string megabytes(std::size_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

/// Why the combination cannot run at all; empty where it can.
std::string unsupported(const Variant& variant, const Problem& problem, const Point& point) {
  if (!variant.supports(problem.type, problem.op))
    return fmt::format("{} does not provide {} on {}", variant.id, name_of(problem.op),
                       name_of(problem.type));
  for (const ParamSpec& spec : variant.params) {
    const std::string& value = problem.params.text(spec.name);
    if (std::find(spec.allowed.begin(), spec.allowed.end(), value) == spec.allowed.end())
      return fmt::format("{} does not provide {}={}: allowed are {}", variant.id, spec.name, value,
                         fmt::join(spec.allowed, ", "));
  }
  if (std::string why = unsuited(point.distribution, problem.op, problem.type); !why.empty())
    return why;
  return variant.restriction != nullptr ? variant.restriction(problem) : std::string{};
}

/// A pattern that the expected result is not.
unsigned char poison_for(const Scalar& expected) {
  const auto pattern = std::uint64_t{0xa5a5a5a5a5a5a5a5u} >> (64 - 8 * size_bytes(expected.type));
  return expected.bits == pattern ? 0x5a : 0xa5;
}

}  // namespace

void Record::merge(const Record& round) {
  for (const auto& [mode, measurement] : round.timing) timing[mode].merge(measurement);
  const bool excused = status == Status::kOk || (known_wrong && !round.known_wrong);
  if (excused && round.status != Status::kOk) {
    status = round.status;
    known_wrong = round.known_wrong;
    reason = round.reason;
    verification = round.verification;
  }
  if (!may_have_timing()) timing.clear();
}

Session::Session(std::unique_ptr<Device> device) : device_(std::move(device)) {}
Session::~Session() = default;

const Session::Input& Session::prepare_input(const Point& point, std::size_t lead,
                                             std::size_t overread) {
  const InputKey key = point.input_key();
  if (input_ && input_->key == key && input_->lead == lead && input_->overread == overread)
    return *input_;
  input_.reset();  // frees the old one first: two large inputs may not fit
  auto input = std::make_unique<Input>();
  input->key = key;
  input->lead = lead;
  input->overread = overread;
  input->host = generate(key, lead, overread);
  const std::size_t element_bytes = size_bytes(key.type);
  input->sum = checksum(input->host.data(), key.n, element_bytes);
  input->reference = reference(key.type, key.op, input->host.data(), key.n);
  if (device_->backend() == Backend::kCuda) {
    input->on_device = device_->allocate(input->host.size_bytes);
    device_->upload(input->on_device.data(), input->host.bytes.get(), input->host.size_bytes);
    input->data = input->on_device.data() + input->host.data_offset_bytes;
    input->host.bytes.reset();
  } else {
    input->data = input->host.data();
  }
  input_ = std::move(input);
  return *input_;
}

Record Session::execute(const Point& point, const ExecuteOptions& options) {
  const NvtxRange range(describe(point));
  Record record{.point = point};
  const Variant* variant = point.entry->on(point.backend);
  if (variant == nullptr) {
    record.reason = fmt::format("{} needs the {} backend, which this build lacks",
                                point.entry->variant.id, name_of(point.backend));
    return record;
  }
  const Problem problem{.n = point.n,
                        .type = point.type,
                        .op = point.op,
                        .params = record.point.params,
                        .device = device_->traits()};
  if (options.emu_seed) emu::reseed(*options.emu_seed);
  try {
    run(record, *variant, problem, options);
  } catch (const OutOfMemory& error) {
    record.status = Status::kFailed;
    record.reason = error.what();
  } catch (const std::bad_alloc&) {
    record.status = Status::kFailed;
    record.reason = fmt::format("asked for more host memory than there is ({} are available now)",
                                megabytes(available_memory_bytes()));
  } catch (const std::exception& error) {
    // A fault of a kernel may surface at any later CUDA call, whoever makes it.
    lost_ = point.backend == Backend::kCuda || dynamic_cast<const DeviceLost*>(&error) != nullptr;
    // A kernel that faults as its errata say has shown its defect.
    const auto defect = variant->defect != nullptr ? variant->defect(problem) : std::nullopt;
    record.status = Status::kFailed;
    record.known_wrong = defect.has_value();
    record.reason = defect ? fmt::format("{}: {}", defect->reason, error.what()) : error.what();
  }
  if (record.status == Status::kFailed) input_.reset();  // half-done work may have written to it
  if (!record.may_have_timing()) record.timing.clear();
  return record;
}

void Session::run(Record& record, const Variant& variant, const Problem& problem,
                  const ExecuteOptions& options) {
  const Point& point = record.point;
  if (record.reason = unsupported(variant, problem, point); !record.reason.empty()) return;
  const auto defect = variant.defect != nullptr ? variant.defect(problem) : std::nullopt;
  const Workspace workspace =
      variant.workspace != nullptr ? variant.workspace(problem) : Workspace{};
  const std::size_t overread = variant.overread != nullptr ? variant.overread(problem) : 0;
  record.traffic = variant.traffic != nullptr
                       ? variant.traffic(problem)
                       : Traffic{problem.input_bytes(), problem.element_bytes()};

  // The cached input is replaced, so its memory counts as free.
  const std::size_t needed = problem.input_bytes() + workspace.device_bytes +
                             (overread + options.lead + 1) * problem.element_bytes();
  const std::size_t available =
      device_->free_bytes() + (input_ ? input_->on_device.size_bytes() : 0);
  if (needed > available) {
    record.reason = fmt::format("needs {} of memory, {} are available on {}", megabytes(needed),
                                megabytes(available), name_of(point.backend));
    return;
  }

  const std::size_t host_needed = problem.input_bytes();
  const std::size_t host_available =
      available_memory_bytes() + (input_ && input_->host.bytes ? input_->host.size_bytes : 0);
  if (host_needed > host_available) {
    record.reason = fmt::format("needs {} of host memory to make the input, {} are available",
                                megabytes(host_needed), megabytes(host_available));
    return;
  }

  const Input& input = prepare_input(point, options.lead, overread);
  record.input_checksum = input.sum;
  const std::uint64_t depth =
      variant.depth != nullptr ? variant.depth(problem) : std::max<std::size_t>(problem.n, 1);
  const auto bound = error_bound(input.reference, depth);
  const double expected = std::fabs(input.reference.expected.as_double());
  if (!bound || (*bound > 0 && *bound >= expected)) {
    record.reason = fmt::format(
        "a sum through {} roundings of {} values cannot be verified: the derived error bound {} "
        "the result {}",
        depth, name_of(problem.type), bound ? fmt::format("{:.3g} exceeds", *bound) : "is beyond",
        input.reference.expected.to_text());
    return;
  }

  const bool on_host = variant.finish == Finish::kHost;
  const std::size_t element_bytes = problem.element_bytes();
  const GuardedMemory output(*device_, on_host ? &Device::allocate_host : &Device::allocate,
                             element_bytes);
  const GuardedMemory scratch(*device_, &Device::allocate, workspace.device_bytes);
  const GuardedMemory host_scratch(*device_, &Device::allocate_host, workspace.host_bytes);
  const unsigned char poison = poison_for(input.reference.expected);
  device_->fill(scratch.data(), 0xa5, workspace.device_bytes);
  device_->fill(scratch.data(), 0, workspace.zeroed_bytes);

  LaunchLog log;
  Call call{.input = input.data,
            .output = output.data(),
            .workspace = scratch.data(),
            .host_workspace = host_scratch.data(),
            .stream = device_->stream(),
            .problem = problem};
  const Enqueue enqueue = variant.enqueue[index_of(problem.type)][index_of(problem.op)];
  const auto read_output = [&] {
    std::uint64_t bits = 0;
    device_->download(&bits, output.data(), element_bytes);
    return Scalar::load(problem.type, &bits);
  };
  const auto poison_output = [&] { device_->fill(output.data(), poison, element_bytes); };
  const auto fresh_result = [&] {
    poison_output();
    enqueue(call);
    device_->synchronize();
    return read_output();
  };

  Verification& check = record.verification.emplace();
  check.expected = input.reference.expected;
  check.bound_abs = *bound;
  check.condition = input.reference.condition();
  call.stream.log = &log;
  check.actual = fresh_result();
  call.stream.log = nullptr;
  if (log.kernels > 0) record.launch = log;
  check.comparison = compare(input.reference, check.actual, *bound);
  check.passed_before = check.comparison.passed;
  bool repeats = true;
  if (options.check_determinism) {
    const Scalar again = fresh_result();
    check.deterministic = again.bits == check.actual.bits;
    // Scratch that a call leaves in another state than it found shows in the call after it.
    if (const Comparison second = compare(input.reference, again, *bound);
        check.passed_before && !second.passed) {
      repeats = false;
      check.actual = again;
      check.comparison = second;
      check.passed_before = false;
    }
  }

  const auto describe_mismatch = [&] {
    return fmt::format("{}got {}, expected {} within {:.3g}",
                       repeats ? "" : "right in a first call, but the second ",
                       check.actual.to_text(), check.expected.to_text(), *bound);
  };
  record.status = check.passed_before ? Status::kOk : Status::kWrong;
  if (defect) {
    record.status = Status::kWrong;
    const bool must_show =
        defect->certain && point.distribution.kind == Distribution::Kind::kUniform;
    record.known_wrong = !check.passed_before || !must_show;
    record.reason = !check.passed_before
                        ? fmt::format("{} ({})", defect->reason, describe_mismatch())
                    : must_show ? fmt::format(
                                      "expected to be wrong as published ({}), but the "
                                      "result verified: correct the declaration",
                                      defect->reason)
                                : fmt::format("{} (this run happened to be right)", defect->reason);
  } else if (!check.passed_before) {
    record.reason = describe_mismatch();
  }
  const auto check_memory = [&] {
    const auto damaged = [&](std::string what) {
      record.status = Status::kWrong;
      record.known_wrong = false;
      record.reason = std::move(what);
    };
    if (device_->checksum(input.data, problem.n, element_bytes) != input.sum) {
      input_.reset();  // the next point must not inherit the damage
      damaged("the input was modified");
    }
    for (const auto& [memory, name] : {std::pair{&output, "output"},
                                       {&scratch, "scratch memory"},
                                       {&host_scratch, "host scratch memory"}}) {
      if (!memory->damaged()) continue;
      lost_ = true;
      damaged(fmt::format("wrote out of the bounds of its {}", name));
    }
  };
  if (!options.timed || record.unexpected_wrong()) return check_memory();

  const Work work{.enqueue = [&] { enqueue(call); },
                  .synchronous = variant.synchronous,
                  .kernels = std::max(1u, log.kernels)};
  check.passed_after = true;
  for (const Mode mode : point.measurement.modes) {
    if (!device_->has_mode(mode, work)) continue;
    poison_output();
    record.timing.emplace(mode,
                          measure(*device_, mode, work, point.measurement, options.budget_share));
    // The output is what the timed calls left there.
    const Scalar timed = read_output();
    const bool passed = compare(input.reference, timed, *bound).passed;
    check.passed_after = *check.passed_after && passed;
    if (!passed && !defect) {
      check.actual = timed;
      check.comparison = compare(input.reference, timed, *bound);
      record.status = Status::kWrong;
      record.reason = fmt::format("right before timing, wrong after {} timing: {}", name_of(mode),
                                  describe_mismatch());
      return check_memory();
    }
  }
  check_memory();
  if (record.timing.empty() && record.status == Status::kOk) {
    record.status = Status::kSkipped;
    record.reason =
        fmt::format("{} has none of the modes asked for on {}", variant.id, name_of(point.backend));
  }
}

}  // namespace reduce_bench
