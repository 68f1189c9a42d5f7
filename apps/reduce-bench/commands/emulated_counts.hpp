// Runs a variant once on the traced emulator and returns what it counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/platform/emu_device.hpp"
#include "point/record.hpp"

namespace reduce_bench {

/// Counts a variant with its default parameters, on 2^16 elements if no n is asked for. Throws
/// UsageError, which begins with the command's name, where it cannot be counted.
Record count_on_emulator(const std::string& command, const std::string& id, emu::Tracing tracing,
                         std::optional<std::uint64_t> n = {});

/// Elements that the emulator gets through in seconds while it counts.
inline constexpr std::uint64_t kMostCountedElements = std::uint64_t{1} << 22;

}  // namespace reduce_bench
