// Exit codes and the errors that lead to them.
#pragma once

#include <stdexcept>
#include <string>

namespace reduce_bench {

enum ExitCode : int {
  kExitGood = 0,
  kExitWrongResult = 1,         ///< a wrong result from a variant that is not marked known-wrong
  kExitRegression = 1,          ///< something slower or lost, or newly wrong or failing
  kExitUsage = 2,               ///< bad usage, configuration, input file, output path or device
  kExitEnvironmentDiffers = 3,  ///< two runs being compared are from different environments
  kExitIncomplete = 4,          ///< some points failed, timed out or are inconclusive
  kExitInterrupted = 130,       ///< partial results saved
};

/// Something the user must change: one sentence that names what failed, on what, and what to do.
/// It may quote anything from files and the command line: the message is made one line of UTF-8
/// without control characters, and loses its middle where it is long.
struct UsageError : std::runtime_error {
  explicit UsageError(const std::string& message);
};

/// What errno says and what to do: `advice`, unless the process ran out of file descriptors.
std::string reason_and_advice(int error, const std::string& advice);

}  // namespace reduce_bench
