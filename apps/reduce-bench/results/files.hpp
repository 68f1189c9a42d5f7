// Writing whole files, so that a kill at any moment leaves the old one or the new one.
#pragma once

#include <filesystem>
#include <string>

namespace reduce_bench {

/// Where a file is written before it is renamed. One name for all runs, of which the journal's lock
/// lets one write: the next replaces what a killed one left.
std::filesystem::path temporary_of(std::filesystem::path file);

/// Writes a whole file: to a temporary one beside it, synced, then renamed. Throws UsageError.
void write_atomically(const std::filesystem::path& file, const std::string& text);

/// Writes all of the text to an open file; `file` stands for it in messages. Throws UsageError.
void write_all(int descriptor, const std::filesystem::path& file, const std::string& text);

/// Throws the UsageError for the `errno` of an attempt to do `action` to a file.
[[noreturn]] void fail_io(const std::filesystem::path& file, const char* action);

}  // namespace reduce_bench
