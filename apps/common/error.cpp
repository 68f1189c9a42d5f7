#include "common/error.hpp"

#include "common/text.hpp"

namespace reduce_bench {
namespace {

constexpr std::size_t kMostHead = 1500, kMostTail = 400;  // the advice stands at the end

std::string one_line(const std::string& message) {
  const std::string line = printable(message);
  if (line.size() <= kMostHead + kMostTail) return line;
  return std::string(first_bytes(line, kMostHead)) + " ... " +
         std::string(last_bytes(line, kMostTail));
}

}  // namespace

UsageError::UsageError(const std::string& message) : std::runtime_error(one_line(message)) {}

}  // namespace reduce_bench
