// reduce-bench verify: correctness on adversarial inputs, nothing timed.

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "common/error.hpp"
#include "common/names.hpp"
#include "plan/variants.hpp"
#include "point/check.hpp"
#include "worker/worker.hpp"

namespace reduce_bench {
namespace {

struct VerifyOptions {
  std::vector<std::string> filter;
  std::string backend;
  std::optional<int> device;
  bool full = false;
  bool as_json = false;
};

std::vector<Backend> backends_to_verify(const VerifyOptions& options, const CudaStatus& cuda) {
  if (options.backend.empty()) {
    const Backend gpu = cuda.unavailable.empty() ? Backend::kCuda : Backend::kEmu;
    fmt::print(stderr, "backends {} and cpu{}\n", name_of(gpu),
               cuda.unavailable.empty() ? "" : ": " + cuda.unavailable);
    return {gpu, Backend::kCpu};
  }
  const auto backend = static_cast<Backend>(*find_name(kBackendNames, options.backend));
  if (backend == Backend::kCuda && !cuda.unavailable.empty())
    throw UsageError(fmt::format("--backend cuda: {}; use --backend emu", cuda.unavailable));
  return {backend};
}

void check_device(int device, const std::vector<Backend>& backends, const CudaStatus& cuda) {
  if (backends[0] != Backend::kCuda)
    throw UsageError(fmt::format("--device {}: nothing runs on cuda; leave --device out", device));
  if (static_cast<std::size_t>(device) >= cuda.devices.size())
    throw UsageError(
        fmt::format("--device {}: no such device, {} visible; 'reduce-bench info' lists them",
                    device, cuda.devices.size()));
}

Json to_json(const Subject& subject, const Tally& tally) {
  return {{"variant", subject.entry.variant.id},
          {"backend", name_of(subject.backend)},
          {"passed", tally.passed},
          {"known_wrong", tally.known_wrong},
          {"skipped", tally.skipped},
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
  for (std::size_t i = 0; i < tally.failures.size() && i < 5; ++i)
    fmt::print("  {}\n", tally.failures[i]);
  if (tally.failures.size() > 5) fmt::print("  and {} more\n", tally.failures.size() - 5);
  std::fflush(stdout);
}

int verify(const VerifyOptions& options) {
  const auto entries =
      select_variants(options.filter.empty() ? std::vector<std::string>{"*"} : options.filter);
  const CudaStatus cuda = cuda_status();
  const std::vector<Backend> backends = backends_to_verify(options, cuda);
  if (options.device) check_device(*options.device, backends, cuda);
  unsigned checked = 0, failed = 0;
  Json report = Json::array();
  for (const Backend backend : backends) {
    Worker worker(backend, options.device.value_or(0));
    const Execute execute = [&](const Point& point, const ExecuteOptions& how) {
      // Nothing catches interrupts here, so no point is ever given up.
      return worker.execute(point, how).value();
    };
    for (const CatalogEntry* entry : entries) {
      if (entry->on(backend) == nullptr) continue;
      const Subject subject{*entry, backend, worker.traits(), options.full};
      const Tally tally = check_variant(subject, execute);
      ++checked;
      if (!tally.failures.empty()) ++failed;
      if (options.as_json) report.push_back(to_json(subject, tally));
      else print_row(subject, tally);
    }
  }
  if (checked == 0)
    throw UsageError("none of the variants asked for runs on the chosen backends in this build");
  if (options.as_json) fmt::print("{}\n", report.dump(2));
  fmt::print(stderr, "{} variants verified, {} failed\n", checked - failed, failed);
  return failed > 0 ? kExitWrongResult : kExitGood;
}

}  // namespace

void add_verify(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("verify", "Correctness only, on adversarial inputs");
  auto o = std::make_shared<VerifyOptions>();
  command->add_option("--filter", o->filter, "Globs of variant ids, such as 'harris/*'");
  command
      ->add_option("--backend", o->backend,
                   "cuda, cpu or emu (default: cpu and, where there is a GPU, cuda, else emu)")
      ->check(CLI::IsMember({"cuda", "cpu", "emu"}));
  command->add_option("--device", o->device, "CUDA device number")->check(CLI::NonNegativeNumber);
  command->add_flag("--full", o->full,
                    "Every size class, distribution, parameter value and misalignment");
  command->add_flag("--json", o->as_json, "An array of objects instead of a table");
  command->footer(
      "Examples:\n"
      "  reduce-bench verify --filter 'harris/*' --backend emu\n"
      "  reduce-bench verify --full");
  command->callback([=, &action] { action = [=] { return verify(*o); }; });
}

}  // namespace reduce_bench
