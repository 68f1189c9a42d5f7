// reduce-bench show ID: one variant explained, from the header comment of its source file.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "commands/commands.hpp"
#include "commands/emulated_counts.hpp"
#include "common/error.hpp"
#include "common/text.hpp"
#include "plan/plan.hpp"
#include "plan/variants.hpp"
#include "worker/workers.hpp"

namespace reduce_bench {
namespace {

/// Most defects depend on the form, and a large float sum escapes none of these. A defect of the
/// default form depends on what is summed instead.
void show_defects(const Variant& variant) {
  constexpr std::size_t kLarge = 1000003, kLargest = std::size_t{1} << 30;
  const DeviceTraits device;
  const auto defect_of = [&](const Params& params, std::size_t n, std::string_view distribution) {
    const Problem problem{.operation = variant.operation,
                          .n = n,
                          .buckets = has_labels(variant.operation) ? std::size_t{256} : 0,
                          .type = has_values(variant.operation) ? Type::kF32 : Type::kU32,
                          .op = default_op(variant.operation),
                          .distribution = distribution,
                          .params = params,
                          .device = device};
    const auto defect = variant.defect(problem);
    return defect ? defect->reason : std::string();
  };
  std::set<std::string> of_defaults;
  for (const auto& [n, distribution] : {std::pair(kLarge, "uniform"),
                                        {kLarge, "zeros"},
                                        {kLarge, "extremes"},
                                        {kLargest, "uniform"}}) {
    const std::string reason = defect_of(default_params(variant), n, distribution);
    if (!reason.empty() && of_defaults.insert(reason).second)
      fmt::print("Known wrong with n={} and distribution={}: {}\n", size_text(n), distribution,
                 reason);
  }
  for (const ParamSpec& spec : variant.params)
    for (const std::string& value : spec.allowed) {
      if (value == spec.default_value) continue;
      Params params = default_params(variant);
      params.set(spec.name, value);
      const std::string reason = defect_of(params, kLarge, "uniform");
      if (!reason.empty() && !of_defaults.contains(reason))
        fmt::print("Known wrong with {}={}: {}\n", spec.name, value, reason);
    }
}

int show(const std::string& id, bool as_json) {
  const CatalogEntry& entry = find_variant(id);
  if (as_json) {
    fmt::print("{}\n", json_text(to_json(entry), 2));
    return 0;
  }
  const Variant& variant = entry.variant;
  // What is not of the catalog has no header comment that says these.
  if (!descriptions().contains(variant.id))
    fmt::print("{}: {}\n\nSource: {}\n", variant.id, variant.title, variant.source);
  if (entry.plugin != nullptr)
    fmt::print("Plug-in: {}, version {}, checksum {}\n", entry.plugin->name, entry.plugin->version,
               entry.plugin->checksum);
  fmt::print("{}", entry.description);
  std::string backends;
  for (std::size_t b = 0; b < kBackendCount; ++b)
    if (entry.declared[b])
      backends += fmt::format("{}{}{}", backends.empty() ? "" : ", ", kBackendNames[b],
                              entry.built[b] == nullptr ? " (not in this build)" : "");
  fmt::print(
      "\nOperation: {}\nBackends: {}\nFidelity: {}\nOrder: {}\nFinishes on: {}\n",
      name_of(variant.operation), backends, name_of(variant.fidelity),
      !has_operator(variant.operation) ? "no operator"
      : variant.preserves_order()      ? "preserved; any associative operator"
                                       : "not preserved; the operator must commute",
      variant.finish == Finish::kHost ? "the host (the copy is part of its time)" : "the device");
  if (!variant.params.empty()) fmt::print("Parameters:\n");
  for (const ParamSpec& spec : variant.params)
    fmt::print("  {}={}  {}; allowed: {}{}\n", spec.name, spec.default_value, spec.meaning,
               fmt::join(spec.allowed, ", "),
               spec.cuda_only.empty()
                   ? ""
                   : fmt::format("; on cuda alone: {}", fmt::join(spec.cuda_only, ", ")));
  if (variant.defect != nullptr) show_defects(variant);
  return 0;
}

/// The counts in columns, without those that are 0 everywhere.
void print_counts(const std::vector<emu::CountedPlace>& places) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < emu::kMetricNames.size(); ++i)
    if (std::any_of(places.begin(), places.end(),
                    [&](const emu::CountedPlace& place) { return place.counts[i] != 0; }))
      shown.push_back(i);
  for (const emu::CountedPlace& place : places) {
    fmt::print("  {}\n", place.where);
    for (const std::size_t i : shown)
      if (place.counts[i] != 0)
        fmt::print("    {:<30} {:>12}\n", emu::kMetricNames[i], place.counts[i]);
  }
}

/// What the variant's kernels do at each line of their source, counted on the emulator.
int show_counts(const std::string& id) {
  const Record record = count_on_emulator("show --counts", id, emu::Tracing::kCountsByPlace);
  std::vector<emu::CountedPlace> places = record.counted;
  std::stable_sort(places.begin(), places.end(), [](const auto& a, const auto& b) {
    return std::tie(a.kernel, a.where) < std::tie(b.kernel, b.where);
  });
  fmt::print("{}\n", describe(record.point));
  while (!places.empty()) {
    const auto last = std::find_if(places.begin(), places.end(), [&](const auto& place) {
      return place.kernel != places.front().kernel;
    });
    emu::CountedPlace all{.where = "the whole kernel"};
    std::vector<emu::CountedPlace> of_kernel(places.begin(), last);
    for (const auto& place : of_kernel) emu::add(all.counts, place.counts);
    fmt::print("\n{}\n", places.front().kernel);
    of_kernel.insert(of_kernel.begin(), all);
    print_counts(of_kernel);
    places.erase(places.begin(), last);
  }
  return kExitGood;
}

}  // namespace

void add_show(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("show", "One variant explained: source, idea, traffic, deviations");
  auto id = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  auto plugins = std::make_shared<std::vector<std::string>>();
  add_plugin_option(*command, *plugins);
  command->add_flag("--json", *as_json, "An object instead of text");
  auto counts = std::make_shared<bool>(false);
  command->add_flag("--counts", *counts,
                    "What its kernels do at each line of their source, counted on the emulator");
  command->add_option("id", *id, "The variant's id")->required();
  command->footer(
      "Examples:\n"
      "  reduce-bench show harris/3\n"
      "  reduce-bench show harris/1 --counts");
  command->callback([=, &action] {
    action = [=] {
      add_plugins(*plugins);
      return *counts ? show_counts(*id) : show(*id, *as_json);
    };
  });
}

}  // namespace reduce_bench
