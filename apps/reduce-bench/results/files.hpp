// Writes whole files, so that a kill at any moment leaves the old file or the new one.
#pragma once

#include <filesystem>
#include <string>

namespace reduce_bench {

/// Where a file is written before it is renamed. All runs use the same name, so that a run replaces
/// what a killed one left; a lock on it lets only one write at a time.
std::filesystem::path temporary_of(std::filesystem::path file);

/// Opens a file to read and write it, which it makes where it is not there, and locks it until the
/// descriptor is closed. Throws UsageError that names `shown` where it cannot do `action` to it, and
/// where another run has it locked.
int open_locked(const std::filesystem::path& file, const std::filesystem::path& shown,
                const char* action);

/// Writes a whole file: to a temporary one beside it, synced, then renamed. Throws UsageError.
void write_atomically(const std::filesystem::path& file, const std::string& text);

/// Writes all of the text to an open file; `file` stands for it in messages. Throws UsageError.
void write_all(int descriptor, const std::filesystem::path& file, const std::string& text);

/// Throws the UsageError for the `errno` of an attempt to do `action` to a file.
[[noreturn]] void fail_io(const std::filesystem::path& file, const char* action);

}  // namespace reduce_bench
