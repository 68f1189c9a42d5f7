#include "results/output_file.hpp"

#include <fmt/format.h>

#include <cctype>
#include <fstream>
#include <system_error>

#include "common/error.hpp"
#include "common/text.hpp"
#include "results/counted.hpp"
#include "results/files.hpp"

namespace reduce_bench {
namespace {

constexpr int kMostLinks = 40;  // as many as the system follows

std::string slug(std::string text) {
  for (char& c : text) {
    const auto u = static_cast<unsigned char>(c);
    c = std::isalnum(u) ? static_cast<char>(std::tolower(u)) : '-';
  }
  return text;
}

std::filesystem::path default_output(const std::string& device) {
  std::string stamp = utc_now();
  std::erase_if(stamp, [](char c) { return c == ':' || c == '-'; });
  return std::filesystem::path("results") / "local" /
         fmt::format("{}-{}.json", stamp, slug(device));
}

/// Whether the file is empty or a document of that kind: nothing else may be overwritten.
bool may_be_replaced(const std::filesystem::path& file, std::string_view kind) {
  std::ifstream stream(file);
  std::string start(4096, '\0');
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  return stream.gcount() == 0 || start.find(fmt::format("\"{}\"", kind)) != std::string::npos;
}

}  // namespace

std::filesystem::path output_file(const std::string& asked, const std::string& device,
                                  std::string_view kind) {
  std::filesystem::path output =
      asked.empty() ? default_output(device) : std::filesystem::path(asked);
  std::error_code error;
  // The rename would replace a link, and a run to the file itself would not be noticed. A link to
  // what does not exist yet counts as well, which canonical paths do not know.
  for (int links = 0; std::filesystem::is_symlink(output, error); ++links) {
    if (links == kMostLinks)
      throw UsageError(
          fmt::format("cannot write '{}': its links have no end; name a file with -o", asked));
    output = output.parent_path() / std::filesystem::read_symlink(output);
  }
  const auto there = std::filesystem::status(output, error);
  if (!output.has_filename())
    throw UsageError(fmt::format("cannot write '{}': it names a directory; name a file with -o",
                                 output.string()));
  if (std::filesystem::is_regular_file(there) && !may_be_replaced(output, kind))
    throw UsageError(
        fmt::format("'{}' exists and is not a {} file: name another with -o, or remove it",
                    output.string(), kind == kCountsKind ? "counts" : "results"));
  // A device such as /dev/null would be replaced by the rename.
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
    throw UsageError(
        fmt::format("cannot write '{}': it is {}; name a file with -o, or '-' for "
                    "standard output",
                    output.string(),
                    std::filesystem::is_directory(there) ? "a directory" : "not a regular file"));
  if (const auto temporary = temporary_of(output); std::filesystem::is_directory(temporary, error))
    throw UsageError(
        fmt::format("cannot write '{}': it is written as '{}' first, which is a directory; remove "
                    "that, or name another file with -o",
                    output.string(), temporary.string()));
  error.clear();
  if (output.has_parent_path()) std::filesystem::create_directories(output.parent_path(), error);
  if (error)
    throw UsageError(
        fmt::format("cannot create the directory of '{}': {}; choose another place "
                    "with -o",
                    output.string(), error.message()));
  return output;
}

std::string document_text(const Json& document) {
  Json head;
  for (const auto& [key, value] : document.items())
    if (key != "points") head[key] = value;
  std::string text = json_text(head, 1);
  text.resize(text.size() - std::string_view("\n}").size());
  text += ",\n \"points\": [";
  std::string_view before = "\n  ";
  for (const Json& point : document.at("points")) {
    text += before;
    text += json_text(point);
    before = ",\n  ";
  }
  return text + "\n ]\n}\n";
}

}  // namespace reduce_bench
