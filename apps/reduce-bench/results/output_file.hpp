// The file that a run writes its document to, and its text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/document.hpp"

namespace reduce_bench {

/// The file that was asked for, or one in results/local/ that is named after the time and the device
/// if none was. Links are followed, and the folders that it lies in are made. Throws UsageError where
/// it cannot be written, and where something else lies there than a document of that kind.
std::filesystem::path output_file(const std::string& asked, const std::string& device,
                                  std::string_view kind);

/// The text of a document with `points`, which come last, each on a line of its own: indented like
/// the rest, they would take a third more bytes.
std::string document_text(const Json& document);

}  // namespace reduce_bench
