// The configuration file: what to run. Published schema: configs/schema/config.schema.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/document.hpp"
#include "common/inputs.hpp"
#include "common/labels.hpp"
#include "kernels/api/operation.hpp"
#include "kernels/api/types.hpp"
#include "plan/mode.hpp"

namespace reduce_bench {

/// How long to measure one point.
struct MeasurementSettings {
  std::vector<Mode> modes{Mode::kCold};
  unsigned min_samples = 10;
  unsigned max_samples = 10000;
  double max_time_ms = 200;    ///< of a mode's samples together; `min_samples` are always taken
  double relative_ci = 0.005;  ///< enough samples: half the median's 95 % interval, over the median
  unsigned interleave = 1;     ///< rounds in which the variants of one problem take turns
  double clock_floor = 0.75;   ///< share of the maximum SM clock under which a sample is discarded
  bool counters = false;       ///< what a GPU counts is collected, in calls that are not timed
  bool energy = false;         ///< the energy of a call on a GPU is measured, likewise
  /// A point that takes longer counts as hanging; where it is not given, it is derived.
  std::optional<double> point_timeout_s;
};

/// One block of the configuration: the product of its axes.
struct Sweep {
  std::string where;  ///< file and JSON pointer, for complaints
  std::vector<std::string> variants;
  Operation operation = Operation::kReduce;
  std::vector<Backend> backends;  ///< empty: chosen by what the machine has
  std::vector<std::size_t> n;
  std::vector<std::size_t> buckets{0};  ///< 0 where the operation has no labels
  std::vector<Type> types{Type::kI32};
  std::vector<Op> ops{Op::kSum};
  std::vector<Distribution> distributions{Distribution{}};  ///< of the values
  std::vector<LabelDistribution> labels{LabelDistribution{}};
  std::map<std::string, std::vector<std::string>> params;
  std::vector<std::vector<std::string>> zip;  ///< groups of parameters that vary together
  MeasurementSettings measurement;
};

struct Config {
  std::string description;
  std::vector<Sweep> sweeps;
};

/// Reads and checks a configuration, in which paths begin at its folder. `overrides` are `key=value` settings of the command line,
/// applied to every sweep before checking. Throws UsageError that names the file, the JSON pointer,
/// what was found and what is allowed.
Config read_config(const std::filesystem::path& file, const std::vector<std::string>& overrides);

/// The same from parsed JSON; `name` stands for the file in messages. Paths in it begin at `folder`.
Config parse_config(Json document, const std::string& name,
                    const std::vector<std::string>& overrides,
                    const std::filesystem::path& folder = {});

/// The configuration with every default filled in, valid against the same schema.
Json to_json(const Config& config);
Json to_json(const Distribution& distribution);
Json to_json(const LabelDistribution& distribution);

}  // namespace reduce_bench
