#include "plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "common/error.hpp"
#include "common/names.hpp"
#include "common/text.hpp"
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
    std::set<std::string_view> known;
    std::set<std::string> allowed;
    for (const CatalogEntry* entry : entries) {
      for (const ParamSpec& spec : entry->variant.params) {
        known.insert(spec.name);
        if (spec.name == name) allowed.insert(spec.allowed.begin(), spec.allowed.end());
      }
    }
    if (allowed.empty()) {
      const std::vector<std::string_view> names(known.begin(), known.end());
      throw UsageError(
          fmt::format("{}/params/{}: no variant of {} has a parameter '{}'{}{}", sweep.where, name,
                      some_of(sweep.variants), name, suggestion(name, names),
                      names.empty() ? ": leave it out" : ", allowed are " + one_of(names)));
    }
    for (const std::string& value : values) {
      if (allowed.contains(value)) continue;
      throw UsageError(fmt::format(
          "{}/params/{}: parameter '{}' cannot be {} in any variant of {}: allowed are {}",
          sweep.where, name, name, value, some_of(sweep.variants), fmt::join(allowed, ", ")));
    }
  }
}

bool runs_on_any(const CatalogEntry& entry, const std::vector<Backend>& backends) {
  return std::any_of(backends.begin(), backends.end(),
                     [&](Backend backend) { return entry.declared[index_of(backend)]; });
}

/// What a plan leaves out, and why.
class LeftOut {
 public:
  void undefined(Operation operation, Op op, Type type, std::size_t points) {
    undefined_[{op, type, operation}] += points;
  }
  void elsewhere(std::string_view id, Backend backend, std::size_t points) {
    Elsewhere& there = elsewhere_[backend];
    there.variants.emplace(id);
    there.points += points;
  }
  /// A sweep of which nothing is left, for want of variants that the filter keeps or for the reasons
  /// above.
  void sweep(bool filtered) { ++(filtered ? filtered_sweeps_ : sweeps_); }

  std::vector<std::string> clauses(std::size_t sweeps) const {
    std::vector<std::string> clauses;
    for (const auto& [backend, there] : elsewhere_)
      clauses.push_back(fmt::format(
          "{} of {} that {} not run on {}: {}", counted(there.points, "point"),
          counted(there.variants.size(), "variant"), there.variants.size() == 1 ? "does" : "do",
          name_of(backend), some_of(std::vector(there.variants.begin(), there.variants.end()))));
    std::size_t points = 0;
    for (const auto& [what, count] : undefined_) points += count;
    if (points > 0)
      clauses.push_back(fmt::format("{} of what no variant computes: {}", counted(points, "point"),
                                    some_of(why_undefined())));
    if (sweeps_ > 0)
      clauses.push_back(fmt::format("all points of {} of {}, for the reasons above", sweeps_,
                                    counted(sweeps, "sweep")));
    if (filtered_sweeps_ > 0)
      clauses.push_back(fmt::format("{} of {}, of whose variants the filter keeps none",
                                    filtered_sweeps_, counted(sweeps, "sweep")));
    return clauses;
  }

  /// Some of the reasons, for a plan that is empty.
  std::string text() const {
    std::vector<std::string> reasons = why_undefined();
    for (const auto& [backend, there] : elsewhere_)
      for (const std::string& id : there.variants)
        reasons.push_back(fmt::format("{} does not run on {}", id, name_of(backend)));
    return reasons.empty() ? "the filter keeps none of the configuration's variants"
                           : some_of(reasons);
  }

 private:
  /// Each reason once, though several types may have it.
  std::vector<std::string> why_undefined() const {
    std::vector<std::string> reasons;
    for (const auto& [what, unused] : undefined_)
      if (std::string why = what.why();
          std::find(reasons.begin(), reasons.end(), why) == reasons.end())
        reasons.push_back(std::move(why));
    return reasons;
  }

  struct Elsewhere {
    std::set<std::string> variants;
    std::size_t points = 0;
  };
  std::map<Backend, Elsewhere> elsewhere_;
  struct Undefined {
    Op op;
    Type type;
    Operation operation;

    std::string why() const {
      if (has_operator(operation) && op == Op::kNone)
        return fmt::format("a {} needs an operator", name_of(operation));
      if (!has_operator(operation) && op != Op::kNone)
        return fmt::format("a {} has no operator, so leave '{}' out", name_of(operation),
                           name_of(op));
      if (!defined_on(op, type))
        return fmt::format("'{}' is not defined on {}", name_of(op), name_of(type));
      return fmt::format("a {} does not take {}", name_of(operation), name_of(type));
    }
    auto operator<=>(const Undefined&) const = default;
  };
  std::map<Undefined, std::size_t> undefined_;
  std::size_t sweeps_ = 0, filtered_sweeps_ = 0;
};

}  // namespace

std::string describe(const Point& point) { return identity_of(point).line(); }

Params default_params(const Variant& variant) {
  Params params;
  for (const ParamSpec& spec : variant.params) params.set(spec.name, spec.default_value);
  return params;
}

Plan make_plan(const Config& config, const PlanOptions& options) {
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
                      some_of(sweep.variants), name_of(sweep.operation)));
    check_params(sweep, entries);
    std::erase_if(entries, [&](const CatalogEntry* entry) {
      return std::none_of(keep.begin(), keep.end(), [&](const std::string& glob) {
        return glob_matches(glob, entry->variant.id);
      });
    });
    const std::vector<Backend>& backends =
        sweep.backends.empty() ? options.automatic : sweep.backends;
    std::vector<std::vector<Params>> settings;  // of each entry
    for (const CatalogEntry* entry : entries)
      settings.push_back(param_combinations(entry->variant, sweep));
    bool is_planned = false;
    const auto add_problem = [&](const Point& problem) {
      const bool is_defined = defined_on(sweep.operation, problem.op, problem.type);
      if (is_defined) ++group;
      for (std::size_t i = 0; i < entries.size(); ++i) {
        const CatalogEntry* const entry = entries[i];
        if (!entry->declared[index_of(problem.backend)]) {
          // What runs on another backend of the sweep is not left out.
          if (!runs_on_any(*entry, backends))
            left_out.elsewhere(entry->variant.id, problem.backend, settings[i].size());
          continue;
        }
        if (!is_defined) {
          left_out.undefined(sweep.operation, problem.op, problem.type, settings[i].size());
          continue;
        }
        is_planned = true;
        for (const Params& params : settings[i]) {
          if (++asked_for > kMostPoints)
            throw UsageError(
                fmt::format("{}: the plan is beyond {} points here: ask for fewer sizes, buckets, "
                            "types, operators or parameters, or split the configuration",
                            sweep.where, kMostPoints));
          Point point = problem;
          point.index = points.size();
          point.entry = entry;
          point.params = params;
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
    if (!is_planned) left_out.sweep(entries.empty());
  }
  if (points.empty())
    throw UsageError(fmt::format("the plan is empty: {}; 'reduce-bench list' shows what runs where",
                                 left_out.text()));
  return {std::move(points), left_out.clauses(config.sweeps.size())};
}

}  // namespace reduce_bench
