#include "plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "common/error.hpp"
#include "common/names.hpp"
#include "plan/identity.hpp"
#include "plan/variants.hpp"

namespace reduce_bench {
namespace {

/// Many hours of measuring. A short file can ask for far more than fit in memory.
constexpr std::size_t kMostPoints = 100000;

const ParamSpec* find_param(const Variant& variant, const std::string& name) {
  for (const ParamSpec& spec : variant.params)
    if (spec.name == name) return &spec;
  return nullptr;
}

/// The settings of one sweep's axes for one variant: the product of its parameters, zipped groups
/// advancing together. Parameters that the variant lacks are left out.
std::vector<Params> param_combinations(const Variant& variant, const Sweep& sweep) {
  std::vector<std::vector<std::string>> axes = sweep.zip;
  for (const auto& param : sweep.params) {
    const bool zipped = std::any_of(sweep.zip.begin(), sweep.zip.end(), [&](const auto& group) {
      return std::find(group.begin(), group.end(), param.first) != group.end();
    });
    if (!zipped) axes.push_back({param.first});
  }
  std::vector<Params> combinations{default_params(variant)};
  for (const std::vector<std::string>& axis : axes) {
    std::vector<Params> next;
    for (const Params& base : combinations) {
      for (std::size_t i = 0; i < sweep.params.at(axis[0]).size(); ++i) {
        Params params = base;
        for (const std::string& name : axis)
          if (find_param(variant, name) != nullptr) params.set(name, sweep.params.at(name)[i]);
        if (std::find(next.begin(), next.end(), params) == next.end()) next.push_back(params);
      }
    }
    combinations = std::move(next);
  }
  return combinations;
}

/// The variants that the globs of a sweep match. Throws UsageError that names the glob's place.
std::vector<const CatalogEntry*> variants_of(const Sweep& sweep) {
  for (std::size_t i = 0; i < sweep.variants.size(); ++i) {
    try {
      select_variants(std::span{sweep.variants}.subspan(i, 1));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}/variants/{}: {}", sweep.where, i, error.what()));
    }
  }
  return select_variants(sweep.variants);
}

void check_params(const Sweep& sweep, const std::vector<const CatalogEntry*>& entries) {
  for (const auto& [name, values] : sweep.params) {
    std::vector<std::string_view> known;
    std::set<std::string> allowed;
    for (const CatalogEntry* entry : entries) {
      for (const ParamSpec& spec : entry->variant.params) {
        known.push_back(spec.name);
        if (spec.name == name) allowed.insert(spec.allowed.begin(), spec.allowed.end());
      }
    }
    if (allowed.empty())
      throw UsageError(fmt::format("{}/params/{}: no variant of {} has a parameter '{}'{}",
                                   sweep.where, name, fmt::join(sweep.variants, ", "), name,
                                   suggestion(name, known)));
    for (const std::string& value : values) {
      if (allowed.contains(value)) continue;
      throw UsageError(fmt::format(
          "{}/params/{}: parameter '{}' cannot be {} in any variant of {}: allowed are {}",
          sweep.where, name, name, value, fmt::join(sweep.variants, ", "),
          fmt::join(allowed, ", ")));
    }
  }
}

/// What a plan leaves out, and why.
struct LeftOut {
  std::set<std::pair<Op, Type>> undefined;
  std::set<std::pair<std::string_view, Backend>> elsewhere;

  /// Some of the reasons, for a plan that is empty.
  std::string text() const {
    constexpr std::size_t kMost = 4;
    std::vector<std::string> reasons;
    for (const auto& [id, backend] : elsewhere)
      reasons.push_back(fmt::format("{} does not run on {}", id, name_of(backend)));
    for (const auto& [op, type] : undefined)
      reasons.push_back(fmt::format("'{}' is not defined on {}", name_of(op), name_of(type)));
    if (reasons.empty()) return "the filter keeps none of the configuration's variants";
    if (reasons.size() > kMost) {
      reasons.resize(kMost);
      reasons.push_back("and so on");
    }
    return fmt::format("{}", fmt::join(reasons, ", "));
  }
};

}  // namespace

std::string describe(const Point& point) { return identity_of(point).line(); }

Params default_params(const Variant& variant) {
  Params params;
  for (const ParamSpec& spec : variant.params) params.set(spec.name, spec.default_value);
  return params;
}

std::vector<Point> make_plan(const Config& config, const PlanOptions& options) {
  const std::vector<std::string> keep =
      options.filter.empty() ? std::vector<std::string>{"*"} : options.filter;
  select_variants(keep);  // complains about a filter that matches nothing at all
  std::vector<Point> points;
  // Sweeps may overlap: a point is measured once, as first asked for.
  std::map<PointIdentity, std::size_t> seen;
  LeftOut left_out;
  std::size_t group = 0, asked_for = 0;
  for (std::size_t number = 0; number < config.sweeps.size(); ++number) {
    const Sweep& sweep = config.sweeps[number];
    std::vector<const CatalogEntry*> entries = variants_of(sweep);
    std::erase_if(entries, [&](const CatalogEntry* entry) {
      return entry->variant.operation != sweep.operation;
    });
    if (entries.empty())
      throw UsageError(
          fmt::format("no variant of {} computes '{}': name their operation with 'operation', as "
                      "'reduce-bench list' shows it",
                      fmt::join(sweep.variants, ", "), name_of(sweep.operation)));
    check_params(sweep, entries);
    std::erase_if(entries, [&](const CatalogEntry* entry) {
      return std::none_of(keep.begin(), keep.end(), [&](const std::string& glob) {
        return glob_matches(glob, entry->variant.id);
      });
    });
    if (entries.empty()) continue;
    const std::vector<Backend>& backends =
        sweep.backends.empty() ? options.automatic : sweep.backends;
    const auto add_problem = [&](const Point& problem) {
      if (!defined_on(sweep.operation, problem.op, problem.type)) {
        left_out.undefined.emplace(problem.op, problem.type);
        return;
      }
      ++group;
      for (const CatalogEntry* entry : entries) {
        if (!entry->declared[index_of(problem.backend)]) {
          left_out.elsewhere.emplace(entry->variant.id, problem.backend);
          continue;
        }
        for (Params& params : param_combinations(entry->variant, sweep)) {
          if (++asked_for > kMostPoints)
            throw UsageError(
                fmt::format("{}: the plan is beyond {} points here: ask for fewer sizes, buckets, "
                            "types, operators or parameters, or split the configuration",
                            sweep.where, kMostPoints));
          Point point = problem;
          point.index = points.size();
          point.entry = entry;
          point.params = std::move(params);
          point.seed = options.seed;
          point.measurement = sweep.measurement;
          point.group = group;
          const auto [known, is_new] = seen.try_emplace(identity_of(point), points.size());
          if (is_new) points.push_back(std::move(point));
          std::vector<std::size_t>& sweeps = points[known->second].sweeps;
          if (sweeps.empty() || sweeps.back() != number) sweeps.push_back(number);
        }
      }
    };
    for (const Backend backend : backends)
      for (const std::size_t n : sweep.n)
        for (const std::size_t buckets : sweep.buckets)
          for (const LabelDistribution& labels : sweep.labels)
            for (const Type type : sweep.types)
              for (const Distribution& distribution : sweep.distributions)
                for (const Op op : sweep.ops)
                  add_problem({.backend = backend,
                               .n = n,
                               .buckets = buckets,
                               .type = type,
                               .op = op,
                               .distribution = distribution,
                               .labels = labels});
  }
  if (points.empty())
    throw UsageError(fmt::format("the plan is empty: {}; 'reduce-bench list' shows what runs where",
                                 left_out.text()));
  return points;
}

}  // namespace reduce_bench
