// The devices of the ranks that mpirun started together, one of each, as if they were the first
// rank's. The first rank runs the point; the others hold memory for it, and do their part of a call
// when it does (docs/adr/0019-ranks.md).
#pragma once

#include <functional>
#include <memory>

#include "devices/device.hpp"

namespace reduce_bench {

/// Makes the device of this rank. A rank that has none, or one unlike the first one's, is left out.
using MakeDevice = std::function<std::unique_ptr<Device>()>;

/// Is called by rank 0, while the others are in `serve_first_rank`; they leave it when the device
/// goes.
std::unique_ptr<Device> gather_ranks(const MakeDevice& make);
/// Is called by every rank but rank 0: serves it until its device is gone.
void serve_first_rank(const MakeDevice& make);

}  // namespace reduce_bench
