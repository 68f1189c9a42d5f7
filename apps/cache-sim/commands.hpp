// The subcommands: each adds its options to the application and says what to do when chosen.
#pragma once

#include <string>

#include "common/command_line.hpp"
#include "common/document.hpp"

namespace reduce_bench {

void add_simulate(CLI::App& app, Action& action);
void add_probe(CLI::App& app, Action& action);

/// Throws UsageError where `write_document` certainly could not write that file: before the work is
/// done, not after it.
void check_output(const std::string& file);
/// Writes a document to a file, whole or not at all, or to standard output for "-".
void write_document(const Json& document, const std::string& file);

}  // namespace reduce_bench
