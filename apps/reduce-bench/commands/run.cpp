// reduce-bench run: measures a configuration and writes the results document.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "commands/commands.hpp"
#include "commands/progress.hpp"
#include "common/error.hpp"
#include "common/names.hpp"
#include "common/text.hpp"
#include "plan/plan.hpp"
#include "results/environment.hpp"
#include "results/files.hpp"
#include "results/journal.hpp"
#include "results/results.hpp"
#include "results/table.hpp"
#include "worker/interrupt.hpp"
#include "worker/worker.hpp"

namespace reduce_bench {
namespace {

constexpr int kMostLinks = 40;  // as many as the system follows

struct RunOptions {
  std::string config;
  std::string output;
  std::vector<std::string> filter;
  std::string backend;
  std::optional<int> device;
  std::vector<std::string> settings;
  std::uint64_t seed = 1;
  bool resume = false;
  bool dry_run = false;
  bool keep_samples = false;
};

struct BackendChoice {
  std::vector<Backend> automatic;
  std::string why;
};

BackendChoice choose_backend(const std::string& asked, const CudaStatus& cuda) {
  if (!asked.empty() && !find_name(kBackendNames, asked))
    throw UsageError(fmt::format("--backend {}: no such backend; use cuda or cpu", asked));
  if (asked == "emu")
    throw UsageError(
        "--backend emu: the emulator verifies and is never timed; use 'reduce-bench verify'");
  if (asked == "cuda" && !cuda.unavailable.empty())
    throw UsageError(fmt::format("--backend cuda: {}; use --backend cpu, or a machine with a GPU",
                                 cuda.unavailable));
  if (!asked.empty())
    return {{static_cast<Backend>(*find_name(kBackendNames, asked))},
            fmt::format("{}: asked for", asked)};
  if (cuda.unavailable.empty()) return {{Backend::kCuda}, "cuda: a device is present"};
  return {{Backend::kCpu}, fmt::format("cpu: {}", cuda.unavailable)};
}

std::string slug(std::string text) {
  for (char& c : text) {
    const auto u = static_cast<unsigned char>(c);
    c = std::isalnum(u) ? static_cast<char>(std::tolower(u)) : '-';
  }
  return text;
}

std::filesystem::path default_output(const GpuInfo* gpu) {
  std::string stamp = utc_now();
  std::erase_if(stamp, [](char c) { return c == ':' || c == '-'; });
  return std::filesystem::path("results") / "local" /
         fmt::format("{}-{}.json", stamp, gpu != nullptr ? slug(gpu->name) : "cpu");
}

/// Everything one run holds while it goes through its plan.
class Run {
 public:
  Run(RunOptions options, std::vector<std::string> command_line)
      : options_(std::move(options)), cuda_(cuda_status()) {
    config_ = read_config(options_.config, options_.settings);
    const BackendChoice choice = choose_backend(options_.backend, cuda_);
    if (!options_.backend.empty())
      for (Sweep& sweep : config_.sweeps) sweep.backends.clear();
    fmt::print(stderr, "backend {}\n", choice.why);
    plan_ = make_plan(config_, {choice.automatic, options_.filter, options_.seed});
    const bool uses_cuda = std::any_of(plan_.begin(), plan_.end(),
                                       [](const Point& p) { return p.backend == Backend::kCuda; });
    if (options_.device && (!uses_cuda || !cuda_.unavailable.empty()))
      throw UsageError(fmt::format(
          "--device {}: {}; leave --device out", *options_.device,
          cuda_.unavailable.empty() ? "no point of the plan runs on cuda" : cuda_.unavailable));
    if (uses_cuda && cuda_.unavailable.empty()) {
      const auto ordinal = static_cast<std::size_t>(options_.device.value_or(0));
      if (ordinal >= cuda_.devices.size())
        throw UsageError(
            fmt::format("--device {}: no such device, {} visible; 'reduce-bench info' "
                        "lists them",
                        ordinal, cuda_.devices.size()));
      gpu_ = &cuda_.devices[ordinal];
    }
    environment_ = environment_json(cuda_, gpu_, command_line, options_.seed, choice.why);
    to_stdout_ = options_.output == "-";
    if (to_stdout_ && options_.resume)
      throw UsageError("--resume needs a results file: name it with -o");
    if (options_.resume && options_.output.empty())
      throw UsageError("--resume needs the file of the run to go on with: name it with -o");
  }

  int dry_run() {
    for (const Point& point : plan_) fmt::print("{}\n", describe(point));
    fmt::print(stderr, "{} points\n", plan_.size());
    return kExitGood;
  }

  int execute() {
    // A closed pipe or a file grown to its limit is an error to report, not a reason to die.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    open_output();
    catch_interrupts();
    restore_finished();
    measure_all_ceilings();
    run_points();
    measure_noise();
    return finish();
  }

 private:
  /// Anything else is not ours to overwrite.
  static bool is_results_file(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::string start(4096, '\0');
    stream.read(start.data(), static_cast<std::streamsize>(start.size()));
    return stream.gcount() == 0 || start.find("\"reduce-bench-results\"") != std::string::npos;
  }

  void open_output() {
    if (to_stdout_) return;
    output_ =
        options_.output.empty() ? default_output(gpu_) : std::filesystem::path(options_.output);
    std::error_code error;
    // The rename would replace a link, and a run to the file itself would not be noticed. A link to
    // what does not exist yet counts as well, which canonical paths do not know.
    for (int links = 0; std::filesystem::is_symlink(output_, error); ++links) {
      if (links == kMostLinks)
        throw UsageError(fmt::format(
            "cannot write '{}': its links have no end; name a file with -o", options_.output));
      output_ = output_.parent_path() / std::filesystem::read_symlink(output_);
    }
    const auto there = std::filesystem::status(output_, error);
    if (!output_.has_filename())
      throw UsageError(fmt::format("cannot write '{}': it names a directory; name a file with -o",
                                   output_.string()));
    if (std::filesystem::is_regular_file(there) && !is_results_file(output_))
      throw UsageError(
          fmt::format("'{}' exists and is not a results file: name another with -o, "
                      "or remove it",
                      output_.string()));
    // A device such as /dev/null would be replaced by the rename.
    if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
      throw UsageError(
          fmt::format("cannot write '{}': it is {}; name a file with -o, or '-' for "
                      "standard output",
                      output_.string(),
                      std::filesystem::is_directory(there) ? "a directory" : "not a regular file"));
    if (const auto temporary = temporary_of(output_);
        std::filesystem::is_directory(temporary, error))
      throw UsageError(fmt::format(
          "cannot write '{}': it is written as '{}' first, which is a directory; remove "
          "that, or name another file with -o",
          output_.string(), temporary.string()));
    error.clear();
    if (output_.has_parent_path())
      std::filesystem::create_directories(output_.parent_path(), error);
    if (error)
      throw UsageError(
          fmt::format("cannot create the directory of '{}': {}; choose another place "
                      "with -o",
                      output_.string(), error.message()));
    const Json header{{"journal", 1},
                      {"config", to_json(config_)},
                      {"filter", options_.filter},
                      {"keep_samples", options_.keep_samples},
                      {"identity", identity_json(environment_)},
                      {"points", plan_.size()}};
    std::filesystem::path file = output_;
    file += ".journal";
    if (options_.resume && !std::filesystem::exists(file))
      throw UsageError(
          fmt::format("nothing to resume: '{}' does not exist, so no run to '{}' was "
                      "interrupted; run without --resume",
                      file.string(), output_.string()));
    journal_.emplace(file, header, options_.resume);
    if (journal_->overwritten() > 0)
      fmt::print(stderr,
                 "overwrites {} finished points of an interrupted run; --resume would have kept "
                 "them\n",
                 journal_->overwritten());
  }

  void restore_finished() {
    points_.resize(plan_.size());
    if (!journal_ || !options_.resume) return;
    Restored restored = restore(*journal_, plan_);
    ceilings_ = std::move(restored.ceilings);
    points_ = std::move(restored.points);
    fmt::print(stderr, "resumed: {} of {} points were done\n",
               std::count_if(points_.begin(), points_.end(),
                             [](const Json& point) { return !point.is_null(); }),
               plan_.size());
  }

  /// The backend's worker, or nothing where it cannot run (any more).
  Worker* worker(Backend backend) {
    if (lost_.contains(backend)) return nullptr;
    if (backend == Backend::kCuda && gpu_ == nullptr) {
      lost_[backend] = cuda_.unavailable;
      return nullptr;
    }
    const int ordinal = backend == Backend::kCuda ? gpu_->ordinal : 0;
    return &workers_.try_emplace(backend, backend, ordinal).first->second;
  }

  void measure_all_ceilings() {
    std::map<Backend, std::set<std::size_t>> sizes;
    for (const Point& point : plan_)
      if (points_[point.index].is_null() && point.n > 0)
        sizes[point.backend].insert(point.arrays().input_bytes());
    for (const auto& [backend, bytes] : sizes) {
      if (ceilings_.contains(backend) || interrupts() > 0) continue;
      Worker* on = worker(backend);
      if (on == nullptr) continue;
      const auto chosen = ceiling_sizes({bytes.begin(), bytes.end()});
      fmt::print(stderr, "measuring the ceilings of {} at {} sizes\n", name_of(backend),
                 chosen.size());
      try {
        const auto measured = on->measure_ceilings(chosen);
        if (!measured) return;
        ceilings_[backend] = *measured;
      } catch (const DeviceLost& error) {
        lost_[backend] = fmt::format("not run: the ceilings of {} could not be measured: {}",
                                     name_of(backend), error.what());
        continue;
      }
      if (journal_)
        journal_->append(
            {{"ceilings", {{std::string(name_of(backend)), to_json(ceilings_[backend])}}}});
    }
  }

  /// One round of one point, whatever happens to it; nothing where `patience` interrupts came
  /// before its end.
  std::optional<Record> execute_point(const Point& point, double share, int patience) {
    if (Worker* on = worker(point.backend)) {
      try {
        return on->execute(point, {.budget_share = share}, patience);
      } catch (const DeviceLost& error) {
        if (interrupts() > 0) return std::nullopt;
        lost_[point.backend] = fmt::format("not run: {}", error.what());
      }
    }
    Record record{.point = point};
    const bool never_there = point.backend == Backend::kCuda && gpu_ == nullptr;
    record.status = never_there ? Status::kSkipped : Status::kFailed;
    record.reason = lost_.at(point.backend);
    if (!never_there) not_run_.insert(point.index);
    return record;
  }

  void keep(const Record& record) {
    const Backend backend = record.point.backend;
    const auto peak = backend == Backend::kCuda && gpu_ != nullptr ? gpu_->peak_gb_per_s
                                                                   : std::optional<double>{};
    Json json = to_json(record, ceilings_[backend], peak, options_.keep_samples);
    // What could not be run is for --resume to try again.
    if (journal_ && !not_run_.contains(record.point.index)) journal_->append(json);
    points_[record.point.index] = std::move(json);
  }

  std::string outcome(const Record& record) {
    const Json& json = points_[record.point.index];
    if (record.timing.empty()) return fmt::format("{}: {}", name_of(record.status), record.reason);
    const auto& [mode, measurement] = *record.timing.begin();
    std::string text = duration_text(summarise(measurement.samples_ns).median_ns);
    if (!json["gb_per_s"].is_null())
      text += fmt::format(", {:.4g} GB/s", json["gb_per_s"].get<double>());
    if (measurement.throttled) text += ", the SM clock stayed under the floor";
    if (record.status != Status::kOk) text += fmt::format(", {}", record.reason);
    return text;
  }

  void run_points() {
    Progress progress(plan_.size());
    std::mt19937_64 order(options_.seed);
    for (std::size_t first = 0; first < plan_.size();) {
      std::size_t last = first;
      while (last < plan_.size() && plan_[last].group == plan_[first].group) ++last;
      std::vector<std::size_t> open;
      for (std::size_t k = first; k < last; ++k)
        if (points_[k].is_null()) open.push_back(k);
      // The problems of one group take turns in random order, round by round.
      const unsigned rounds = plan_[first].measurement.interleave;
      std::map<std::size_t, Record> records;
      for (unsigned round = 0; round < rounds; ++round) {
        if (rounds > 1) std::shuffle(open.begin(), open.end(), order);
        for (const std::size_t k : open) {
          if (interrupts() > 0) return;
          const std::string what = describe(plan_[k]);
          progress.begin(k, what);
          // One interrupt lets the point in flight end, the second gives it up.
          auto record = execute_point(plan_[k], 1.0 / rounds, 2);
          if (!record) return;
          if (const auto known = records.find(k); known != records.end()) {
            known->second.merge(*record);
          } else {
            records.emplace(k, std::move(*record));
          }
          if (round + 1 < rounds) continue;
          keep(records.at(k));
          progress.end(k, what, outcome(records.at(k)));
          records.erase(k);
        }
      }
      first = last;
    }
  }

  /// Times a small, a middle and a large point twice more, as if they were two variants.
  void measure_noise() {
    for (const auto& [backend, unused] : workers_) {
      if (lost_.contains(backend)) continue;
      std::vector<const Point*> good;
      for (const Point& point : plan_)
        if (point.backend == backend && !points_[point.index].is_null() &&
            points_[point.index]["status"] == "ok" && point.n > 0)
          good.push_back(&point);
      std::stable_sort(good.begin(), good.end(),
                       [](const Point* a, const Point* b) { return a->n < b->n; });
      std::set<const Point*> chosen;
      if (!good.empty()) chosen = {good.front(), good[good.size() / 2], good.back()};
      for (const Point* point : chosen) {
        const auto a = execute_point(*point, 1, 1), b = execute_point(*point, 1, 1);
        if (!a || !b) return;
        if (a->timing.empty() || b->timing.empty()) continue;
        const auto& [mode, measured] = *a->timing.begin();
        const double ns_a = summarise(measured.samples_ns).median_ns;
        const double ns_b = summarise(b->timing.begin()->second.samples_ns).median_ns;
        noise_.push_back({{"variant", point->entry->variant.id},
                          {"backend", name_of(backend)},
                          {"n", point->n},
                          {"type", name_of(point->type)},
                          {"op", name_of(point->op)},
                          {"mode", name_of(mode)},
                          {"median_a_ns", ns_a},
                          {"median_b_ns", ns_b},
                          {"ratio", ns_b / ns_a}});
      }
    }
  }

  /// The points move into it: with samples a copy would be hundreds of megabytes.
  Json take_document() {
    Json ceilings = Json::object();
    for (const auto& [backend, measured] : ceilings_)
      if (!measured.reads.empty()) ceilings[std::string(name_of(backend))] = to_json(measured);
    Json relative = nullptr;
    for (const Json& pair : noise_) {
      const double deviation = std::abs(pair["ratio"].get<double>() - 1);
      if (relative.is_null() || deviation > relative.get<double>()) relative = deviation;
    }
    Json done = Json::array();
    for (Json& point : points_)
      if (!point.is_null()) done.push_back(std::move(point));
    return {{"schema", 1},
            {"kind", "reduce-bench-results"},
            {"config", to_json(config_)},
            {"environment", environment_},
            {"ceilings", ceilings},
            {"noise_floor", {{"aa", noise_}, {"relative", relative}}},
            {"interrupted", interrupted_},
            {"points", std::move(done)}};
  }

  int finish() {
    interrupted_ = interrupts() > 0;  // what comes from here on cannot undo the run
    const Json whole = take_document();
    // The command line need not be UTF-8.
    std::string text = whole.dump(1, ' ', false, Json::error_handler_t::replace);
    text += '\n';
    if (to_stdout_) {
      if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
          std::fflush(stdout) != 0)
        throw UsageError(
            fmt::format("cannot write the results to standard output: {}", std::strerror(errno)));
    } else {
      write_atomically(output_, text);
      if (!interrupted_ && not_run_.empty()) journal_->remove();
    }
    const auto& done = whole["points"].get_ref<const Json::array_t&>();
    const std::string problems = problems_text(done);
    FILE* human = to_stdout_ ? stderr : stdout;
    fmt::print(human, "{}", results_table(done));
    if (!problems.empty()) fmt::print(human, "\nNot timed, or not ranked:\n{}", problems);
    if (!whole["noise_floor"]["relative"].is_null())
      fmt::print(human, "\nNoise floor: identical measurements differed by up to {:.2f} %\n",
                 100 * whole["noise_floor"]["relative"].get<double>());
    if (!to_stdout_) fmt::print(stderr, "results: {}\n", output_.string());
    if (!not_run_.empty() && !to_stdout_)
      fmt::print(stderr, "{} points could not be run; --resume -o {} tries them again\n",
                 not_run_.size(), output_.string());
    if (interrupted_) {
      if (!to_stdout_)
        fmt::print(stderr, "interrupted after {} of {} points; --resume -o {} goes on\n",
                   done.size(), plan_.size(), output_.string());
      return kExitInterrupted;
    }
    const auto any = [&](auto&& test) { return std::any_of(done.begin(), done.end(), test); };
    if (any([](const Json& p) { return p["status"] == "wrong" && p["known_wrong"] == false; }))
      return kExitWrongResult;
    if (any([](const Json& p) {
          return (p["status"] == "failed" && p["known_wrong"] == false) || p["status"] == "timeout";
        }))
      return kExitIncomplete;
    if (std::all_of(done.begin(), done.end(),
                    [](const Json& p) { return p["status"] == "skipped"; })) {
      fmt::print(stderr,
                 "reduce-bench: nothing was measured: every point was skipped; the reasons "
                 "are above\n");
      return kExitIncomplete;
    }
    return kExitGood;
  }

  RunOptions options_;
  CudaStatus cuda_;
  Config config_;
  std::vector<Point> plan_;
  const GpuInfo* gpu_ = nullptr;
  Json environment_;
  bool to_stdout_ = false;
  std::filesystem::path output_;
  std::optional<Journal> journal_;
  std::map<Backend, Worker> workers_;
  std::map<Backend, std::string> lost_;  ///< why a backend cannot run (any more)
  std::map<Backend, Ceilings> ceilings_;
  std::vector<Json> points_;       ///< by index; null: not done
  std::set<std::size_t> not_run_;  ///< points of backends that were lost before
  bool interrupted_ = false;
  Json noise_ = Json::array();
};

}  // namespace

void add_run(CLI::App& app, Action& action, const std::vector<std::string>& command_line) {
  auto* command = app.add_subcommand("run", "Measures a configuration and writes a results file");
  auto o = std::make_shared<RunOptions>();
  command->add_option("--config", o->config, "Configuration file (JSON)")->required();
  command->add_option("-o,--output", o->output,
                      "Results file; '-' for standard output (default: "
                      "results/local/<time>-<device>.json)");
  command->add_option("--filter", o->filter, "Keep only variants that match these globs");
  command->add_option("--backend", o->backend, "cuda or cpu (default: cuda where a device is)");
  command->add_option("--device", o->device, "CUDA device number")->check(CLI::NonNegativeNumber);
  command->add_option("--set", o->settings,
                      "Override an axis or setting of every sweep: n=1024,4096, type=f32, "
                      "params.block=256, measurement.max_time_ms=50");
  command->add_option("--seed", o->seed, "Seed of the inputs and of the interleaving");
  command->add_flag("--resume", o->resume, "Go on with the run that was writing the file of -o");
  command->add_flag("--dry-run", o->dry_run, "Only list the points");
  command->add_flag("--keep-samples", o->keep_samples, "Store every sample, not only summaries");
  command->footer(
      "Examples:\n"
      "  reduce-bench run --config configs/quick.json\n"
      "  reduce-bench run --config configs/full.json --filter 'harris/*' cub/reduce --set "
      "n=5533214\n"
      "  reduce-bench run --config configs/quick.json -o - | python3 -m json.tool");
  command->callback([=, &action] {
    action = [=] {
      Run run(*o, command_line);
      return o->dry_run ? run.dry_run() : run.execute();
    };
  });
}

}  // namespace reduce_bench
