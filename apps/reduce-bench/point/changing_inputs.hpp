// How a plug-in is timed: on inputs that change, so that no result of an earlier call is of use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "devices/device.hpp"
#include "plan/plan.hpp"
#include "point/oracle.hpp"

namespace reduce_bench {

/// As a sample begins a few elements of the inputs change in place, at positions that nobody can
/// foresee, and those of the sample before are as they were: work on another stream that did not wait
/// for its turn saw other inputs. The outputs of a few samples, chosen at random before they begin, are
/// copied as they end, and checked when all are over: until then what they must be is nowhere in memory.
class ChangingInputs final : public Guard {
 public:
  static constexpr std::size_t kMostKept = 3;  ///< samples whose outputs are kept

  /// One output array of the variant.
  struct Output {
    const char* name;
    std::byte* data;
    Extent extent;
    ExpectedArray Expected::* expected;
  };
  /// What the outputs must be of these inputs.
  using MakeExpected = std::function<Expected(const std::byte* values, const std::byte* labels)>;

  /// The arrays of the point's inputs, where the variant reads them; null where it has none. `before`
  /// is what the outputs are of unchanged inputs. Outputs are filled with `poison` before a sample.
  ChangingInputs(Device& device, const Point& point, std::byte* values, std::byte* labels,
                 const Expected& before, std::vector<Output> outputs, unsigned char poison);
  /// What it takes of the device's memory, besides a few bytes.
  static std::size_t device_bytes(const Arrays& arrays) { return arrays.output_bytes(); }

  void before_sample() override;
  void at_begin() override;
  void at_end() override;
  void after_sample() override;
  /// Gives the inputs back as they were.
  void restore();

  struct Fault {
    const char* array;
    ArrayComparison found;
    bool came_late;  ///< the array was another one when all streams were done
  };
  /// The first kept output that is wrong. `values` and `labels` are the host's, unchanged, and are as
  /// they were afterwards.
  std::optional<Fault> check(std::byte* values, std::byte* labels, std::uint64_t depth,
                             const MakeExpected& expected_of) const;

 private:
  /// An element that is another than before, as bits.
  struct Change {
    std::size_t position;
    std::uint64_t before, now;
  };
  struct Kept {
    std::vector<Change> values, labels;
    std::vector<std::vector<std::byte>> outputs;
    std::vector<bool> came_late;  ///< of each output
  };

  std::uint64_t other_value(std::uint64_t bits);
  std::uint64_t other_label(std::uint64_t bits);
  void choose(const std::byte* data, Extent extent, std::vector<Change>& changes, std::size_t count,
              std::uint64_t (ChangingInputs::*other)(std::uint64_t));
  void undo(std::byte* data, Extent extent, std::vector<Change>& changes);

  Device& device_;
  const Point& point_;
  const Arrays arrays_;
  std::byte* const values_;
  std::byte* const labels_;
  std::vector<Output> outputs_;
  const unsigned char poison_;
  Memory changed_;  ///< the changed elements of values, then of labels, eight bytes each
  Memory copied_;   ///< outputs of a chosen sample, one behind the other
  Scalar extreme_;  ///< the least or greatest of the values, where the operator asks for it
  std::vector<Change> changed_values_, changed_labels_;
  std::vector<Kept> kept_;
  std::size_t samples_ = 0;
  std::optional<std::size_t> place_;  ///< in kept_, of the sample that runs
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace reduce_bench
