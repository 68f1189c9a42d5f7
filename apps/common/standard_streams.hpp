// Standard input, output and error as the caller of a program left them, which may be closed.
#pragma once

#include <string>

namespace reduce_bench {

/// Opens /dev/null in place of those of standard input, output and error that are closed. Otherwise
/// the next file opened would take the number, and get what is printed. Writing to a standard
/// output that was closed is still an error; what goes to a standard error that was closed is
/// dropped.
void occupy_closed_streams();

/// Prints a line to standard error. Where that fails, there is nobody to tell.
void complain(const std::string& line) noexcept;

}  // namespace reduce_bench
