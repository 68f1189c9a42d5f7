#include "point/input.hpp"

#include <memory>
#include <utility>

#include "common/pages.hpp"
#include "kernels/api/devices.hpp"
#include "point/setup.hpp"

namespace reduce_bench {

Memory allocate_on(Device& device, std::optional<PageSize> pages, std::size_t size_bytes) {
  if (!pages) return device.allocate(size_bytes);
  auto memory = std::make_shared<PagedMemory>(size_bytes, *pages);
  std::byte* const data = memory->data();
  return {data, size_bytes, [kept = std::move(memory)](void*) mutable { kept.reset(); }};
}

void InputArray::upload(const std::vector<Device*>& devices, std::optional<PageSize> pages,
                        HostArray array, Extent extent) {
  host = std::move(array);
  const std::size_t element_bytes = size_bytes(extent.type);
  std::byte* const whole_data = host.bytes.get() + host.data_offset_bytes;
  sum = checksum(whole_data, extent.count, element_bytes);
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
      part.on_device = allocate_on(*devices[rank], pages, bytes);
      devices[rank]->upload(part.on_device.data(), from, bytes);
      part.data = part.on_device.data() + host.data_offset_bytes;
    }
    from += part_bytes;
  }
}

bool InputArray::is_unharmed(const std::vector<Device*>& devices, Extent extent) const {
  for (std::size_t rank = 0; rank < parts.size(); ++rank)
    if (devices[rank]->checksum(parts[rank].data, parts[rank].count, size_bytes(extent.type)) !=
        parts[rank].sum)
      return false;
  return true;
}

void InputArray::release_copy() {
  if (!parts.empty() && parts.front().on_device.data() != nullptr) host.bytes.reset();
}

namespace {

std::optional<LabelKey> labels_key_of(const Point& point) {
  return has_labels(point.operation()) ? std::optional(point.label_key()) : std::nullopt;
}

}  // namespace

Input::Input(const Setup& setup, InputArray same_values)
    : operation(setup.point.operation()),
      values_key(setup.point.input_key()),
      labels_key(labels_key_of(setup.point)),
      lead(setup.options.lead),
      overread(setup.overread),
      inclusive(is_inclusive(setup.point.params)),
      any_wins(reduce_bench::any_wins(setup.point.params)),
      correctly_rounded(setup.point.entry->variant.correctly_rounded),
      pages(setup.pages),
      devices(setup.devices),
      arrays(setup.arrays),
      values(std::move(same_values)) {
  if (has_values(operation) && values.parts.empty())
    values.upload(devices, pages, generate(values_key, lead.values, overread), arrays.values);
  if (labels_key)
    labels.upload(devices, pages, generate(*labels_key, lead.labels, overread), arrays.labels);
  expected = expected_of(operation_input(setup.point, values.host.data(), labels.host.data()));
  if (!labels_key) values.release_copy();
  labels.release_copy();
}

bool Input::is_of(const Setup& setup) const {
  const Point& point = setup.point;
  return has_arrays_like(setup) && operation == point.operation() &&
         values_key == point.input_key() && labels_key == labels_key_of(point) &&
         inclusive == is_inclusive(point.params) &&
         any_wins == reduce_bench::any_wins(point.params) &&
         correctly_rounded == point.entry->variant.correctly_rounded;
}

bool Input::has_values_of(const Setup& setup) const {
  return has_arrays_like(setup) && values_key == setup.point.input_key() &&
         has_values(setup.point.operation()) && values.host.bytes;
}

bool Input::has_arrays_like(const Setup& setup) const {
  return lead == setup.options.lead && overread == setup.overread && devices == setup.devices &&
         pages == setup.pages;
}

void Input::make_twin(const Point& point) {
  Twin made;
  made.values.upload(devices, pages, generate_twin(values_key, lead.values, overread),
                     arrays.values);
  const bool labels_gone = labels_key && labels.host.bytes == nullptr;
  const HostArray again = labels_gone ? generate(*labels_key) : HostArray{};
  made.expected = expected_of_twin(operation_input(
      point, made.values.host.data(), labels_gone ? again.data() : labels.host.data()));
  made.values.release_copy();
  twin = std::move(made);
}

std::size_t Input::device_bytes(unsigned rank) const {
  return values.device_bytes(rank) + labels.device_bytes(rank) +
         (twin ? twin->values.device_bytes(rank) : 0);
}

std::size_t Input::host_bytes() const {
  return values.host_bytes() + labels.host_bytes() + expected.held_bytes() +
         (twin ? twin->values.host_bytes() + twin->expected.held_bytes() : 0);
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

}  // namespace reduce_bench
