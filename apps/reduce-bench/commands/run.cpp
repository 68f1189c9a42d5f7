// reduce-bench run: measures a configuration and writes the results document.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/commands.hpp"
#include "commands/emulated_counts.hpp"
#include "commands/progress.hpp"
#include "common/error.hpp"
#include "common/names.hpp"
#include "common/text.hpp"
#include "devices/machine.hpp"
#include "plan/plan.hpp"
#include "plan/variants.hpp"
#include "point/measure.hpp"
#include "results/counted.hpp"
#include "results/environment.hpp"
#include "results/files.hpp"
#include "results/journal.hpp"
#include "results/older.hpp"
#include "results/output_file.hpp"
#include "results/run_document.hpp"
#include "results/run_plan.hpp"
#include "results/table.hpp"
#include "worker/interrupt.hpp"
#include "worker/workers.hpp"

namespace reduce_bench {
namespace {

struct RunOptions {
  std::string config;
  std::string output;
  std::vector<std::string> filter, plugins;
  std::string backend;
  std::optional<int> device;
  std::vector<std::string> settings;
  std::uint64_t seed = 1;
  bool resume = false;
  bool dry_run = false;
  bool keep_samples = false;
  bool count = false;
  bool counters = false;
};

struct BackendChoice {
  std::vector<Backend> automatic;
  std::string why;
};

BackendChoice choose_backend(const std::string& asked, bool count, const Machine& machine) {
  if (count && !asked.empty() && asked != "emu")
    throw UsageError(
        fmt::format("--count --backend {}: counts are the emulator's; leave --backend out", asked));
  if (count) return {{Backend::kEmu}, "emu: it counts, and times nothing"};
  if (!asked.empty() && !find_name(kBackendNames, asked))
    throw UsageError(fmt::format("--backend {}: no such backend; use {}", asked,
                                 one_of(Names{kBackendNames}.first(kTimedBackendCount))));
  if (asked == "emu")
    throw UsageError(
        "--backend emu: the emulator is never timed; add --count, or use 'reduce-bench verify'");
  if (!asked.empty()) {
    const auto backend = static_cast<Backend>(*find_name(kBackendNames, asked));
    if (const std::string why_not = machine.unavailable(backend); !why_not.empty())
      throw UsageError(fmt::format("--backend {}: {}; use --backend cpu, or a machine with a GPU",
                                   asked, why_not));
    return {{backend}, fmt::format("{}: asked for", asked)};
  }
  const std::string why_not = machine.unavailable(Backend::kCuda);
  if (why_not.empty()) return {{Backend::kCuda}, "cuda: a device is present"};
  return {{Backend::kCpu}, fmt::format("cpu: {}", why_not)};
}

/// What a run is asked for, resolved for this machine.
struct ResolvedRun {
  Config config;
  std::vector<Point> points;
  Machine machine;
  std::map<Backend, std::string> absent;  ///< backends of the plan, and why they cannot be used
  int ordinal = 0;                        ///< of the device, where the backend has several
  const GpuInfo* gpu = nullptr;           ///< the device of the points on cuda, if there is one
  const OpenclInfo* opencl = nullptr;     ///< likewise on opencl
  Json environment;

  /// The name of the device, after which a result is named.
  std::string device_name() const {
    if (gpu != nullptr) return gpu->name;
    return opencl != nullptr ? opencl->name : "cpu";
  }
};

ResolvedRun resolve(const RunOptions& options, const std::vector<std::string>& command_line) {
  add_plugins(options.plugins);
  ResolvedRun resolved{.config = read_config(options.config, options.settings)};
  const Machine& machine = resolved.machine;
  const BackendChoice choice = choose_backend(options.backend, options.count, machine);
  if (!options.backend.empty() || options.count)
    for (Sweep& sweep : resolved.config.sweeps) sweep.backends.clear();
  if (options.counters)
    for (Sweep& sweep : resolved.config.sweeps) sweep.measurement.counters = true;
  fmt::print(stderr, "backend {}\n", choice.why);
  Plan plan = make_plan(resolved.config, {choice.automatic, options.filter, options.seed});
  resolved.points = std::move(plan.points);
  std::map<Backend, std::size_t> points_on;
  for (const Point& point : resolved.points) ++points_on[point.backend];
  std::vector<Backend> used;
  for (const auto& [backend, count] : points_on) {
    used.push_back(backend);
    if (const std::string why_not = machine.unavailable(backend); !why_not.empty())
      resolved.absent[backend] = why_not;
  }
  if (options.device) {
    machine.check_ordinal(*options.device, used);
    resolved.ordinal = *options.device;
  }
  const auto runs_on = [&](Backend backend) {
    return points_on.contains(backend) && !resolved.absent.contains(backend);
  };
  const auto index = static_cast<std::size_t>(resolved.ordinal);
  if (runs_on(Backend::kCuda)) resolved.gpu = &machine.cuda().devices[index];
  if (runs_on(Backend::kOpencl)) resolved.opencl = &machine.opencl().devices[index];
  resolved.environment = environment_json(machine.cuda(), resolved.gpu, resolved.opencl,
                                          command_line, options.seed, choice.why);
  if (options.count &&
      (options.resume || options.keep_samples || options.device || options.counters))
    throw UsageError(
        "--count: --resume, --keep-samples, --counters and --device are of timed runs; leave them "
        "out");
  if (options.resume && options.output == "-")
    throw UsageError("--resume needs a results file: name it with -o");
  if (options.resume && options.output.empty())
    throw UsageError("--resume needs the file of the run to go on with: name it with -o");
  for (const std::string& reason : plan.left_out) fmt::print(stderr, "left out: {}\n", reason);
  for (const auto& [backend, why_not] : resolved.absent)
    fmt::print(stderr, "skipped: {} on {}: {}\n", counted(points_on.at(backend), "point"),
               name_of(backend), why_not);
  return resolved;
}

int dry_run(const ResolvedRun& resolved) {
  for (const Point& point : resolved.points) fmt::print("{}\n", describe(point));
  fmt::print(stderr, "{}\n", counted(resolved.points.size(), "point"));
  return kExitGood;
}

/// The plug-ins that the points are of.
Json plugins_json(const std::vector<Point>& points) {
  std::map<std::string, Json> plugins;
  for (const Point& point : points)
    if (point.entry->plugin != nullptr)
      plugins[point.entry->plugin->path] = to_json(*point.entry->plugin);
  return plugins;
}

std::unique_ptr<Journal> open_journal(const ResolvedRun& resolved, const RunOptions& options,
                                      const std::filesystem::path& output) {
  const Json header{{"journal", 1},
                    {"config", to_json(resolved.config)},
                    {"filter", options.filter},
                    {"keep_samples", options.keep_samples},
                    {"identity", identity_json(resolved.environment)},
                    {"plugins", plugins_json(resolved.points)},
                    {"points", resolved.points.size()}};
  std::filesystem::path file = output;
  file += ".journal";
  if (options.resume && !std::filesystem::exists(file))
    throw UsageError(
        fmt::format("nothing to resume: '{}' does not exist, so no run to '{}' was "
                    "interrupted; run without --resume",
                    file.string(), output.string()));
  auto journal = std::make_unique<Journal>(file, header, options.resume);
  if (journal->overwritten() > 0)
    fmt::print(stderr, "overwrites {} of an interrupted run; --resume would have kept {}\n",
               counted(journal->overwritten(), "finished point"),
               journal->overwritten() == 1 ? "it" : "them");
  return journal;
}

/// Worker processes, interrupts of the terminal, and progress on standard error.
class Terminal final : public RunSurroundings {
 public:
  Terminal(std::size_t points, int ordinal, Ranks ranks)
      : points_(points), ordinal_(ordinal), ranks_(std::move(ranks)) {}

  Executor& executor(Backend backend) override {
    return workers_.try_emplace(backend, backend, ordinal_, ranks_).first->second;
  }
  int interrupts() override { return reduce_bench::interrupts(); }

  void begin_ceilings(Backend backend, std::size_t sizes) override {
    fmt::print(stderr, "measuring the ceilings of {} at {}\n", name_of(backend),
               counted(sizes, "size"));
    ceilings_.emplace(sizes);
  }
  void begin_ceiling(std::size_t k) override { ceilings_->pass(k, "sizes of the ceilings"); }
  void begin_point(const Point& point, double share) override {
    ceilings_.reset();
    if (!progress_) progress_.emplace(points_);  // its clock starts with the first point
    progress_->begin(point.index, describe(point), share);
  }
  void end_point(const Point& point, const Record& record, const Outcome& outcome) override {
    progress_->end(point.index, describe(point), clause(record, outcome));
  }

 private:
  static std::string clause(const Record& record, const Outcome& outcome) {
    if (record.timing.empty()) return fmt::format("{}: {}", name_of(record.status), record.reason);
    const auto& [mode, measurement] = *record.timing.begin();
    std::string text = duration_text(median(measurement.samples_ns));
    if (outcome.gb_per_s) text += fmt::format(", {:.4g} GB/s", *outcome.gb_per_s);
    if (shape_of(measurement.samples_ns).two_modes) text += ", samples lie in two groups";
    if (measurement.throttled) text += ", the SM clock stayed under the floor";
    if (record.status != Status::kOk) text += fmt::format(", {}", record.reason);
    return text;
  }

  std::size_t points_;
  std::optional<Progress> ceilings_, progress_;
  int ordinal_;  ///< of the device
  Ranks ranks_;
  std::map<Backend, Workers> workers_;
};

void write_to_stdout(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw UsageError(
        fmt::format("cannot write the results to standard output: {}", std::strerror(errno)));
}

/// Says, before anything is measured, that another result will be replaced.
void tell_of_older(const std::filesystem::path& output, const ResolvedRun& resolved) {
  const auto older = older_result(output, resolved.config, resolved.points);
  if (older && !older->of_this_plan)
    fmt::print(stderr,
               "replaces '{}', {} of another configuration, when this run is complete; "
               "-o names another file\n",
               output.string(), counted(older->points, "point"));
}

/// How many points a GPU could not count, and why it could not the first; empty where it could all.
std::string uncounted_text(const RunResults& results) {
  std::size_t count = 0;
  std::string why;
  for (const auto& point : results.points)
    if (point && !point->outcome.uncounted.empty() && count++ == 0) why = point->outcome.uncounted;
  if (count == 0) return {};
  return fmt::format("No counters of {}: {}\n", counted(count, "point"), printable(why));
}

/// What a person reads at the end; `output` is empty where the results went to standard output.
void report(const RunResults& results, const std::filesystem::path& output, bool written) {
  FILE* const human = output.empty() ? stderr : stdout;
  fmt::print(human, "{}", results_table(results.points));
  if (const std::string problems = problems_text(results.points); !problems.empty())
    fmt::print(human, "\nNot timed, or not ranked:\n{}", problems);
  if (const std::string uncounted = uncounted_text(results); !uncounted.empty())
    fmt::print(human, "\n{}", uncounted);
  if (const auto floor = results.noise_floor())
    fmt::print(human, "\nNoise floor: identical measurements differed by up to {:.2f} %\n",
               100 * *floor);
  if (!output.empty()) {
    if (written) fmt::print(stderr, "results: {}\n", output.string());
    else
      fmt::print(stderr, "'{}' keeps its older result{}\n", output.string(),
                 results.all_skipped() ? "" : "; what was measured lies in the journal beside it");
    if (!results.not_run.empty())
      fmt::print(stderr, "{} could not be run; --resume -o {} tries {} again\n",
                 counted(results.not_run.size(), "point"), output.string(),
                 results.not_run.size() == 1 ? "it" : "them");
    if (results.interrupted)
      fmt::print(stderr, "interrupted after {} of {}; --resume -o {} goes on\n", results.done(),
                 counted(results.points.size(), "point"), output.string());
  }
  if (!results.interrupted && results.all_skipped())
    fmt::print(stderr,
               "reduce-bench: nothing was measured: every point was skipped; the reasons "
               "are above\n");
}

int run(const ResolvedRun& resolved, const RunOptions& options, const Ranks& ranks) {
  std::filesystem::path output;
  std::unique_ptr<Journal> journal;
  if (options.output != "-") {
    output = output_file(options.output, resolved.device_name(), kResultsKind);
    journal = open_journal(resolved, options, output);
    tell_of_older(output, resolved);
  }
  catch_interrupts();
  Restored restored;
  if (options.resume) {
    restored = restore(*journal, resolved.points);
    fmt::print(stderr, "resumed: {} of {} {} done\n",
               std::count_if(restored.points.begin(), restored.points.end(),
                             [](const auto& point) { return point.has_value(); }),
               counted(resolved.points.size(), "point"),
               resolved.points.size() == 1 ? "was" : "were");
  }
  RunSettings settings{
      .seed = options.seed, .keep_samples = options.keep_samples, .absent = resolved.absent};
  if (resolved.gpu != nullptr && resolved.gpu->peak_gb_per_s)
    settings.peak_gb_per_s[Backend::kCuda] = *resolved.gpu->peak_gb_per_s;
  // OpenCL does not tell it; CUDA does of the same card.
  for (const GpuInfo& gpu : resolved.machine.cuda().devices)
    if (resolved.opencl != nullptr && gpu.name == resolved.opencl->name && gpu.peak_gb_per_s)
      settings.peak_gb_per_s[Backend::kOpencl] = *gpu.peak_gb_per_s;
  RunResults results;
  {
    Terminal terminal(resolved.points.size(), resolved.ordinal, ranks);
    results = run_plan(resolved.points, settings, std::move(restored), journal.get(), terminal);
  }
  const Json document =
      take_document(results, resolved.points, resolved.config, resolved.environment);
  const std::string text = document_text(document);
  bool written = true;
  if (journal == nullptr) {
    write_to_stdout(text);
  } else {
    // Until the new result is complete, the journal has it, and an older one stays.
    const bool complete = !results.interrupted && results.not_run.empty();
    written = (complete && !results.all_skipped()) || holds_all_of(document, output);
    if (written) write_atomically(output, text);
    if (complete) journal->remove();
  }
  report(results, output, written);
  return results.exit_status();
}

/// Counts what the kernels of the plan do, on the emulator.
int count(const ResolvedRun& resolved, const RunOptions& options) {
  for (const Point& point : resolved.points)
    if (point.n > kMostCountedElements)
      throw UsageError(
          fmt::format("--count: {} elements take the emulator too long, at most {} are counted; "
                      "counts grow with n, so choose less with --set n=..., or another "
                      "configuration such as configs/counts.json",
                      size_text(point.n), size_text(kMostCountedElements)));
  const bool to_stdout = options.output == "-";
  const std::filesystem::path output =
      to_stdout ? std::filesystem::path()
                : output_file(options.output, resolved.device_name(), kCountsKind);
  catch_interrupts();
  Worker worker(Backend::kEmu);
  Progress progress(resolved.points.size());
  std::vector<Record> records;
  int status = kExitGood;
  std::size_t skipped = 0;
  for (const Point& point : resolved.points) {
    progress.pass(point.index, describe(point));
    Record record{.point = point,
                  .reason = "its counts take a build by g++ without sanitizers, which this is not"};
    if (point.entry->traced != nullptr) {
      auto counted = worker.execute(point, {.timed = false,
                                            .check_determinism = false,
                                            .emu_seed = 1,
                                            .tracing = emu::Tracing::kCounts});
      if (!counted || interrupts() > 0) {
        progress.clear();
        fmt::print(stderr, "interrupted after {} of {}; nothing is written\n", point.index,
                   reduce_bench::counted(resolved.points.size(), "point"));
        return kExitInterrupted;
      }
      record = std::move(*counted);
    }
    if (record.unexpected_wrong()) status = kExitWrongResult;
    else if (status == kExitGood && ((record.status == Status::kFailed && !record.known_wrong) ||
                                     record.status == Status::kTimeout))
      status = kExitIncomplete;
    skipped += record.status == Status::kSkipped;
    if (record.status != Status::kOk && record.status != Status::kSkipped && !record.known_wrong) {
      progress.clear();
      fmt::print(stderr, "{}: {}: {}\n", describe(point), name_of(record.status), record.reason);
    }
    records.push_back(std::move(record));
  }
  progress.clear();
  if (skipped > 0)
    fmt::print(stderr, "skipped: {} that their variants do not provide; the document says why\n",
               reduce_bench::counted(skipped, "point"));
  const Json document = counts_document(records, resolved.config, resolved.environment);
  const std::string text = document_text(document);
  if (to_stdout) {
    write_to_stdout(text);
  } else {
    write_atomically(output, text);
    fmt::print(stderr, "counts: {}\n", output.string());
  }
  if (std::all_of(records.begin(), records.end(),
                  [](const Record& record) { return record.counted.empty(); }) &&
      status == kExitGood)
    status = kExitIncomplete;
  return status;
}

}  // namespace

void add_run(CLI::App& app, Action& action, const std::vector<std::string>& command_line) {
  auto* command = app.add_subcommand("run", "Measures a configuration and writes a results file");
  auto o = std::make_shared<RunOptions>();
  command->add_option("--config", o->config, "Configuration file (JSON)")->required();
  command->add_option("-o,--output", o->output,
                      "Results file; '-' for standard output (default: "
                      "results/local/<time>-<device>.json)");
  command->add_option("--filter", o->filter, "Keep only variants that match these globs");
  command->add_option("--backend", o->backend,
                      "cuda, opencl or cpu (default: cuda where a device is, else cpu)");
  add_device(*command, o->device);
  add_plugin_option(*command, o->plugins);
  command->add_option("--set", o->settings,
                      "Override an axis or setting of every sweep: n=1024,2^20, type=f32, "
                      "labels=zipf(1.2), params.block=256, measurement.max_time_ms=50");
  add_number(*command, "--seed", {}, "Seed of the inputs and of the interleaving",
             [o](std::uint64_t seed) { o->seed = seed; });
  command->add_flag("--resume", o->resume, "Go on with the run that was writing the file of -o");
  command->add_flag("--dry-run", o->dry_run, "Only list the points");
  command->add_flag("--keep-samples", o->keep_samples, "Store every sample, not only summaries");
  command->add_flag(
      "--counters", o->counters,
      "Record what the GPU counts, too (bytes moved, instructions, conflicts, stalls), "
      "in calls that are not timed; it takes the CUDA Toolkit's CUPTI");
  command->add_flag("--count", o->count,
                    "Count what kernels do (sectors, bank conflicts, barriers) on the emulator, "
                    "instead of timing them");
  command->footer(
      "Examples:\n"
      "  reduce-bench run --config configs/quick.json\n"
      "  reduce-bench run --config configs/counts.json --count -o counts.json\n"
      "  reduce-bench run --config configs/full.json --filter 'harris/*' cub/reduce --set "
      "n=5533214\n"
      "  reduce-bench run --config configs/quick.json -o - | python3 -m json.tool");
  command->callback([=, &action] {
    action = [=] {
      Meeting meeting;
      if (are_ranks_started()) meeting = meet_ranks();
      if (!meeting.is_driver) return static_cast<int>(kExitGood);
      const ResolvedRun resolved = resolve(*o, command_line);
      if (o->dry_run) return dry_run(resolved);
      return o->count ? count(resolved, *o) : run(resolved, *o, meeting.ranks);
    };
  });
}

}  // namespace reduce_bench
