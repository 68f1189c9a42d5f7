// reduce-bench verify: correctness on adversarial inputs, nothing timed.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "commands/commands.hpp"
#include "common/error.hpp"
#include "common/names.hpp"
#include "plan/plan.hpp"
#include "plan/variants.hpp"
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

/// One execution: the point and how far its input is off alignment.
struct Case {
  Point point;
  std::size_t lead = 0;
};

/// How often the emulator reschedules a case whose defect is a race before it counts as not shown.
constexpr unsigned kRaceSeeds = 40;

struct Tally {
  unsigned passed = 0, skipped = 0, known_wrong = 0;
  bool deterministic = true;
  std::vector<std::string> failures;
  std::map<std::string, bool> defects;   ///< reason without numbers -> shown at least once
  std::map<std::string, bool> settings;  ///< parameters -> run at least once
};

bool is_number(const std::string& value) {
  return value.find_first_not_of("0123456789") == std::string::npos;
}

std::set<std::size_t> sizes_to_check(const VerifyOptions& options, Backend backend,
                                     const Variant& variant) {
  std::set<std::size_t> sizes{0, 1, 2, 31, 33, 256, 1000, 1024, 4099};
  if (backend == Backend::kCpu) sizes.insert(132001);  // more than one chunk of the parallel sum
  if (!options.full) return sizes;
  // On both sides of every power of two, as far as the backend is quick; primes between them.
  const unsigned last = backend == Backend::kEmu ? 13 : 22;
  for (unsigned e = 1; e <= last; ++e)
    for (const std::size_t n :
         {(std::size_t{1} << e) - 1, std::size_t{1} << e, (std::size_t{1} << e) + 1})
      sizes.insert(n);
  for (const std::size_t prime : {3u, 7u, 97u, 257u, 769u, 1531u, 3079u, 6151u})
    sizes.insert(prime);
  // Both sides of where a tile or a grid ends, in units of every block size the variant has.
  for (const ParamSpec& spec : variant.params)
    if (spec.name == "block")
      for (const std::string& value : spec.allowed)
        if (is_number(value))
          for (const std::size_t tiles : {1u, 2u, 3u, 8u})
            for (const int off : {-1, 0, 1})
              sizes.insert(std::stoul(value) * tiles + static_cast<std::size_t>(off));
  if (backend != Backend::kEmu) sizes.insert({5533214, 132001, 1299709});
  return sizes;
}

/// Large enough that every loop, pass and fold of partial results takes more than one step: beyond
/// the emulated device's threads times the largest unroll factor, beyond a GPU's.
std::size_t large_size(Backend backend) {
#if defined(__SANITIZE_ADDRESS__)
  constexpr std::size_t kEmulated = 30011;  // what the build without sanitizers does, in less time
#else
  constexpr std::size_t kEmulated = 100003;
#endif
  return backend == Backend::kEmu ? kEmulated : backend == Backend::kCuda ? 5533214 : 1299709;
}

/// Every setting that differs from the defaults: all combinations of the axes with names for values
/// (forms, trees), and every value of the numeric axes, one at a time.
std::vector<Params> other_settings(const Variant& variant) {
  const auto is_numeric = [](const ParamSpec& spec) { return is_number(spec.default_value); };
  std::vector<Params> named{default_params(variant)};
  for (const ParamSpec& spec : variant.params) {
    if (is_numeric(spec)) continue;
    std::vector<Params> next;
    for (const Params& base : named) {
      for (const std::string& value : spec.allowed) {
        next.push_back(base);
        next.back().set(spec.name, value);
      }
    }
    named = std::move(next);
  }
  std::erase(named, default_params(variant));
  for (const ParamSpec& spec : variant.params) {
    if (!is_numeric(spec)) continue;
    for (const std::string& value : spec.allowed) {
      if (value == spec.default_value) continue;
      named.push_back(default_params(variant));
      named.back().set(spec.name, value);
    }
  }
  return named;
}

/// Buckets where the case is about something else: 256, as most histograms have, or what the
/// variant does not refuse.
std::size_t many_buckets(const Variant& variant, Point point, const DeviceTraits& traits) {
  for (const std::size_t buckets : {256u, 64u}) {
    point.buckets = buckets;
    if (variant.restriction == nullptr || variant.restriction(point.problem(traits)).empty())
      return buckets;
  }
  return 1;
}

/// Whether the type is the one of the extensive cases: the default, or bytes where the variant
/// counts nothing else.
bool is_main_type(const Variant& variant, Type type) {
  const Operation operation = variant.operation;
  const bool has_default = variant.supports(default_type(operation), default_op(operation));
  return has_default ? type == default_type(operation) : is_label(type);
}

/// The labels that keyed operations may stumble over.
std::vector<LabelDistribution> label_distributions(bool full) {
  using Kind = LabelDistribution::Kind;
  std::vector<LabelDistribution> all;
  for (std::size_t kind = 0; kind < LabelDistribution::kNames.size(); ++kind)
    if (static_cast<Kind>(kind) != Kind::kImage) all.push_back({.kind = static_cast<Kind>(kind)});
  // Longer than a counter of one byte, and than a block.
  all.push_back({.kind = Kind::kRuns, .length = 1500});
  if (full) {
    all.push_back({.kind = Kind::kRuns, .length = 3});
    all.push_back({.kind = Kind::kZipf, .exponent = 2});
  }
  return all;
}

std::vector<Case> cases_of(const CatalogEntry& entry, Backend backend, Type type, Op op,
                           const VerifyOptions& options, const DeviceTraits& traits) {
  const Variant& variant = entry.variant;
  std::vector<Case> cases;
  const bool keyed = has_labels(variant.operation);
  const std::size_t many = many_buckets(
      variant, {.entry = &entry, .type = type, .op = op, .params = default_params(variant)},
      traits);
  const bool main_type = is_main_type(variant, type);
  // Emulated, variants that give every bucket a block, or pass over the inputs for every few, take
  // seconds for thousands of buckets: without --full one case has as many.
  const bool few = backend == Backend::kEmu && !options.full;
  const std::size_t too_many = few ? 1021 : 5003;
  const auto add = [&](std::size_t n, Distribution distribution, Params params,
                       std::size_t lead = 0, std::optional<std::size_t> buckets = std::nullopt,
                       LabelDistribution labels = {}) {
    Point point{.index = cases.size(),
                .entry = &entry,
                .backend = backend,
                .n = n,
                .buckets = keyed ? buckets.value_or(many) : 0,
                .type = type,
                .op = op,
                .distribution = distribution,
                .labels = std::move(labels),
                .params = std::move(params)};
    point.seed = 1 + n;  // another input for every size
    cases.push_back({.point = std::move(point), .lead = lead});
  };
  const Params defaults = default_params(variant);
  const Distribution uniform{};
  for (const std::size_t n : sizes_to_check(options, backend, variant)) add(n, uniform, defaults);

  const std::vector<std::size_t> awkward = options.full ? std::vector<std::size_t>{33, 1009, 4099}
                                                        : std::vector<std::size_t>{1009, 4099};
  for (std::size_t kind = 0; kind < Distribution::kNames.size(); ++kind) {
    const Distribution distribution{.kind = static_cast<Distribution::Kind>(kind)};
    if (distribution == uniform || !has_values(variant.operation) ||
        !unsuited(distribution, op, type).empty())
      continue;
    for (const std::size_t n : awkward) add(n, distribution, defaults);
  }
  const bool plain = (op == default_op(variant.operation)) && (main_type || type == Type::kF64);
  if (plain) add(large_size(backend), uniform, defaults);
  if (plain && variant.borders != nullptr) {
    const Problem any{.operation = variant.operation,
                      .buckets = keyed ? many : 0,
                      .type = type,
                      .op = op,
                      .params = defaults,
                      .device = traits};
    // Beyond a border there may be whole pieces of work only, or a rest besides.
    for (const std::size_t border : variant.borders(any))
      for (const std::size_t n : {border, border + 1, border + 1009}) add(n, uniform, defaults);
  }
  for (const Params& params : other_settings(variant)) {
    // First, since a defect that neutral elements or wrapping sums show need not be looked for in
    // the uniform cases, under one schedule after another.
    if (variant.defect != nullptr) add(4099, {.kind = Distribution::Kind::kExtremes}, params);
    for (const std::size_t n : awkward) add(n, uniform, params);
    add(1024, uniform, params);  // whole blocks of every size
    if (params.has("block") && params.is_number("block"))
      add(params.number("block") - 1, uniform, params);
    if (main_type && op == default_op(variant.operation)) add(large_size(backend), uniform, params);
    if (options.full) add(4099, {.kind = Distribution::Kind::kRamp}, params);
  }
  if (keyed) {
    for (const LabelDistribution& labels : label_distributions(options.full)) {
      if (many == 1) break;  // all the same
      for (const std::size_t n : awkward) add(n, uniform, defaults, 0, many, labels);
      // Few buckets, and more than there are inputs.
      if (options.full)
        for (const std::size_t buckets : {2u, 257u, 10007u})
          add(4099, uniform, defaults, 0, buckets, labels);
    }
    for (const std::size_t buckets :
         {std::size_t{1}, std::size_t{2}, std::size_t{31}, std::size_t{33}, std::size_t{255},
          std::size_t{257}, too_many})
      for (const std::size_t n : awkward) add(n, uniform, defaults, 0, buckets);
    if (few && main_type && op == default_op(variant.operation))
      add(1009, uniform, defaults, 0, 5003);
    if (options.full)
      for (const std::size_t n : {0u, 1u})
        for (const std::size_t buckets : {1u, 2u, 5003u}) add(n, uniform, defaults, 0, buckets);
    // This project's own change their ways with the buckets and with how often labels occur.
    if (plain && variant.fidelity == Fidelity::kBeyond)
      for (const LabelDistribution& labels : label_distributions(options.full))
        add(large_size(backend), uniform, defaults, 0, 5003, labels);
    // Every input in one bucket: counters overflow where they can.
    add(large_size(backend), uniform, defaults, 0, many,
        {.kind = LabelDistribution::Kind::kDegenerate});
    // Where any of equal labels may win, a lost input shows only if no other has its label.
    if (plain && any_wins(defaults))
      add(large_size(backend), uniform, defaults, 0, large_size(backend),
          {.kind = LabelDistribution::Kind::kPermutation});
    if (options.full) add(large_size(backend), uniform, defaults, 0, 65537);
    for (const Params& params : other_settings(variant)) {
      add(4099, uniform, params, 0, 1);
      add(4099, uniform, params, 0, too_many);
      for (const auto kind : {LabelDistribution::Kind::kDegenerate, LabelDistribution::Kind::kRuns})
        add(4099, uniform, params, 0, many, {.kind = kind});
    }
  }
  // Inputs that are aligned to their elements and no better.
  add(plain ? 20011 : 1009, uniform, defaults, 1);  // several blocks, each more than once
  if (options.full) add(4099, uniform, defaults, 3);
  std::erase_if(cases,
                [&](const Case& c) { return !unsuited(c.point.distribution, op, type).empty(); });
  return cases;
}

std::string without_numbers(const std::string& text) {
  std::string kept;
  for (const char c : text.substr(0, text.find('(')))
    if (c < '0' || c > '9') kept += c;
  return kept;
}

void check_case(Worker& worker, const Case& c, const VerifyOptions& options, Tally& tally) {
  const bool emulated = c.point.backend == Backend::kEmu;
  const unsigned seeds = emulated && options.full && c.point.n < large_size(Backend::kEmu) ? 3 : 1;
  std::string setting;
  for (const auto& entry : c.point.params.entries())
    setting += fmt::format(" {}={}", entry.name, entry.value);
  bool& ran = tally.settings[setting];
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    ExecuteOptions execute_options{
        .timed = false, .lead = c.lead, .emu_seed = seed + c.point.index};
    // Nothing catches interrupts here, so no point is ever given up.
    Record record = worker.execute(c.point, execute_options).value();
    const Variant* variant = c.point.entry->on(c.point.backend);
    const Problem problem = c.point.problem(worker.traits());
    const auto defect = variant->defect != nullptr && record.status != Status::kSkipped
                            ? variant->defect(problem)
                            : std::nullopt;
    if (defect) {
      const auto shown = [&] {
        return record.known_wrong && (record.status == Status::kFailed ||
                                      (record.verification && !record.verification->passed_before));
      };
      bool& seen = tally.defects[fmt::format("{}", without_numbers(defect->reason))];
      for (unsigned again = 0; emulated && !seen && !shown() && again < kRaceSeeds; ++again) {
        execute_options.emu_seed = 1000 + again;
        record = worker.execute(c.point, execute_options).value();
      }
      seen = seen || shown();
      if (record.known_wrong) {
        ran = true;
        ++tally.known_wrong;
        continue;
      }
    }
    ran = ran || record.status != Status::kSkipped;
    if (record.status == Status::kSkipped) {
      ++tally.skipped;
    } else if (record.status == Status::kOk) {
      ++tally.passed;
      if (record.verification->deterministic == false) tally.deterministic = false;
    } else {
      tally.failures.push_back(fmt::format(
          "{}{}{}: {}", describe(c.point),
          c.lead > 0 ? fmt::format(" misaligned by {}", c.lead) : "",
          emulated ? fmt::format(" with scheduling seed {}", *execute_options.emu_seed) : "",
          record.reason));
    }
  }
}

Tally check_variant(Worker& worker, const CatalogEntry& entry, Backend backend,
                    const VerifyOptions& options) {
  Tally tally;
  const Variant& variant = *entry.on(backend);
  for (std::size_t t = 0; t < kTypeCount; ++t)
    for (std::size_t o = 0; o < kOpCount; ++o)
      if (variant.enqueue[t][o] != nullptr)
        for (const Case& c : cases_of(entry, backend, static_cast<Type>(t), static_cast<Op>(o),
                                      options, worker.traits()))
          check_case(worker, c, options, tally);
  for (const auto& [setting, ran] : tally.settings)
    if (!ran)
      tally.failures.push_back(
          fmt::format("{}{}: every case was skipped, so nothing is known", variant.id, setting));
  // The emulator can schedule any race into view; on hardware a race may never show.
  for (const auto& [reason, shown] : tally.defects)
    if (!shown && backend == Backend::kEmu)
      tally.failures.push_back(fmt::format(
          "{}: documented as wrong ({}), but every result was right", variant.id, reason));
  return tally;
}

int verify(const VerifyOptions& options) {
  const auto entries =
      select_variants(options.filter.empty() ? std::vector<std::string>{"*"} : options.filter);
  std::vector<Backend> backends;
  const CudaStatus cuda = cuda_status();
  if (!options.backend.empty()) {
    backends = {static_cast<Backend>(*find_name(kBackendNames, options.backend))};
    if (backends[0] == Backend::kCuda && !cuda.unavailable.empty())
      throw UsageError(fmt::format("--backend cuda: {}; use --backend emu", cuda.unavailable));
  } else {
    backends = {cuda.unavailable.empty() ? Backend::kCuda : Backend::kEmu, Backend::kCpu};
    fmt::print(stderr, "backends {} and cpu{}\n", name_of(backends[0]),
               cuda.unavailable.empty() ? "" : ": " + cuda.unavailable);
  }
  if (options.device && backends[0] != Backend::kCuda)
    throw UsageError(
        fmt::format("--device {}: nothing runs on cuda; leave --device out", *options.device));
  if (options.device && static_cast<std::size_t>(*options.device) >= cuda.devices.size())
    throw UsageError(
        fmt::format("--device {}: no such device, {} visible; 'reduce-bench info' lists them",
                    *options.device, cuda.devices.size()));
  unsigned checked = 0, failed = 0;
  Json report = Json::array();
  for (const Backend backend : backends) {
    Worker worker(backend, options.device.value_or(0));
    for (const CatalogEntry* entry : entries) {
      if (entry->on(backend) == nullptr) continue;
      const Tally tally = check_variant(worker, *entry, backend, options);
      ++checked;
      if (!tally.failures.empty()) ++failed;
      if (options.as_json) {
        report.push_back({{"variant", entry->variant.id},
                          {"backend", name_of(backend)},
                          {"passed", tally.passed},
                          {"known_wrong", tally.known_wrong},
                          {"skipped", tally.skipped},
                          {"deterministic", tally.deterministic},
                          {"failures", tally.failures}});
        continue;
      }
      fmt::print("{:<30} {:<5} {:>5} right{}{}{}{}\n", entry->variant.id, name_of(backend),
                 tally.passed,
                 tally.known_wrong > 0 ? fmt::format(", {} wrong (known)", tally.known_wrong) : "",
                 tally.skipped > 0 ? fmt::format(", {} skipped", tally.skipped) : "",
                 tally.deterministic ? "" : ", run-to-run not deterministic",
                 tally.failures.empty() ? "" : fmt::format(", {} WRONG", tally.failures.size()));
      for (std::size_t i = 0; i < tally.failures.size() && i < 5; ++i)
        fmt::print("  {}\n", tally.failures[i]);
      if (tally.failures.size() > 5) fmt::print("  and {} more\n", tally.failures.size() - 5);
      std::fflush(stdout);
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
