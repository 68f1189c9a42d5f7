// The results document (configs/schema/results.schema.json), and the journal that survives a kill.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/config.hpp"
#include "point/execute.hpp"

namespace reduce_bench {

/// What one backend can do at most, measured in this run.
struct Ceilings {
  struct Read {
    std::size_t size_bytes = 0;
    double median_ns = 0;
    std::string shape;  ///< of the fastest stream
  };
  std::vector<Read> reads;     ///< ascending sizes
  std::size_t copy_bytes = 0;  ///< read and written together; 0: not measured
  double copy_median_ns = 0;
  double empty_launch_ns = 0;

  /// Time of the read stream over so many bytes; linear between the sizes measured, and none
  /// beyond them.
  std::optional<double> read_ns(std::size_t size_bytes) const;
};

/// The sizes to measure for these: ascending, each at least an eighth above the one before, and the
/// largest. So a plan of thousands of sizes does not spend its time on ceilings.
std::vector<std::size_t> ceiling_sizes(std::vector<std::size_t> sizes_bytes);

/// Measures read streams at the `ceiling_sizes` of the plan, a copy of the largest, and the empty
/// launch.
Ceilings measure_ceilings(Device& device, const std::vector<std::size_t>& sizes_bytes);
Json to_json(const Ceilings& ceilings);
/// Throws UsageError where it is not as `to_json` writes it.
Ceilings ceilings_from_json(const Json& json);

/// One entry of the document's `points`. `peak_gb_per_s` is the datasheet bandwidth, if known.
Json to_json(const Record& record, const Ceilings& ceilings, std::optional<double> peak_gb_per_s,
             bool keep_samples);

/// Where a file is written before it is renamed. One name for all runs, of which the journal's lock
/// lets one write: the next replaces what a killed one left.
std::filesystem::path temporary_of(std::filesystem::path file);

/// Writes a whole file: to a temporary one beside it, synced, then renamed. Throws UsageError.
void write_atomically(const std::filesystem::path& file, const std::string& text);

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

  void append(const Json& line);
  /// What --resume found, once: with samples it is too much to hold twice.
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
  std::vector<Json> points;  ///< by index in the plan; null: not done
};

/// Takes over the finished points of a journal. Throws UsageError for a line that a run of this
/// plan cannot have written.
Restored restore(Journal& journal, const std::vector<Point>& plan);

}  // namespace reduce_bench
