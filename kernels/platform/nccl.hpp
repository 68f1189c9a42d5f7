// NCCL, loaded when a variant first calls for it: a build needs neither its header nor its library.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "kernels/api/variant.hpp"

namespace reduce_bench::cuda {

/// Puts on the streams what combines `count` values of every device's `parts`: on the first device, or
/// on all where all are to have results. The call has the shares of this process; where it is a rank of
/// mpirun's, the other ranks call, too. Makes the communicators of these devices at the first call, and
/// keeps them as long as the process lives. Throws DeviceLacks where NCCL is not there.
void nccl_combine(const Call& call, std::span<const void* const> parts, std::size_t count,
                  Type type, Op op);

/// `NCCL 2.28.9`; once it is loaded.
std::string nccl_version();

}  // namespace reduce_bench::cuda
