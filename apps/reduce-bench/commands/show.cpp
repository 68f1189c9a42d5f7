// reduce-bench show ID: one variant explained, from the header comment of its source file.

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "plan/plan.hpp"
#include "plan/variants.hpp"

namespace reduce_bench {
namespace {

int show(const std::string& id, bool as_json) {
  const CatalogEntry& entry = find_variant(id);
  if (as_json) {
    fmt::print("{}\n", to_json(entry).dump(2));
    return 0;
  }
  const Variant& variant = entry.variant;
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
    fmt::print("  {}={}  {}; allowed: {}\n", spec.name, spec.default_value, spec.meaning,
               fmt::join(spec.allowed, ", "));
  // Defects depend on the form; the problem shown is a large float sum, which none escapes.
  const DeviceTraits device;
  Params params = default_params(variant);
  const auto show_defect = [&](const std::string& setting) {
    const Problem problem{.operation = variant.operation,
                          .n = 1000003,
                          .buckets = has_labels(variant.operation) ? std::size_t{256} : 0,
                          .type = has_values(variant.operation) ? Type::kF32 : Type::kU32,
                          .op = default_op(variant.operation),
                          .params = params,
                          .device = device};
    if (const auto defect = variant.defect(problem))
      fmt::print("Known wrong with {}: {}\n", setting, defect->reason);
  };
  if (variant.defect != nullptr) {
    for (const ParamSpec& spec : variant.params) {
      for (const std::string& value : spec.allowed) {
        params = default_params(variant);
        params.set(spec.name, value);
        if (value != spec.default_value) show_defect(spec.name + "=" + value);
      }
    }
  }
  return 0;
}

}  // namespace

void add_show(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("show", "One variant explained: source, idea, traffic, deviations");
  auto id = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "An object instead of text");
  command->add_option("id", *id, "The variant's id")->required();
  command->footer("Example: reduce-bench show harris/3");
  command->callback([=, &action] { action = [=] { return show(*id, *as_json); }; });
}

}  // namespace reduce_bench
