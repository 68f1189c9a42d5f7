#include "point/setup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>

#include "common/inputs.hpp"
#include "common/labels.hpp"
#include "common/pages.hpp"
#include "point/changing_inputs.hpp"

namespace reduce_bench {
namespace {

/// Whether the devices may be of several processes. What connects them then is a library that is loaded
/// at run time; the other variants reach into each other's memory.
bool spans_processes(const Variant& variant) { return variant.loaded_library != nullptr; }

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

}  // namespace

std::string megabytes(std::size_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

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
    if (!spec.runs_on(point.backend, value))
      return fmt::format("{}={} calls a library that runs on cuda alone", spec.name, value);
  }
  if (has_values(problem.operation))
    if (std::string why = unsuited(point.input_key(), variant.correctly_rounded); !why.empty())
      return why;
  if (has_labels(problem.operation))
    if (std::string why = unsuited(point.label_key()); !why.empty()) return why;
  return variant.restriction != nullptr ? variant.restriction(problem) : std::string{};
}

Traffic Setup::traffic(const Expected& expected) const {
  return variant.traffic != nullptr ? variant.traffic(problem) : least_traffic(problem, expected);
}

std::uint64_t Setup::depth() const {
  return variant.depth != nullptr ? variant.depth(problem) : std::max<std::size_t>(problem.n, 1);
}

std::string Setup::missing_reach() const {
  if (!is_of_processes() || spans_processes(variant)) return {};
  return "reaches into the memory of other devices, which other processes have here";
}

/// Garbage before and after the inputs.
std::size_t Setup::around_bytes() const {
  return (overread + options.lead.values) * problem.element_bytes() +
         (overread + options.lead.labels) * sizeof(Label);
}

/// Host memory that making and verifying the input takes.
std::size_t Setup::host_bytes_needed() const {
  const std::size_t copied_bytes = pages ? arrays.input_bytes() : 0;  // onto pages of that size
  // Outputs that are checked after the timing, and the inputs where the host keeps no copy.
  const std::size_t checked_bytes =
      !is_foreign() ? 0
                    : (ChangingInputs::kMostKept + 1) * arrays.output_bytes() +
                          (point.backend == Backend::kCuda ? arrays.input_bytes() : 0);
  return arrays.input_bytes() + copied_bytes + checked_bytes +
         verification_bytes(problem.operation, arrays, problem.buckets, any_wins(problem.params),
                            variant.correctly_rounded);
}

std::string Setup::missing_memory(const Carried& carried) const {
  const Input* const last = carried.input.get();
  const std::size_t needed = largest_share(problem).input_bytes() + arrays.output_bytes() +
                             (is_foreign() ? ChangingInputs::device_bytes(arrays) : 0) +
                             workspace.device_bytes + around_bytes();
  std::size_t available = std::numeric_limits<std::size_t>::max();
  for (unsigned rank = 0; rank < devices.size(); ++rank)
    available = std::min(
        available, devices[rank]->free_bytes() + (last != nullptr ? last->device_bytes(rank) : 0));
  if (needed > available)
    return fmt::format("needs {} of memory, {} are available on {}", megabytes(needed),
                       megabytes(available), name_of(point.backend));

  const std::size_t host_needed = host_bytes_needed();
  const std::size_t host_available = available_memory_bytes() + carried.downloaded.size_bytes() +
                                     (last != nullptr ? last->host_bytes() : 0);
  if (host_needed > host_available)
    return fmt::format("needs {} of host memory to make and verify the input, {} are available",
                       megabytes(host_needed), megabytes(host_available));
  return {};
}

std::string Setup::missing_memory_of_twin(const Expected& expected) const {
  const std::size_t needed = largest_share(problem).arrays().values.bytes() + around_bytes() +
                             arrays.output_bytes() + workspace.device_bytes;
  const std::size_t host_needed =
      host_bytes_needed() + arrays.values.bytes() + around_bytes() + expected.held_bytes();
  std::size_t least_free = std::numeric_limits<std::size_t>::max();
  for (const Device* each : devices) least_free = std::min(least_free, each->free_bytes());
  for (const auto& [bytes, free_bytes, where] :
       {std::tuple(needed, least_free, name_of(point.backend)),
        std::tuple(host_needed, available_memory_bytes(), std::string_view("the host"))})
    if (bytes > free_bytes)
      return fmt::format(
          "needs {} of memory to be verified on a second input, too, {} are available on {}",
          megabytes(bytes), megabytes(free_bytes), where);
  return {};
}

}  // namespace reduce_bench
