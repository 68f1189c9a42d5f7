// The output arrays of a point on its devices, and how they compare to what is expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "devices/device.hpp"
#include "point/guarded.hpp"
#include "point/oracle.hpp"
#include "point/record.hpp"

namespace reduce_bench {

struct Setup;

/// Lets the check tell of this comparison of an output array.
void tell_of(Verification& check, const char* array, const ArrayComparison& found);

class Output {
 public:
  struct Array {
    const char* name;
    Extent extent;
    ExpectedArray Expected::* expected;
    unsigned rank;  ///< of the device that has it
    Device& device;
    GuardedMemory memory;
  };

  /// Holds the results on every device that has any. They are checked in `downloaded`, memory of
  /// the host, which is replaced where it is too small for any of the expected arrays.
  Output(const Setup& setup, const Expected& expected, Memory& downloaded);

  const std::vector<Array>& arrays() const { return arrays_; }
  /// Null where the device has none.
  void* data(std::string_view name, unsigned rank = 0) const;
  /// The byte with which outputs are filled before a call, so that a result that is not written
  /// fails the check.
  unsigned char poison() const { return poison_; }
  void fill_with_poison() const;
  /// Fills in what the check says of the outputs; returns a checksum of all results.
  std::uint64_t compare_to(const Expected& expected, Verification& check,
                           std::uint64_t depth) const;

 private:
  std::vector<Array> arrays_;  ///< the count first: a wrong one explains the rest
  unsigned char poison_;
  Memory& downloaded_;
};

}  // namespace reduce_bench
