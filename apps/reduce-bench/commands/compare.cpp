// reduce-bench compare: decides whether one run is slower than another.

#include <fmt/format.h>

#include <algorithm>

#include "commands/commands.hpp"
#include "common/error.hpp"
#include "common/text.hpp"
#include "compare/count_changes.hpp"
#include "compare/report.hpp"

namespace reduce_bench {
namespace {

struct CompareOptions {
  std::string base, new_;
  std::string config;
  std::string format = "text";
  bool allow_environment = false, allow_missing = false;
};

std::vector<std::string> all_environment_differences(const Side& base, const Side& new_) {
  const MeasuredRun &first_base = base.rounds.front(), &first_new = new_.rounds.front();
  std::vector<std::string> all =
      environment_differences(first_base.environment, first_new.environment);
  for (const Side* side : {&base, &new_})
    for (const MeasuredRun& run : side->rounds) {
      const MeasuredRun& first = side->rounds.front();
      for (const std::string& difference :
           environment_differences(first.environment, run.environment))
        all.push_back(fmt::format("{} within '{}', between {} and {}", difference, side->name,
                                  std::filesystem::path(first.file).filename().string(),
                                  std::filesystem::path(run.file).filename().string()));
    }
  if (const std::string clocks = clock_difference(base, new_); !clocks.empty())
    all.push_back(clocks);
  return all;
}

/// A comparison without a verdict is no evidence that nothing changed.
void check_anything_compared(const RunComparison& comparison) {
  const auto decided = [](const ComparedPoint& point) {
    return point.change || point.verdict == Verdict::kBroken || point.verdict == Verdict::kFixed;
  };
  if (std::any_of(comparison.points.begin(), comparison.points.end(), decided)) return;
  const ComparedPoint& first = comparison.points.front();
  throw UsageError(fmt::format(
      "nothing could be compared: of {} none has a verified time on both sides (the first, "
      "{}{}{}, is {}{}{}); compare runs that measured the same points in the same modes",
      counted(comparison.points.size(), "point"), first.identity.text(),
      first.mode.empty() ? "" : ", ", first.mode, name_of(first.verdict),
      first.note.empty() ? "" : ": ", first.note));
}

/// The two documents, where both are of `run --count`. Throws UsageError where one is.
std::optional<std::pair<CountedRun, CountedRun>> read_counted(const CompareOptions& options) {
  std::array<Json, 2> documents;
  std::array<bool, 2> of_counts{};
  const std::array files{&options.base, &options.new_};
  for (std::size_t side = 0; side < files.size(); ++side) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(*files[side], error)) continue;
    documents[side] =
        read_document(*files[side], "the results", "name a file that 'reduce-bench run' wrote");
    of_counts[side] = is_counts_document(documents[side]);
  }
  if (!of_counts[0] && !of_counts[1]) return std::nullopt;
  if (of_counts[0] != of_counts[1])
    throw UsageError(
        fmt::format("'{}' holds counts and '{}' does not: compare counts with counts, "
                    "and times with times",
                    *files[of_counts[0] ? 0 : 1], *files[of_counts[0] ? 1 : 0]));
  return std::pair(parse_counted(documents[0], options.base),
                   parse_counted(documents[1], options.new_));
}

int compare_counted(const CompareOptions& options, const CountedRun& base, const CountedRun& new_,
                    const Thresholds& thresholds) {
  // What the compiler makes of a kernel decides which accesses it has.
  const auto compiler = [](const CountedRun& run) {
    return run.environment.value("compiler", std::string("unknown"));
  };
  if (compiler(base) != compiler(new_) && !options.allow_environment) {
    fmt::print(stderr,
               "reduce-bench: the environments differ (compiler {} against {}): compare builds of "
               "one compiler, or add --allow-environment\n",
               printable(compiler(base)), printable(compiler(new_)));
    return kExitEnvironmentDiffers;
  }
  const Missing missing = options.allow_missing ? Missing::kAllowed : Missing::kFails;
  const CountComparison comparison = compare_counts(base, new_, thresholds, missing);
  if (options.format == "json") fmt::print("{}\n", json_text(json(comparison), 1));
  else if (options.format == "junit") fmt::print("{}", junit(comparison));
  else if (options.format == "markdown") fmt::print("{}", markdown(comparison, base, new_));
  else fmt::print("{}", text(comparison, base, new_));
  return comparison.has_regression() ? kExitRegression : kExitGood;
}

int compare_runs(const CompareOptions& options) {
  const Thresholds thresholds =
      options.config.empty() ? Thresholds{} : read_thresholds(options.config);
  if (const auto runs = read_counted(options))
    return compare_counted(options, runs->first, runs->second, thresholds);
  const Side base = read_side(options.base), new_ = read_side(options.new_);
  const std::vector<std::string> differences = all_environment_differences(base, new_);
  if (!differences.empty() && !options.allow_environment) {
    const std::string more =
        differences.size() > 1 ? fmt::format(", and {} more", differences.size() - 1) : "";
    fmt::print(
        stderr,
        "reduce-bench: the environments differ ({}{}): compare runs of one machine and build "
        "set-up, or add --allow-environment\n",
        differences.front(), more);
    return kExitEnvironmentDiffers;
  }
  const Missing missing = options.allow_missing ? Missing::kAllowed : Missing::kFails;
  const ComparisonReport report{base, new_, differences,
                                compare_sides(base, new_, thresholds, missing)};
  check_anything_compared(report.comparison);
  if (options.format == "json") fmt::print("{}\n", json_text(report.json(), 1));
  else if (options.format == "junit") fmt::print("{}", report.junit());
  else if (options.format == "markdown") fmt::print("{}", report.markdown());
  else fmt::print("{}", report.text());

  const RunComparison& comparison = report.comparison;
  if (comparison.has_regression()) return kExitRegression;
  return comparison.count(Verdict::kInconclusive) > 0 ? kExitIncomplete : kExitGood;
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("compare", "Decides whether one run is slower than another");
  auto o = std::make_shared<CompareOptions>();
  const char* side = "results file, or folder with those of several rounds";
  command->add_option("base", o->base, fmt::format("Base: {}", side))->required();
  command->add_option("new", o->new_, fmt::format("New: {}", side))->required();
  command->add_option("--config", o->config,
                      "Thresholds per variant, such as configs/thresholds.json (default: 3 %)");
  command->add_option("--format", o->format, "text, markdown, json or junit")
      ->check(CLI::IsMember({"text", "markdown", "json", "junit"}))
      ->capture_default_str();
  command->add_flag("--allow-environment", o->allow_environment,
                    "Compare runs of different GPUs, drivers, clocks, CPUs or compilers");
  command->add_flag(
      "--allow-missing", o->allow_missing,
      "Let new lack points that base has, such as those of a variant that was removed");
  command->footer(
      "Examples:\n"
      "  reduce-bench compare before.json after.json\n"
      "  reduce-bench compare base.json new.json --config configs/thresholds.json\n"
      "  reduce-bench compare base-rounds/ new-rounds/ --format markdown\n"
      "A point is slower where its ratio of medians is beyond the threshold and differs from 1\n"
      "after correction for all points (docs/adr/0006-comparison.md).\n"
      "Exit codes: 0 no regression, or both sides are the same run, 1 a regression: a point "
      "became\n"
      "slower, wrong or failing, or new lacks it, 2 bad usage or input, or not one point could be\n"
      "compared, 3 different environments, 4 some points are inconclusive (few points in one "
      "round,\n"
      "or much noise) and none is a regression.");
  command->callback([=, &action] { action = [=] { return compare_runs(*o); }; });
}

}  // namespace reduce_bench
