// Refusals of the system that driver and worker process may both meet.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <stdexcept>

#include "common/error.hpp"

namespace reduce_bench {

inline constexpr const char* kSystemAdvice = "end other processes, or raise the limits (ulimit -a)";

inline std::runtime_error system_failure(const char* what, int error = errno) {
  return std::runtime_error(fmt::format("{}: {}", what, reason_and_advice(error, kSystemAdvice)));
}

}  // namespace reduce_bench
