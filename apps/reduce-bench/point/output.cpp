#include "point/output.hpp"

#include <algorithm>

#include "common/inputs.hpp"
#include "kernels/api/devices.hpp"
#include "point/input.hpp"
#include "point/setup.hpp"

namespace reduce_bench {
namespace {

/// A single result must differ from the pattern. Operations with many results share one pattern, which
/// also stands in the elements that a scatter must leave alone.
unsigned char poison_for(Operation operation, const ExpectedArray& results) {
  if (operation != Operation::kReduce) return kUntouched;
  const auto pattern =
      std::uint64_t{0xa5a5a5a5a5a5a5a5u} >> (64 - 8 * size_bytes(results.extent.type));
  return results.at(0).bits == pattern ? 0x5a : kUntouched;
}

}  // namespace

void tell_of(Verification& check, const char* array, const ArrayComparison& found) {
  check.array = array;
  check.index = found.index;
  check.mismatches = found.mismatches;
  check.expected = found.expected;
  check.actual = found.actual;
  check.comparison = found.comparison;
  check.bound_abs = found.bound_abs;
}

Output::Output(const Setup& setup, const Expected& expected, Memory& downloaded)
    : poison_(poison_for(setup.problem.operation, expected.results)), downloaded_(downloaded) {
  const std::size_t device_count = results_on_all(setup.problem.params) ? setup.devices.size() : 1;
  for (unsigned rank = 0; rank < device_count; ++rank) {
    Device& device = *setup.devices[rank];
    const Allocate allocate = [&](std::size_t bytes) {
      return setup.variant.finish == Finish::kHost ? setup.device.allocate_host(bytes)
                                                   : allocate_on(device, setup.pages, bytes);
    };
    const auto add = [&](const char* name, Extent extent, ExpectedArray Expected::* wanted) {
      arrays_.push_back(
          {name, extent, wanted, rank, device, GuardedMemory(device, allocate, extent.bytes())});
    };
    const Arrays& of = setup.arrays;
    if (of.result_count.count > 0) add("count", of.result_count, &Expected::result_count);
    if (of.result_labels.count > 0) add("labels", of.result_labels, &Expected::result_labels);
    add("results", of.results, &Expected::results);
  }
  std::size_t largest_bytes = 0;
  for (const Array& array : arrays_)
    largest_bytes = std::max(largest_bytes, (expected.*array.expected).extent.bytes());
  if (downloaded_.size_bytes() >= largest_bytes) return;
  downloaded_ = {};  // frees the old one first
  downloaded_ = setup.device.allocate_host(largest_bytes);
}

void* Output::data(std::string_view name, unsigned rank) const {
  for (const Array& array : arrays_)
    if (array.name == name && array.rank == rank) return array.memory.data();
  return nullptr;
}

void Output::fill_with_poison() const {
  for (const Array& array : arrays_)
    array.device.fill(array.memory.data(), poison_, array.extent.bytes());
}

std::uint64_t Output::compare_to(const Expected& expected, Verification& check,
                                 std::uint64_t depth) const {
  std::uint64_t sum = 0;
  bool failed = false;
  std::size_t elements = 0;
  for (const Array& array : arrays_) {
    const ExpectedArray& wanted = expected.*array.expected;
    const Extent extent = wanted.extent;
    const std::byte* const actual = downloaded_.data();
    array.device.download(downloaded_.data(), array.memory.data(), extent.bytes());
    sum += checksum(actual, extent.count, size_bytes(extent.type));
    elements += extent.count;
    if (failed) continue;
    const ArrayComparison found = compare(wanted, actual, depth);
    failed = found.mismatches > 0;
    tell_of(check, array.name, found);
    check.device = array.rank;
  }
  check.elements = elements;
  return sum;
}

}  // namespace reduce_bench
