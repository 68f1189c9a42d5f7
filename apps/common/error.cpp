#include "common/error.hpp"

#include <cerrno>
#include <system_error>

#include "common/text.hpp"

namespace reduce_bench {
namespace {

/// What is kept of a long message, in bytes, so that it stays under 300 with the program's name
/// before it. Its end is the advice.
constexpr std::size_t kMostHead = 190, kMostTail = 85;

std::string one_line(const std::string& message) {
  const std::string line = printable(message);
  if (line.size() <= kMostHead + kMostTail) return line;
  return std::string(first_bytes(line, kMostHead)) + " ... " +
         std::string(last_bytes(line, kMostTail));
}

}  // namespace

std::string reason_and_advice(int error, const std::string& advice) {
  const bool no_files = error == EMFILE || error == ENFILE;
  return std::generic_category().message(error) + "; " +
         (no_files ? "close files or raise the limit (ulimit -n)" : advice);
}

UsageError::UsageError(const std::string& message) : std::runtime_error(one_line(message)) {}

}  // namespace reduce_bench
