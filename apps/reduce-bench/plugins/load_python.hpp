// Plug-ins in Python: an interpreter in this process, a worker's, makes one look like any other.
#pragma once

#include <filesystem>
#include <string>

struct reduce_bench_plugin;

namespace reduce_bench {

/// Whether the file is a plug-in in Python, by its name.
inline bool is_python(const std::filesystem::path& file) { return file.extension() == ".py"; }

/// Starts the interpreter of `python3` (or of $REDUCE_BENCH_PYTHON) and lets it import the file. At
/// most once in a process. Throws std::runtime_error that says in a clause what is wrong.
const struct reduce_bench_plugin& load_python(const std::filesystem::path& file);

}  // namespace reduce_bench
