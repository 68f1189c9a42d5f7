#include "point/execute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "common/inputs.hpp"
#include "common/labels.hpp"
#include "common/pages.hpp"
#include "kernels/api/devices.hpp"
#include "kernels/api/pages.hpp"
#include "kernels/platform/emu_device.hpp"
#include "point/changing_inputs.hpp"
#include "point/guarded.hpp"
#include "point/nvtx.hpp"

namespace reduce_bench {
namespace {

/// Host memory on base or on huge pages.
Memory allocate_on(PageSize pages, std::size_t size_bytes) {
  auto memory = std::make_shared<PagedMemory>(size_bytes, pages);
  std::byte* const data = memory->data();
  return {data, size_bytes, [kept = std::move(memory)](void*) mutable { kept.reset(); }};
}

}  // namespace

/// One input array, where the variants read it. Only the harness writes to it.
struct InputArray {
  /// What one device has of it: all, or an equal share.
  struct Part {
    Memory on_device;  ///< empty where the backend reads the host's array as it is
    std::byte* data = nullptr;
    std::size_t count = 0;
    std::uint64_t sum = 0;  ///< checksum
  };
  HostArray host;
  std::vector<Part> parts;  ///< of the devices in their order; none where there is no such array
  std::uint64_t sum = 0;    ///< checksum of the whole

  void upload(const std::vector<Device*>& devices, std::optional<PageSize> pages, HostArray array,
              Extent extent) {
    host = std::move(array);
    const std::size_t element_bytes = size_bytes(extent.type);
    std::byte* const data = host.bytes.get() + host.data_offset_bytes;
    sum = checksum(data, extent.count, element_bytes);
    const bool whole = devices.size() == 1;
    const std::size_t around_bytes = host.size_bytes - extent.bytes();
    std::byte* from = host.bytes.get();  // a share begins with as much before it as the whole has
    for (unsigned rank = 0; rank < devices.size(); ++rank) {
      Part& part = parts.emplace_back();
      part.count = share_of(extent.count, static_cast<unsigned>(devices.size()), rank);
      const std::size_t part_bytes = part.count * element_bytes;
      part.data = from + host.data_offset_bytes;
      part.sum = whole ? sum : checksum(part.data, part.count, element_bytes);
      if (!whole || pages || !devices[rank]->shares_host_memory()) {
        const std::size_t bytes = part_bytes + around_bytes;
        part.on_device = pages ? allocate_on(*pages, bytes) : devices[rank]->allocate(bytes);
        devices[rank]->upload(part.on_device.data(), from, bytes);
        part.data = part.on_device.data() + host.data_offset_bytes;
      }
      from += part_bytes;
    }
  }
  /// Where the device of that rank has its part; null where there is no such array.
  std::byte* data(unsigned rank = 0) const { return parts.empty() ? nullptr : parts[rank].data; }
  std::size_t device_bytes(unsigned rank) const {
    return rank < parts.size() ? parts[rank].on_device.size_bytes() : 0;
  }
  bool is_unharmed(const std::vector<Device*>& devices, Extent extent) const {
    for (std::size_t rank = 0; rank < parts.size(); ++rank)
      if (devices[rank]->checksum(parts[rank].data, parts[rank].count, size_bytes(extent.type)) !=
          parts[rank].sum)
        return false;
    return true;
  }
  /// Once the reference is computed the host needs no copy of what the device has.
  void release_copy() {
    if (!parts.empty() && parts.front().on_device.data() != nullptr) host.bytes.reset();
  }
  std::size_t host_bytes() const { return host.bytes ? host.size_bytes : 0; }
};

struct Session::Input {
  Operation operation = Operation::kReduce;
  InputKey values_key;
  std::optional<LabelKey> labels_key;
  std::size_t lead = 0, overread = 0;
  bool inclusive = false, any_wins = false, correctly_rounded = false;
  std::optional<PageSize> pages;
  std::vector<Device*> devices;  ///< that have it
  Arrays arrays;
  InputArray values, labels;
  Expected expected;
  /// Values in the place of the others whose sums no order rounds, once a point needed them.
  struct Twin {
    InputArray values;
    Expected expected;
  };
  std::optional<Twin> twin;

  std::size_t device_bytes(unsigned rank) const {
    return values.device_bytes(rank) + labels.device_bytes(rank) +
           (twin ? twin->values.device_bytes(rank) : 0);
  }
  std::size_t host_bytes() const {
    return values.host_bytes() + labels.host_bytes() + expected.held_bytes() +
           (twin ? twin->values.host_bytes() + twin->expected.held_bytes() : 0);
  }
  std::uint64_t sum() const { return values.sum + labels.sum; }
  bool is_unharmed() const {
    return values.is_unharmed(devices, arrays.values) && labels.is_unharmed(devices, arrays.labels);
  }
};

/// The output arrays of one point, on every device that has results, and how they compare to what is
/// expected.
struct Session::Output {
  struct Array {
    const char* name;
    Extent extent;
    ExpectedArray Expected::* expected;
    unsigned rank;  ///< of the device that has it
    Device& device;
    GuardedMemory memory;
  };
  Memory& downloaded;
  std::vector<Array> arrays;  ///< the count first: a wrong one explains the rest
  unsigned char poison;

  /// `allocate` is told the rank of the device.
  Output(Session& session, const std::vector<Device*>& devices, const Arrays& of,
         const Expected& expected, unsigned char poison_byte,
         const std::function<Memory(unsigned, std::size_t)>& allocate)
      : downloaded(session.downloaded_), poison(poison_byte) {
    for (unsigned rank = 0; rank < devices.size(); ++rank) {
      const Allocate here = [&](std::size_t bytes) { return allocate(rank, bytes); };
      const auto add = [&](const char* name, Extent extent, ExpectedArray Expected::* wanted) {
        arrays.push_back({name, extent, wanted, rank, *devices[rank],
                          GuardedMemory(*devices[rank], here, extent.bytes())});
      };
      if (of.result_count.count > 0) add("count", of.result_count, &Expected::result_count);
      if (of.result_labels.count > 0) add("labels", of.result_labels, &Expected::result_labels);
      add("results", of.results, &Expected::results);
    }
    std::size_t largest_bytes = 0;
    for (const Array& array : arrays)
      largest_bytes = std::max(largest_bytes, (expected.*array.expected).extent.bytes());
    if (downloaded.size_bytes() >= largest_bytes) return;
    downloaded = {};  // frees the old one first
    downloaded = devices.front()->allocate_host(largest_bytes);
  }

  /// Null where the device has none.
  void* data(std::string_view name, unsigned rank = 0) const {
    for (const Array& array : arrays)
      if (array.name == name && array.rank == rank) return array.memory.data();
    return nullptr;
  }
  void fill_with_poison() {
    for (const Array& array : arrays)
      array.device.fill(array.memory.data(), poison, array.extent.bytes());
  }
  /// Fills in what the check says of the outputs; returns a checksum of all results.
  std::uint64_t compare_to(const Expected& expected, Verification& check,
                           std::uint64_t depth) const {
    std::uint64_t sum = 0;
    bool failed = false;
    std::size_t elements = 0;
    for (const Array& array : arrays) {
      const ExpectedArray& wanted = expected.*array.expected;
      const Extent extent = wanted.extent;
      const std::byte* const actual = downloaded.data();
      array.device.download(downloaded.data(), array.memory.data(), extent.bytes());
      sum += checksum(actual, extent.count, size_bytes(extent.type));
      elements += extent.count;
      if (failed) continue;
      const ArrayComparison found = compare(wanted, actual, depth);
      failed = found.mismatches > 0;
      check.array = array.name;
      check.device = array.rank;
      check.index = found.index;
      check.mismatches = found.mismatches;
      check.expected = found.expected;
      check.actual = found.actual;
      check.comparison = found.comparison;
      check.bound_abs = found.bound_abs;
    }
    check.elements = elements;
    return sum;
  }
};

namespace {

std::string megabytes(std::size_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

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

/// Whether the devices may be of several processes. What connects them then is a library that is loaded
/// at run time; the other variants reach into each other's memory.
bool spans_processes(const Variant& variant) { return variant.loaded_library != nullptr; }

/// Why the combination cannot run at all; empty where it can.
std::string unsupported(const Variant& variant, const Problem& problem, const Point& point) {
  if (!variant.supports(problem.type, problem.op))
    return fmt::format(
        "{} does not provide {} on {}", variant.id,
        has_operator(problem.operation) ? name_of(problem.op) : name_of(problem.operation),
        name_of(problem.type));
  for (const ParamSpec& spec : variant.params) {
    const std::string& value = problem.params.text(spec.name);
    if (std::find(spec.allowed.begin(), spec.allowed.end(), value) == spec.allowed.end())
      return fmt::format("{} does not provide {}={}: allowed are {}", variant.id, spec.name, value,
                         fmt::join(spec.allowed, ", "));
  }
  if (has_values(problem.operation))
    if (std::string why = unsuited(point.input_key(), variant.correctly_rounded); !why.empty())
      return why;
  if (has_labels(problem.operation))
    if (std::string why = unsuited(point.label_key()); !why.empty()) return why;
  return variant.restriction != nullptr ? variant.restriction(problem) : std::string{};
}

/// The byte with which outputs are filled before a call, so that a result that is not written fails
/// the check. A single result must differ from the pattern. Operations with many results share one
/// pattern, which also stands in the elements that a scatter must leave alone.
unsigned char poison_for(Operation operation, const ExpectedArray& results) {
  if (operation != Operation::kReduce) return kUntouched;
  const auto pattern =
      std::uint64_t{0xa5a5a5a5a5a5a5a5u} >> (64 - 8 * size_bytes(results.extent.type));
  return results.at(0).bits == pattern ? 0x5a : kUntouched;
}

OperationInput operation_input(const Point& point, const std::byte* values,
                               const std::byte* labels) {
  return {.operation = point.operation(),
          .type = point.type,
          .op = point.op,
          .n = point.n,
          .buckets = point.buckets,
          .inclusive = is_inclusive(point.params),
          .any_wins = any_wins(point.params),
          .correctly_rounded = point.entry->variant.correctly_rounded,
          .values = values,
          .labels = labels};
}

/// What any algorithm must move: inputs read once, results written once. A gather reads, and a
/// scatter writes, at most n of the m elements.
Traffic least_traffic(const Problem& problem, const Expected& expected) {
  Traffic traffic{problem.input_bytes(), expected.bytes()};
  const std::size_t spared = problem.buckets - std::min(problem.n, problem.buckets);
  if (problem.operation == Operation::kGather)
    traffic.read_bytes -= spared * problem.element_bytes();
  if (problem.operation == Operation::kScatter)
    traffic.written_bytes -= spared * problem.element_bytes();
  return traffic;
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

}  // namespace

Session::Session(std::unique_ptr<Device> device) : device_(std::move(device)) {}
Session::~Session() = default;

const Session::Input& Session::prepare_input(const Point& point,
                                             const std::vector<Device*>& devices, std::size_t lead,
                                             std::size_t overread) {
  const Arrays arrays = point.arrays();
  const InputKey values_key = point.input_key();
  const auto labels_key =
      has_labels(point.operation()) ? std::optional(point.label_key()) : std::nullopt;
  if (input_ && input_->operation == point.operation() && input_->values_key == values_key &&
      input_->labels_key == labels_key && input_->lead == lead && input_->overread == overread &&
      input_->devices == devices && input_->inclusive == is_inclusive(point.params) &&
      input_->any_wins == any_wins(point.params) &&
      input_->correctly_rounded == point.entry->variant.correctly_rounded &&
      input_->pages == pages_of(point.params))
    return *input_;
  input_.reset();  // frees the old one first: two large inputs may not fit
  auto input = std::make_unique<Input>();
  input->operation = point.operation();
  input->values_key = values_key;
  input->labels_key = labels_key;
  input->lead = lead;
  input->overread = overread;
  input->inclusive = is_inclusive(point.params);
  input->any_wins = any_wins(point.params);
  input->correctly_rounded = point.entry->variant.correctly_rounded;
  input->pages = pages_of(point.params);
  input->devices = devices;
  input->arrays = arrays;
  if (has_values(point.operation()))
    input->values.upload(devices, input->pages, generate(values_key, lead, overread),
                         arrays.values);
  if (labels_key)
    input->labels.upload(devices, input->pages, generate(*labels_key, lead, overread),
                         arrays.labels);
  input->expected =
      expected_of(operation_input(point, input->values.host.data(), input->labels.host.data()));
  input->values.release_copy();
  input->labels.release_copy();
  input_ = std::move(input);
  return *input_;
}

void Session::make_twin(const Point& point, std::size_t lead, std::size_t overread) {
  Input& input = *input_;
  Input::Twin twin;
  twin.values.upload(input.devices, input.pages, generate_twin(input.values_key, lead, overread),
                     input.arrays.values);
  const bool labels_gone = input.labels_key && input.labels.host.bytes == nullptr;
  const HostArray labels = labels_gone ? generate(*input.labels_key) : HostArray{};
  twin.expected = expected_of_twin(operation_input(
      point, twin.values.host.data(), labels_gone ? labels.data() : input.labels.host.data()));
  twin.values.release_copy();
  input.twin = std::move(twin);
}

Record Session::execute(const Point& point, const ExecuteOptions& options) {
  const NvtxRange range(describe(point));
  if (options.counted) device_->watch_code();
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
    lost_ = !device_->survives_errors() || dynamic_cast<const DeviceLost*>(&error) != nullptr;
    // A variant with a documented defect may fault because of it.
    const auto defect = variant->defect != nullptr ? variant->defect(problem) : std::nullopt;
    record.status = Status::kFailed;
    record.known_wrong = defect.has_value();
    record.reason = defect ? fmt::format("{}: {}", defect->reason, error.what()) : error.what();
  }
  if (record.status == Status::kFailed)
    input_.reset();  // work that ended half way may have written to it
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
  const Arrays arrays = problem.arrays();
  const std::vector<Device*> devices = device_->gather(devices_of(problem));
  if (devices.size() > 1 && device_->gathers_processes() && !spans_processes(variant)) {
    record.reason = "reaches into the memory of other devices, which other processes have here";
    record.device_lacks = true;
    return;
  }

  // The input kept from the last point is freed first, so its memory counts as available.
  const std::size_t around_bytes =
      (overread + options.lead) * (problem.element_bytes() + sizeof(Label));
  const bool foreign = point.entry->plugin != nullptr;
  const std::size_t needed = largest_share(problem).input_bytes() + arrays.output_bytes() +
                             (foreign ? ChangingInputs::device_bytes(arrays) : 0) +
                             workspace.device_bytes + around_bytes;
  std::size_t available = std::numeric_limits<std::size_t>::max();
  for (unsigned rank = 0; rank < devices.size(); ++rank)
    available = std::min(available,
                         devices[rank]->free_bytes() + (input_ ? input_->device_bytes(rank) : 0));
  if (needed > available) {
    record.reason = fmt::format("needs {} of memory, {} are available on {}", megabytes(needed),
                                megabytes(available), name_of(point.backend));
    return;
  }

  const std::optional<PageSize> pages = pages_of(point.params);
  const std::size_t copied_bytes = pages ? arrays.input_bytes() : 0;  // onto pages of that size
  // Outputs that are checked after the timing, and the inputs where the host keeps no copy.
  const std::size_t checked_bytes =
      !foreign ? 0
               : (ChangingInputs::kMostKept + 1) * arrays.output_bytes() +
                     (point.backend == Backend::kCuda ? arrays.input_bytes() : 0);
  const std::size_t host_needed =
      arrays.input_bytes() + copied_bytes + checked_bytes +
      verification_bytes(problem.operation, arrays, problem.buckets, any_wins(problem.params),
                         variant.correctly_rounded);
  const std::size_t host_available =
      available_memory_bytes() + downloaded_.size_bytes() + (input_ ? input_->host_bytes() : 0);
  if (host_needed > host_available) {
    record.reason =
        fmt::format("needs {} of host memory to make and verify the input, {} are available",
                    megabytes(host_needed), megabytes(host_available));
    return;
  }

  const Input& input = prepare_input(point, devices, options.lead, overread);
  record.input_checksum = input.sum();
  record.traffic = variant.traffic != nullptr ? variant.traffic(problem)
                                              : least_traffic(problem, input.expected);
  record.workspace_bytes = workspace.device_bytes;
  if (variant.count_bits != nullptr) record.count_bits = variant.count_bits(problem);
  const std::uint64_t depth =
      variant.depth != nullptr ? variant.depth(problem) : std::max<std::size_t>(problem.n, 1);
  // Where the bounds say too little, the same launch must also give the sums of values that no order
  // rounds.
  const bool has_twin = input.expected.bounds_hide_faults(depth, problem.n);
  if (has_twin && !input.twin) {
    const std::size_t share_bytes = largest_share(problem).arrays().values.bytes() + around_bytes;
    const std::size_t twin_needed = share_bytes + arrays.output_bytes() + workspace.device_bytes;
    const std::size_t twin_host_needed =
        host_needed + arrays.values.bytes() + around_bytes + input.expected.held_bytes();
    std::size_t least_free = std::numeric_limits<std::size_t>::max();
    for (const Device* device : devices) least_free = std::min(least_free, device->free_bytes());
    for (const auto& [bytes, free_bytes, where] :
         {std::tuple(twin_needed, least_free, name_of(point.backend)),
          std::tuple(twin_host_needed, available_memory_bytes(), std::string_view("the host"))})
      if (bytes > free_bytes) {
        record.reason = fmt::format(
            "needs {} of memory to be verified on a second input, too, {} are available on {}",
            megabytes(bytes), megabytes(free_bytes), where);
        return;
      }
    make_twin(point, options.lead, overread);
  }

  const auto on_device = [&](unsigned rank, std::size_t bytes) {
    return pages ? allocate_on(*pages, bytes) : devices[rank]->allocate(bytes);
  };
  const Allocate on_host = [&](std::size_t bytes) { return device_->allocate_host(bytes); };
  Output output(*this, results_on_all(problem.params) ? devices : std::vector{devices.front()},
                arrays, input.expected, poison_for(problem.operation, input.expected.results),
                [&](unsigned rank, std::size_t bytes) {
                  return variant.finish == Finish::kHost ? on_host(bytes) : on_device(rank, bytes);
                });
  std::vector<GuardedMemory> scratch;  // of each device
  for (unsigned rank = 0; rank < devices.size(); ++rank) {
    Device& device = *devices[rank];
    scratch.emplace_back(
        device, [&](std::size_t bytes) { return on_device(rank, bytes); }, workspace.device_bytes);
    device.fill(scratch.back().data(), 0xa5, workspace.device_bytes);
    device.fill(scratch.back().data(), 0, workspace.zeroed_bytes);
  }
  const GuardedMemory host_scratch(*device_, on_host, workspace.host_bytes);

  LaunchLog log;
  std::vector<DeviceShare> shares;
  const auto share_values = [&](const InputArray& values) {
    for (unsigned rank = 0; rank < shares.size(); ++rank) shares[rank].values = values.data(rank);
  };
  if (problem.params.has("devices"))
    for (unsigned rank = 0; rank < devices.size(); ++rank)
      shares.push_back({.values = input.values.data(rank),
                        .labels = input.labels.data(rank),
                        .n = share_of(problem.n, static_cast<unsigned>(devices.size()), rank),
                        .results = output.data("results", rank),
                        .workspace = scratch[rank].data(),
                        .stream = devices[rank]->stream()});
  // In a process of its own each device has a call of its own.
  const bool of_processes = devices.size() > 1 && device_->gathers_processes();
  const auto tell_others = [&] {
    if (of_processes) device_->share(variant, problem, shares);
  };
  tell_others();
  Call call{.values = input.values.data(),
            .labels = input.labels.data(),
            .results = output.data("results"),
            .result_labels = output.data("labels"),
            .result_count = output.data("count"),
            .workspace = scratch.front().data(),
            .host_workspace = host_scratch.data(),
            .stream = device_->stream(),
            .problem = problem,
            .shares = std::span(shares).first(of_processes ? 1 : shares.size())};
  const Enqueue enqueue = variant.enqueue[index_of(problem.type)][index_of(problem.op)];
  Work work{.enqueue = [&] { enqueue(call); },
            .synchronous = variant.synchronous,
            .devices = devices,
            .ends_on_all = results_on_all(problem.params)};
  const auto call_afresh = [&] {
    output.fill_with_poison();
    if (options.tracing) {
      emu::settings().tracing = *options.tracing;
      emu::settings().arrays = named_arrays(call, arrays, workspace.device_bytes);
      emu::counted().clear();
    }
    device_->call(work);
    for (Device* const device : devices) device->synchronize();
  };

  Verification& check = record.verification.emplace();
  check.condition = input.expected.condition;
  Stream& logged = shares.empty() ? call.stream : shares.front().stream;
  logged.log = &log;
  call_afresh();
  logged.log = nullptr;
  record.counted = std::move(emu::counted());
  if (variant.loaded_library != nullptr) record.library = variant.loaded_library();
  if (log.block > 0) record.launch = log;  // a plug-in tells its number of launches alone
  const std::uint64_t first_sum = output.compare_to(input.expected, check, depth);
  check.passed_before = check.mismatches == 0;
  bool repeats = true;
  if (options.check_determinism) {
    call_afresh();
    // A call that leaves its scratch memory in another state than it found fails here.
    Verification second = check;
    check.deterministic = output.compare_to(input.expected, second, depth) == first_sum;
    if (check.passed_before && second.mismatches > 0) {
      repeats = false;
      second.deterministic = check.deterministic;
      second.passed_before = false;
      check = second;
    }
  }

  // Calls on the twin; if its sums are wrong the check tells of them, else it stays.
  bool twin_failed = false;
  const auto passes_on_twin = [&] {
    call.values = input.twin->values.data();
    share_values(input.twin->values);
    tell_others();
    call_afresh();
    call.values = input.values.data();
    share_values(input.values);
    tell_others();
    Verification of_twin = check;
    output.compare_to(input.twin->expected, of_twin, depth);
    twin_failed = of_twin.mismatches > 0;
    if (twin_failed) check = of_twin;
    return !twin_failed;
  };
  if (has_twin && check.passed_before) {
    const bool passed = passes_on_twin();
    check.twin_passed_before = check.passed_before = passed;
  }

  const auto describe_mismatch = [&] {
    const std::size_t choices =
        check.array == "results" ? input.expected.results.choice_count(check.index) : 0;
    const std::string what = fmt::format(
        "{}{}{}got {}, expected {}{} within {:.3g}",
        twin_failed ? "of values whose sums no order rounds, " : "",
        repeats ? "" : "right in a first call, but the second ",
        check.device > 0 ? fmt::format("on device {} of the point, ", check.device) : "",
        check.actual.to_text(), check.expected.to_text(),
        choices > 1 ? fmt::format(" or the value of another of {} inputs", choices) : "",
        check.bound_abs);
    if (problem.operation == Operation::kReduce) return what;
    return fmt::format("{}[{}]: {}; {} of {} elements are wrong", check.array, check.index, what,
                       check.mismatches, check.elements);
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
    if (!input.is_unharmed()) {
      input_.reset();  // the next point must not inherit the damage
      damaged("the input was modified");
    }
    std::vector<std::pair<const GuardedMemory*, std::string>> guarded{
        {&host_scratch, "host scratch memory"}};
    for (const GuardedMemory& memory : scratch) guarded.emplace_back(&memory, "scratch memory");
    for (const Output::Array& array : output.arrays) guarded.emplace_back(&array.memory, "output");
    for (const auto& [memory, name] : guarded) {
      if (!memory->damaged()) continue;
      lost_ = true;
      damaged(fmt::format("wrote out of the bounds of its {}", name));
    }
  };
  if (pages) {
    std::vector<const Memory*> memories{&scratch.front().whole()};
    for (const InputArray* array : {&input.values, &input.labels})
      for (const InputArray::Part& part : array->parts) memories.push_back(&part.on_device);
    for (const Output::Array& array : output.arrays) memories.push_back(&array.memory.whole());
    record.pages = granted_pages(memories);
  }
  work.kernels = std::max(1u, log.kernels);
  if (!shares.empty())
    record.spread = Spread{.devices = static_cast<unsigned>(devices.size()),
                           .processes = of_processes ? static_cast<unsigned>(devices.size()) : 1,
                           .links = devices.size() > 1 ? device_->link_count() : std::nullopt,
                           .link_bytes = record.traffic.link_bytes};
  const auto count = [&] {
    record.counters =
        device_->count(point.measurement.modes.front(), work, [&] { output.fill_with_poison(); });
  };
  // What counts or weighs looks at one GPU.
  const bool on_one = devices.size() == 1;
  if (options.counted && on_one && !record.unexpected_wrong()) {
    record.code = device_->code(work);
    count();
  }
  if (options.weighed && on_one && !record.unexpected_wrong())
    record.energy = device_->energy(work);
  if (!options.timed || record.unexpected_wrong()) return check_memory();

  // A plug-in is timed on inputs that change, and its outputs are checked on those. Fills in how they
  // are wrong; returns whether one is, and what more is known of it.
  const auto fault_on_changing_inputs = [&](Mode mode,
                                            Verification& timed) -> std::optional<std::string> {
    const InputArray& timed_values = has_twin ? input.twin->values : input.values;
    const Expected& before = has_twin ? input.twin->expected : input.expected;
    call.values = timed_values.data();
    std::vector<ChangingInputs::Output> outputs;
    for (const Output::Array& array : output.arrays)
      outputs.push_back({array.name, array.memory.data(), array.extent, array.expected});
    ChangingInputs changing(*device_, point, timed_values.data(), input.labels.data(), before,
                            std::move(outputs), output.poison);
    work.guard = &changing;
    record.timing.emplace(mode,
                          measure(*device_, mode, work, point.measurement, options.budget_share));
    work.guard = nullptr;
    changing.restore();
    call.values = input.values.data();
    // What the host has no copy of is made anew.
    HostArray made_values, made_labels;
    const auto host_copy = [](const InputArray& array, HostArray& made, auto&& make) {
      if (array.data() == nullptr || array.host.bytes) return array.data();
      made = make();
      return made.bytes.get();
    };
    std::byte* const values = host_copy(timed_values, made_values, [&] {
      return has_twin ? generate_twin(input.values_key) : generate(input.values_key);
    });
    std::byte* const labels =
        host_copy(input.labels, made_labels, [&] { return generate(*input.labels_key); });
    const auto fault =
        changing.check(values, labels, depth, [&](const std::byte* v, const std::byte* l) {
          const OperationInput changed = operation_input(point, v, l);
          return has_twin ? expected_of_twin(changed) : expected_of(changed);
        });
    if (!fault) return std::nullopt;
    timed.array = fault->array;
    timed.index = fault->found.index;
    timed.mismatches = fault->found.mismatches;
    timed.expected = fault->found.expected;
    timed.actual = fault->found.actual;
    timed.comparison = fault->found.comparison;
    timed.bound_abs = fault->found.bound_abs;
    return fault->came_late ? "; work went on after the call was done, on another stream or thread"
                            : "";
  };
  check.passed_after = true;
  for (const Mode mode : point.measurement.modes) {
    if (!device_->has_mode(mode, work)) continue;
    Verification timed = check;
    if (foreign) {
      if (const auto more = fault_on_changing_inputs(mode, timed)) {
        check = timed;
        check.passed_after = false;
        record.status = Status::kWrong;
        record.reason = fmt::format(
            "right before timing, but not in {} timing, where inputs change between calls: {}{}",
            name_of(mode), describe_mismatch(), *more);
        return check_memory();
      }
      call_afresh();
    } else {
      output.fill_with_poison();
      record.timing.emplace(mode,
                            measure(*device_, mode, work, point.measurement, options.budget_share));
    }
    // Checks what the timed calls left in the output.
    output.compare_to(input.expected, timed, depth);
    bool passed = timed.mismatches == 0;
    if (passed && has_twin) {
      passed = passes_on_twin();
      check.twin_passed_after = check.twin_passed_after.value_or(true) && passed;
      timed = check;
    }
    check.passed_after = *check.passed_after && passed;
    if (!passed && !defect) {
      timed.passed_after = false;
      check = timed;
      record.status = Status::kWrong;
      record.reason = fmt::format("right before timing, wrong after {} timing: {}", name_of(mode),
                                  describe_mismatch());
      return check_memory();
    }
  }
  // Perf events disturb no later time, so a CPU's are counted without being asked for.
  if (!record.timing.empty() && on_one && point.backend == Backend::kCpu) count();
  check_memory();
  if (record.timing.empty() && record.status == Status::kOk) {
    record.status = Status::kSkipped;
    record.reason =
        fmt::format("{} has none of the modes asked for on {}", variant.id, name_of(point.backend));
  }
}

}  // namespace reduce_bench
