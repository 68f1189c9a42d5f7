#include "results/journal.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "common/error.hpp"
#include "common/json_fault.hpp"
#include "common/names.hpp"
#include "results/files.hpp"
#include "results/results.hpp"

namespace reduce_bench {
namespace {

constexpr std::string_view kJournalStart = "{\"journal\":";

[[noreturn]] void fail_damaged(const std::filesystem::path& journal, const std::string& fault) {
  throw UsageError(
      fmt::format("the journal '{}' is damaged: {}: run without --resume to start anew",
                  journal.string(), fault));
}

}  // namespace

Journal::Journal(std::filesystem::path file, const Json& header, bool resume)
    : file_(std::move(file)) {
  const auto refuse = [&](const char* why) {
    ::close(descriptor_);
    throw UsageError(fmt::format(fmt::runtime(why), file_.string()));
  };
  descriptor_ = open_locked(file_, file_, "write the journal");
  struct stat opened{};
  if (::fstat(descriptor_, &opened) != 0) fail_io(file_, "write the journal");
  if (!S_ISREG(opened.st_mode))
    refuse(
        "cannot write the journal '{}': it is not a regular file; remove it, or name another "
        "output with -o");
  std::ifstream stream(file_);
  if (!stream) fail_io(file_, "read the journal");
  // A kill may have cut off the header.
  std::string start(kJournalStart.size(), '\0');
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(stream.gcount()));
  if (!kJournalStart.starts_with(start))
    refuse(
        "'{}' exists and is not the journal of a run: remove it, or name another output with -o");
  stream.clear();
  stream.seekg(0);
  std::string line;
  std::size_t good_bytes = 0;
  if (!resume) {
    while (std::getline(stream, line) && !stream.eof())
      if (line.starts_with("{\"index\":")) ++overwritten_;
  } else {
    std::size_t number = 0;
    while (std::getline(stream, line)) {
      // The last line that a kill cut off has no newline or does not parse: that point runs again.
      if (stream.eof()) break;
      ++number;
      if (const auto fault = json_fault(line, number)) {
        // Good lines after a damaged one must not be lost, so the journal is refused.
        if (std::getline(stream, line) && !stream.eof()) {
          ::close(descriptor_);
          fail_damaged(file_, *fault);
        }
        break;
      }
      Json parsed = Json::parse(line);
      good_bytes += line.size() + 1;
      if (number == 1) {
        if (parsed != header) {
          refuse(
              "'{}' was written by another configuration, build or device: start anew without "
              "--resume, or run what wrote it");
        }
      } else {
        finished_.push_back(std::move(parsed));
      }
    }
  }
  if (::ftruncate(descriptor_, static_cast<off_t>(good_bytes)) != 0 ||
      ::lseek(descriptor_, 0, SEEK_END) < 0)
    fail_io(file_, "write the journal");
  if (good_bytes == 0) append(header);
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Journal::append(const Json& line) { write_all(descriptor_, file_, json_text(line) + "\n"); }

void Journal::append(Backend backend, const Ceilings& ceilings) {
  append({{"ceilings", {{std::string(name_of(backend)), to_json(ceilings)}}}});
}

void Journal::remove() { std::filesystem::remove(file_); }

namespace {

void restore_ceilings(const Node& line, Restored& restored) {
  for (const auto& [name, ceilings] : line.at("ceilings").members()) {
    const auto backend = find_name(kBackendNames, name);
    if (!backend) line.fail(fmt::format("'{}' is no backend", name));
    restored.ceilings[static_cast<Backend>(*backend)] = read_ceilings(ceilings);
  }
}

}  // namespace

Restored restore(Journal& journal, const std::vector<Point>& plan) {
  Restored restored;
  restored.points.resize(plan.size());
  std::size_t number = 1;  // the header's
  for (Json& line : journal.take_finished()) {
    const std::string where = fmt::format("line {}", ++number);
    try {
      const Node node{line, "", where};
      if (node.has("ceilings")) {
        restore_ceilings(node, restored);
      } else {
        const std::size_t index = node.at("index").integer(0, plan.size() - 1);
        restored.points[index] = read_finished(plan[index], std::move(line), where);
      }
    } catch (const UsageError& error) {
      fail_damaged(journal.file(), error.what());
    }
  }
  return restored;
}

}  // namespace reduce_bench
