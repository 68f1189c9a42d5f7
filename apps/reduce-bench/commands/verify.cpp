// reduce-bench verify: correctness on adversarial inputs, nothing timed.

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "commands/progress.hpp"
#include "common/command_line.hpp"
#include "common/error.hpp"
#include "common/names.hpp"
#include "common/text.hpp"
#include "devices/machine.hpp"
#include "plan/variants.hpp"
#include "point/check.hpp"
#include "worker/workers.hpp"

namespace reduce_bench {
namespace {

constexpr double kElementsOfACase = 1000;

struct VerifyOptions {
  std::vector<std::string> filter, plugins;
  std::string backend;
  std::optional<int> device;
  bool full = false;
  bool as_json = false;
  bool races = false;
};

std::vector<Backend> backends_to_verify(const VerifyOptions& options, const Machine& machine) {
  if (options.races) {
    if (!options.backend.empty() && options.backend != "emu")
      throw UsageError(
          fmt::format("--races --backend {}: races are looked for on the emulator; "
                      "leave --backend out",
                      options.backend));
    return {Backend::kEmu};
  }
  if (options.backend.empty()) {
    const std::string why_not = machine.unavailable(Backend::kCuda);
    const Backend gpu = why_not.empty() ? Backend::kCuda : Backend::kEmu;
    fmt::print(stderr, "backends {} and cpu{}\n", name_of(gpu),
               why_not.empty() ? "" : ": " + why_not);
    return {gpu, Backend::kCpu};
  }
  const auto name = find_name(kBackendNames, options.backend);
  if (!name)
    throw UsageError(fmt::format("--backend {}: no such backend; use {}", options.backend,
                                 one_of(kBackendNames)));
  const auto backend = static_cast<Backend>(*name);
  if (const std::string why_not = machine.unavailable(backend); !why_not.empty())
    throw UsageError(fmt::format("--backend {}: {}; use --backend emu", name_of(backend), why_not));
  return {backend};
}

Json to_json(const Subject& subject, const Tally& tally) {
  return {{"variant", subject.entry.variant.id},
          {"backend", name_of(subject.backend)},
          {"passed", tally.passed},
          {"known_wrong", tally.known_wrong},
          {"skipped", tally.skipped},
          {"device_lacks", tally.lacks},
          {"deterministic", tally.deterministic},
          {"failures", tally.failures}};
}

void print_row(const Subject& subject, const Tally& tally) {
  fmt::print("{:<30} {:<5} {:>5} right{}{}{}{}\n", subject.entry.variant.id,
             name_of(subject.backend), tally.passed,
             tally.known_wrong > 0 ? fmt::format(", {} wrong (known)", tally.known_wrong) : "",
             tally.skipped > 0 ? fmt::format(", {} skipped", tally.skipped) : "",
             tally.deterministic ? "" : ", run-to-run not deterministic",
             tally.failures.empty() ? "" : fmt::format(", {} WRONG", tally.failures.size()));
  for (const std::string& lack : tally.lacks) fmt::print("  skipped: {}\n", lack);
  for (std::size_t i = 0; i < tally.failures.size() && i < 5; ++i)
    fmt::print("  {}\n", tally.failures[i]);
  if (tally.failures.size() > 5) fmt::print("  and {} more\n", tally.failures.size() - 5);
  check_standard_output();
}

/// How long a case takes, in elements: what every case needs takes as long as some of them.
double work_of(const Case& c) { return kElementsOfACase + static_cast<double>(c.point.n); }

int verify(const VerifyOptions& options, const Ranks& ranks) {
  add_plugins(options.plugins);
  const auto entries =
      select_variants(options.filter.empty() ? std::vector<std::string>{"*"} : options.filter);
  const Machine machine;
  const std::vector<Backend> backends = backends_to_verify(options, machine);
  if (options.device) machine.check_ordinal(*options.device, backends);
  std::map<Backend, Workers> workers;
  std::vector<Subject> subjects;
  double work = 0;
  for (const Backend backend : backends) {
    Workers& worker =
        workers.try_emplace(backend, backend, options.device.value_or(0), ranks).first->second;
    for (const CatalogEntry* entry : entries) {
      if (entry->on(backend) == nullptr || (options.races && entry->traced == nullptr)) continue;
      subjects.push_back({*entry, backend, worker.traits(), options.full, options.races});
      for (const Case& c : all_cases(subjects.back())) work += work_of(c);
    }
  }
  if (subjects.empty() && options.races)
    throw UsageError(
        "--races: none of the variants asked for has a traced build here; it takes a kernel that "
        "the emulator runs, g++, and a build without sanitizers");
  if (subjects.empty())
    throw UsageError(
        "none of the variants asked for runs on the chosen backends in this build; 'reduce-bench "
        "list' shows what runs where");
  unsigned failed = 0;
  double done = 0;
  Json report = Json::array();
  Progress progress(subjects.size());
  for (std::size_t k = 0; k < subjects.size(); ++k) {
    const Subject& subject = subjects[k];
    const std::string what =
        fmt::format("{} on {}", subject.entry.variant.id, name_of(subject.backend));
    progress.pass(k, what, done / work);
    const Execute execute = [&](const Point& point, const ExecuteOptions& how) {
      // Nothing catches interrupts here, so no point is ever given up.
      return workers.at(subject.backend).execute(point, how).value();
    };
    const Tally tally = check_variant(subject, execute, [&](const Case& c) {
      done += work_of(c);
      progress.pass(k, what, done / work);
    });
    if (!tally.failures.empty()) ++failed;
    progress.clear();
    if (options.as_json) report.push_back(to_json(subject, tally));
    else print_row(subject, tally);
  }
  if (options.as_json) fmt::print("{}\n", json_text(report, 2));
  fmt::print(stderr, "{} verified, {} failed\n", counted(subjects.size() - failed, "variant"),
             failed);
  return failed > 0 ? kExitWrongResult : kExitGood;
}

}  // namespace

void add_verify(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("verify", "Correctness only, on adversarial inputs");
  auto o = std::make_shared<VerifyOptions>();
  command->add_option("--filter", o->filter, "Globs of variant ids, such as 'harris/*'");
  command->add_option("--backend", o->backend,
                      "cuda, opencl, cpu or emu (default: cpu and, where there is a GPU, cuda, "
                      "else emu)");
  add_device(*command, o->device);
  add_plugin_option(*command, o->plugins);
  command->add_flag("--full", o->full,
                    "Every size class, distribution, parameter value and misalignment");
  command->add_flag("--races", o->races,
                    "Emulated, with every access traced: report accesses that nothing orders");
  command->add_flag("--json", o->as_json, "An array of objects instead of a table");
  command->footer(
      "Examples:\n"
      "  reduce-bench verify --filter 'harris/*' --backend emu\n"
      "  reduce-bench verify --races --filter 'harris/*'\n"
      "  reduce-bench verify --full");
  command->callback([=, &action] {
    action = [=]() -> int {
      Meeting meeting;
      if (are_ranks_started()) meeting = meet_ranks();
      return meeting.is_driver ? verify(*o, meeting.ranks) : kExitGood;
    };
  });
}

}  // namespace reduce_bench
