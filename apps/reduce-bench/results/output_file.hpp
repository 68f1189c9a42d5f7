// The file that a run writes its document to.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace reduce_bench {

/// The file that was asked for, or one in results/local/ that is named after the time and the device
/// if none was. Links are followed, and the folders that it lies in are made. Throws UsageError where
/// it cannot be written, and where something else lies there than a document of that kind.
std::filesystem::path output_file(const std::string& asked, const std::string& device,
                                  std::string_view kind);

}  // namespace reduce_bench
