// The journal beside a results file, which a run that is killed leaves for --resume.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/document.hpp"
#include "plan/plan.hpp"
#include "point/ceilings.hpp"
#include "results/outcome.hpp"

namespace reduce_bench {

/// The journal beside a results file: a header that identifies the run, then one line per finished
/// point, each flushed when it is written.
class Journal {
 public:
  /// Starts a new journal, replacing an old one, or, to resume, reads the finished points of the
  /// one that is there. Throws UsageError where it cannot be written, another run holds it, it is
  /// no journal, or one to resume belongs to another configuration, build or device.
  Journal(std::filesystem::path file, const Json& header, bool resume);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// The entry of a finished point.
  void append(const Json& line);
  /// What a backend can do at most.
  void append(Backend backend, const Ceilings& ceilings);
  /// What --resume found. It can be taken once, because with samples it is too much to hold twice.
  std::vector<Json> take_finished() { return std::move(finished_); }
  /// How many finished points of an old one it replaced.
  std::size_t overwritten() const { return overwritten_; }
  const std::filesystem::path& file() const { return file_; }
  /// Deletes the file: the document holds everything.
  void remove();

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
  std::vector<Json> finished_;
  std::size_t overwritten_ = 0;
};

/// What an interrupted run had done.
struct Restored {
  std::map<Backend, Ceilings> ceilings;
  std::vector<std::optional<FinishedPoint>> points;  ///< by index in the plan; nothing: not done
};

/// Takes over the finished points of a journal; they refer to the plan's. Throws UsageError for a
/// line that a run of this plan cannot have written.
Restored restore(Journal& journal, const std::vector<Point>& plan);

}  // namespace reduce_bench
