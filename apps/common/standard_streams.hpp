// Standard input, output and error as the caller of a program left them, which may be closed.
#pragma once

#include <string>

namespace reduce_bench {

/// Puts /dev/null where standard input, output or error is closed. The next file opened would
/// become it otherwise, and get what is printed, or be taken from the worker process. Writing to a
/// closed standard output is an error still; who closes standard error wants to hear nothing.
void occupy_closed_streams();

/// Prints a line to standard error; where that is full or a closed pipe, nobody is told.
void complain(const std::string& line) noexcept;

}  // namespace reduce_bench
