#include "point/changing_inputs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace reduce_bench {
namespace {

constexpr std::size_t kChanges = 4;  ///< elements of an array, in every sample

template <class T>
T value_of(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

/// The greatest of the results for `max`, the least for `min`: where changes must lie beyond.
Scalar extreme_of(const ExpectedArray& results, Op op) {
  const bool greatest = op == Op::kMax;
  Scalar extreme{.type = results.extent.type};
  with_type(results.extent.type, [&]<class T>() {
    T found = greatest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
    for (std::size_t i = 0; i < results.extent.count; ++i) {
      const T result = value_of<T>(results.at(i).bits);
      found = greatest ? std::max(found, result) : std::min(found, result);
    }
    extreme.bits = bits_of(found);
  });
  return extreme;
}

/// A value beyond the extreme, with `random` for chance; the value itself where the type has none.
template <class T>
T beyond(T extreme, bool greatest, T value, std::uint64_t random) {
  if constexpr (std::is_floating_point_v<T>) {
    const T part = static_cast<T>(1 + static_cast<double>(random >> 11) * 0x1p-53);
    const T far = extreme + (greatest ? part : -part) * (std::fabs(extreme) + T{1});
    return std::isfinite(far) ? far : value;
  } else {
    using U = std::make_unsigned_t<T>;
    const T end = greatest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
    const U room = greatest ? static_cast<U>(static_cast<U>(end) - static_cast<U>(extreme))
                            : static_cast<U>(static_cast<U>(extreme) - static_cast<U>(end));
    if (room == 0) return value;
    const U step = static_cast<U>(1 + random % room);
    return static_cast<T>(greatest ? static_cast<U>(extreme) + step
                                   : static_cast<U>(extreme) - step);
  }
}

}  // namespace

ChangingInputs::ChangingInputs(Device& device, const Point& point, std::byte* values,
                               std::byte* labels, const Expected& before,
                               std::vector<Output> outputs, unsigned char poison)
    : device_(device),
      point_(point),
      arrays_(point.arrays()),
      values_(values),
      labels_(labels),
      outputs_(std::move(outputs)),
      poison_(poison),
      changed_(device.allocate(2 * kChanges * sizeof(std::uint64_t))),
      copied_(device.allocate(device_bytes(arrays_))) {
  if (point.op == Op::kMin || point.op == Op::kMax) extreme_ = extreme_of(before.results, point.op);
}

std::uint64_t ChangingInputs::other_value(std::uint64_t bits) {
  const Op op = point_.op;
  return with_value_or_half_type(point_.type, [&]<class T>() -> std::uint64_t {
    const T value = value_of<T>(bits);
    if constexpr (kIsHalf<T>) {
      if (op == Op::kSum) return bits ^ 0x8000;
      const T other = nearest<T>(
          beyond(value_of<float>(extreme_.bits), op == Op::kMax, to_float(value), random_()));
      return std::isfinite(to_float(other)) ? other.bits : bits;
    } else {
      if (op == Op::kMin || op == Op::kMax)
        return bits_of(beyond(value_of<T>(extreme_.bits), op == Op::kMax, value, random_()));
      if constexpr (std::is_floating_point_v<T>) return bits_of(static_cast<T>(-value));
      if (op == Op::kRight) return (random_() >> 33) | 1;  // any but the neutral element
      // Some of the bits, but neither the lowest, so that factors stay odd, nor that of affine slopes.
      const std::uint64_t mask = (random_() | 2) & ~(std::uint64_t{1} << 32 | 1);
      return bits ^ (sizeof(T) == 4 ? mask & 0xffffffffu : mask);
    }
  });
}

std::uint64_t ChangingInputs::other_label(std::uint64_t bits) {
  if (point_.buckets < 2) return bits;
  const std::uint64_t label = random_() % (point_.buckets - 1);
  return label < bits ? label : label + 1;
}

void ChangingInputs::choose(const std::byte* data, Extent extent, std::vector<Change>& changes,
                            std::size_t count,
                            std::uint64_t (ChangingInputs::*other)(std::uint64_t)) {
  if (data == nullptr || extent.count == 0) return;
  const std::size_t element_bytes = size_bytes(extent.type);
  for (std::size_t i = 0; i < count; ++i) {
    // The last element counts whatever others do: in a scatter, or for the operator `right`.
    const std::size_t position = i == 0 ? extent.count - 1 : random_() % extent.count;
    if (std::any_of(changes.begin(), changes.end(),
                    [&](const Change& change) { return change.position == position; }))
      continue;
    Change change{.position = position, .before = 0, .now = 0};
    device_.download(&change.before, data + position * element_bytes, element_bytes);
    change.now = (this->*other)(change.before);
    changes.push_back(change);
  }
}

void ChangingInputs::undo(std::byte* data, Extent extent, std::vector<Change>& changes) {
  for (; !changes.empty(); changes.pop_back())
    device_.upload(data + changes.back().position * size_bytes(extent.type), &changes.back().before,
                   size_bytes(extent.type));
}

void ChangingInputs::restore() {
  undo(values_, arrays_.values, changed_values_);
  undo(labels_, arrays_.labels, changed_labels_);
}

void ChangingInputs::before_sample() {
  restore();
  // The sign of a product changes with one factor, and with two may not.
  const bool by_sign = point_.op == Op::kProd && is_float(point_.type);
  choose(values_, arrays_.values, changed_values_, by_sign ? 1 : kChanges,
         &ChangingInputs::other_value);
  choose(labels_, arrays_.labels, changed_labels_, kChanges, &ChangingInputs::other_label);
  std::array<std::uint64_t, 2 * kChanges> now{};
  for (std::size_t i = 0; i < changed_values_.size(); ++i) now[i] = changed_values_[i].now;
  for (std::size_t i = 0; i < changed_labels_.size(); ++i)
    now[kChanges + i] = changed_labels_[i].now;
  device_.upload(changed_.data(), now.data(), sizeof(now));
  for (const Output& output : outputs_) device_.fill(output.data, poison_, output.extent.bytes());
  // A sample of those up to here is kept, each with the same chance.
  const std::size_t place = samples_ < kMostKept ? samples_ : random_() % (samples_ + 1);
  place_.reset();
  if (place < kMostKept) place_ = place;
  ++samples_;
}

void ChangingInputs::at_begin() {
  const auto put = [&](std::byte* data, Extent extent, const std::vector<Change>& changes,
                       const std::byte* from) {
    const std::size_t element_bytes = size_bytes(extent.type);
    for (const Change& change : changes) {
      device_.copy(data + change.position * element_bytes, from, element_bytes)();
      from += sizeof(std::uint64_t);
    }
  };
  put(values_, arrays_.values, changed_values_, changed_.data());
  put(labels_, arrays_.labels, changed_labels_, changed_.data() + kChanges * sizeof(std::uint64_t));
}

void ChangingInputs::at_end() {
  if (!place_) return;
  std::byte* to = copied_.data();
  for (const Output& output : outputs_) {
    device_.copy(to, output.data, output.extent.bytes())();
    to += output.extent.bytes();
  }
}

void ChangingInputs::after_sample() {
  if (!place_) return;
  if (*place_ == kept_.size()) kept_.emplace_back();
  Kept& kept = kept_[*place_];
  kept.outputs.resize(outputs_.size());
  kept.came_late.resize(outputs_.size());
  const std::byte* from = copied_.data();
  std::vector<std::byte> at_last;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const std::size_t bytes = outputs_[i].extent.bytes();
    kept.outputs[i].resize(bytes);
    at_last.resize(bytes);
    device_.download(kept.outputs[i].data(), from, bytes);
    device_.download(at_last.data(), outputs_[i].data, bytes);
    kept.came_late[i] = at_last != kept.outputs[i];
    from += bytes;
  }
  kept.values = changed_values_;
  kept.labels = changed_labels_;
}

std::optional<ChangingInputs::Fault> ChangingInputs::check(std::byte* values, std::byte* labels,
                                                           std::uint64_t depth,
                                                           const MakeExpected& expected_of) const {
  const auto put = [](std::byte* data, Extent extent, const Change& change, std::uint64_t bits) {
    const std::size_t element_bytes = size_bytes(extent.type);
    std::memcpy(data + change.position * element_bytes, &bits, element_bytes);
  };
  const auto apply = [&](std::byte* data, Extent extent, const std::vector<Change>& changes) {
    for (const Change& change : changes) put(data, extent, change, change.now);
  };
  const auto take_back = [&](std::byte* data, Extent extent, const std::vector<Change>& changes) {
    for (auto change = changes.rbegin(); change != changes.rend(); ++change)
      put(data, extent, *change, change->before);
  };
  for (const Kept& kept : kept_) {
    apply(values, arrays_.values, kept.values);
    apply(labels, arrays_.labels, kept.labels);
    const Expected expected = expected_of(values, labels);
    take_back(labels, arrays_.labels, kept.labels);
    take_back(values, arrays_.values, kept.values);
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const ExpectedArray& wanted = expected.*outputs_[i].expected;
      const ArrayComparison found = compare(wanted, kept.outputs[i].data(), depth);
      if (found.mismatches > 0) return Fault{outputs_[i].name, found, kept.came_late[i]};
    }
  }
  return std::nullopt;
}

}  // namespace reduce_bench
