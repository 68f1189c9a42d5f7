// The step from one variant to the next, in sentences that are made of numbers alone.
#pragma once

#include <span>
#include <string>

#include "explain/evidence.hpp"

namespace reduce_bench {

/// The ratio of the times, the counts that moved, and what binds either: nothing of which the
/// evidence lacks, so counts of the emulator give neither a time nor a cause.
std::string explain_step(const Evidence& from, const Evidence& to, const Limits& limits);

/// Every step of a sequence, its problem above, and how much of the times the model accounts for
/// below.
std::string explain_steps(std::span<const Evidence> sequence, const Limits& limits);

}  // namespace reduce_bench
