// The subcommands: each adds its options to the application and says what to do when chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "common/document.hpp"

namespace reduce_bench {

/// Where a chosen command leaves what to run; its value is the exit code.
using Action = std::function<int()>;

void add_simulate(CLI::App& app, Action& action);
void add_probe(CLI::App& app, Action& action);

/// Writes a document to a file, whole or not at all, or to standard output for "-".
void write_document(const Json& document, const std::string& file);

}  // namespace reduce_bench
