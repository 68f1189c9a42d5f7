#include "compare/sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "common/error.hpp"
#include "common/text.hpp"

namespace reduce_bench {
namespace {

constexpr double kClockTolerance = 0.03;  // the change of a time that counts

}  // namespace

Side read_side(const std::filesystem::path& file_or_folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  if (std::filesystem::is_directory(file_or_folder, error)) {
    auto entry = std::filesystem::directory_iterator(file_or_folder, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
      if (entry->path().extension() == ".json") files.push_back(entry->path());
    if (error)
      throw UsageError(fmt::format("cannot read the folder '{}': {}; {}", file_or_folder.string(),
                                   error.message(), kNameResults));
    std::sort(files.begin(), files.end());
    if (files.empty())
      throw UsageError(fmt::format("the folder '{}' holds no results (*.json): {}",
                                   file_or_folder.string(), kNameResults));
  } else {
    files.push_back(file_or_folder);
  }
  Side side{.name = file_or_folder.string()};
  for (const std::filesystem::path& file : files) {
    side.rounds.push_back(
        parse_run(read_document(file, "the results", kNameResults), file.string()));
    const MeasuredRun &first = side.rounds.front(), &last = side.rounds.back();
    if (first.revision() != last.revision())
      throw UsageError(fmt::format(
          "'{}' is of revision {} and '{}' of {}: rounds of one side are runs of one build",
          first.file, first.revision(), last.file, last.revision()));
  }
  return side;
}

std::vector<std::string> environment_differences(const Json& base, const Json& new_) {
  std::vector<std::string> differences;
  const auto compare = [&](const std::string& name, const Json& a, const Json& b) {
    if (a != b) differences.push_back(fmt::format("{} {} against {}", name, a.dump(), b.dump()));
  };
  const auto compare_members = [&](const std::string& key) {
    const Json &a = base.at(key), &b = new_.at(key);
    if (!a.is_object() || !b.is_object()) {
      const auto name = [](const Json& whole) { return whole.value("name", Json(nullptr)); };
      compare(key, a.is_object() ? name(a) : a, b.is_object() ? name(b) : b);
      return;
    }
    std::set<std::string> names;
    for (const Json* side : {&a, &b})
      for (const auto& [name, unused] : side->items()) names.insert(name);
    for (const char* of_the_slot : {"index", "uuid"}) names.erase(of_the_slot);
    // Older files do not have that of a CPU.
    if (!a.contains("l2_bytes") || !b.contains("l2_bytes")) names.erase("l2_bytes");
    for (const std::string& name : names)
      compare(key + " " + printable(name), a.value(name, Json(nullptr)),
              b.value(name, Json(nullptr)));
  };
  compare_members("gpu");
  compare_members("cpu");
  for (const std::string key :
       {"cuda_runtime", "cuda_driver", "compiler", "cuda_compiler", "flags", "build_type"})
    compare(key, base.at(key), new_.at(key));
  // Older files name neither.
  if (base.contains("opencl") && new_.contains("opencl")) compare_members("opencl");
  if (base.contains("cccl") && new_.contains("cccl"))
    compare("cccl", base.at("cccl"), new_.at("cccl"));
  return differences;
}

std::string clock_difference(const Side& base, const Side& new_) {
  const auto a = median_sm_clock_mhz(base.rounds), b = median_sm_clock_mhz(new_.rounds);
  if (!a || !b || std::abs(*b / *a - 1) <= kClockTolerance) return {};
  return fmt::format("SM clock {:.0f} MHz against {:.0f} MHz", *a, *b);
}

}  // namespace reduce_bench
