// The two sides of a comparison: which runs they are, and what differs between their machines.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/measured.hpp"

namespace reduce_bench {

/// Base or new: one run, or several rounds of it.
struct Side {
  std::string name;  ///< as the user gave it
  std::vector<MeasuredRun> rounds;
};

/// Reads a results document, or every *.json of a folder as the rounds of one side, in the order of
/// their names. Throws UsageError that names the file and the place in it.
Side read_side(const std::filesystem::path& file_or_folder);

/// What differs between the machines and builds of two runs, one clause each; revisions, dates and
/// host names do not count.
std::vector<std::string> environment_differences(const Json& base, const Json& new_);

/// The SM clocks that the two sides ran at, where their medians differ by more than 3 %; else
/// empty.
std::string clock_difference(const Side& base, const Side& new_);

}  // namespace reduce_bench
