// reduce-bench explain: why one variant is faster than another, in sentences made of numbers.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "commands/emulated_counts.hpp"
#include "common/error.hpp"
#include "explain/sentences.hpp"
#include "plan/variants.hpp"

namespace reduce_bench {
namespace {

struct ExplainOptions {
  std::vector<std::string> variants;
  std::string results, backend;
  std::optional<std::uint64_t> n;
};

/// The variants of the ids and globs, in the order named; those of a glob in catalog order.
std::vector<std::string> sequence_of(const std::vector<std::string>& names) {
  std::vector<std::string> ids;
  for (const std::string& name : names)
    for (const CatalogEntry* entry : select_variants(std::vector{name}))
      if (entry->declared[static_cast<std::size_t>(Backend::kCuda)])
        ids.emplace_back(entry->variant.id);
  if (ids.size() < 2)
    throw UsageError(fmt::format(
        "explain {}: a step is from one variant of a GPU to another; name two, or a glob such as "
        "'harris/*'",
        fmt::join(names, " ")));
  return ids;
}

/// Those of which the file has a point; says which it lacks.
std::vector<std::string> measured_of(const AllEvidence& all, const std::vector<std::string>& ids,
                                     const std::string& file) {
  std::vector<std::string> measured;
  for (const std::string& id : ids) {
    if (std::any_of(all.points.begin(), all.points.end(),
                    [&](const Evidence& each) { return each.point.variant == id; }))
      measured.push_back(id);
    else fmt::print(stderr, "left out: {}, which '{}' has no verified time of\n", id, file);
  }
  if (measured.size() < 2)
    throw UsageError(
        fmt::format("'{}' has no step between two of {}: measure them, or name other "
                    "results",
                    file, fmt::join(ids, ", ")));
  return measured;
}

/// Those that the emulator can count; says which it cannot. All, where fewer than two are left: the
/// first that it is asked for says why.
std::vector<std::string> traced_of(const std::vector<std::string>& ids) {
  std::vector<std::string> traced, others;
  for (const std::string& id : ids)
    (find_variant(id).traced != nullptr ? traced : others).push_back(id);
  if (traced.size() < 2) return ids;
  for (const std::string& id : others)
    fmt::print(stderr, "left out: {}, which the emulator does not run\n", id);
  return traced;
}

/// The evidence that the emulator counts now.
std::vector<Evidence> emulated(const std::vector<std::string>& ids,
                               std::optional<std::uint64_t> n) {
  std::vector<Evidence> sequence;
  for (const std::string& id : traced_of(ids)) {
    const Record record = count_on_emulator("explain", id, emu::Tracing::kCounts, n);
    Evidence evidence{.point = identity_of(record.point), .counted_by = CountedBy::kEmulator};
    for (std::size_t i = 0; i < emu::kMetricNames.size(); ++i)
      evidence.counts[std::string(emu::kMetricNames[i])] =
          static_cast<double>(record.counted.front().counts[i]);
    if (!sequence.empty() && sequence.front().point.operation != evidence.point.operation)
      throw UsageError(fmt::format("explain: {} and {} compute different things",
                                   sequence.front().point.variant, id));
    sequence.push_back(std::move(evidence));
  }
  return sequence;
}

int explain(const ExplainOptions& options) {
  if (options.results.empty() == options.backend.empty())
    throw UsageError(
        "explain: name the results with --results FILE, or --backend emu to count on the emulator "
        "now");
  if (!options.backend.empty() && options.backend != "emu")
    throw UsageError(fmt::format(
        "explain --backend {}: only emu counts by itself; of a GPU, name the results of "
        "'run --counters' with --results",
        options.backend));
  const std::vector<std::string> ids = sequence_of(options.variants);
  std::vector<Evidence> sequence;
  Limits limits;
  if (options.results.empty()) {
    sequence = emulated(ids, options.n);
  } else {
    const Json document =
        read_document(options.results, "the results", "name a file that 'reduce-bench run' wrote");
    const AllEvidence all = read_evidence(document, options.results);
    sequence =
        choose_problem(all, measured_of(all, ids, options.results), options.n, options.results);
    limits = all.limits;
  }
  fmt::print("{}", explain_steps(sequence, limits));
  return kExitGood;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "explain", "Why each variant of a sequence is faster than the last: what the numbers show");
  auto o = std::make_shared<ExplainOptions>();
  command->add_option("variants", o->variants, "Variants in order, or globs such as 'harris/*'")
      ->required();
  command->add_option("--results", o->results,
                      "Results of 'run', best with --counters, or of 'run --count'");
  command->add_option("--backend", o->backend, "emu: count on the emulator now, without a time");
  add_number(*command, "-n", {},
             "Elements (default: the most that all were measured with; 2^16 on emu)",
             [o](std::uint64_t n) { o->n = n; });
  command->footer(
      "Examples:\n"
      "  reduce-bench explain 'harris/[0-7]' --backend emu\n"
      "  reduce-bench run --config configs/quick.json --filter 'harris/*' --counters -o "
      "harris.json\n"
      "  reduce-bench explain 'harris/*' --results harris.json\n"
      "  reduce-bench explain harris/6 onepass/reduce --results results/nvidia-h200/quick.json");
  command->callback([=, &action] { action = [=] { return explain(*o); }; });
}

}  // namespace reduce_bench
