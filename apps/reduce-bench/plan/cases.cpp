#include "plan/cases.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace reduce_bench {
namespace {

/// Enough for several blocks of every size, and a multiple of nothing.
constexpr std::size_t kSomeBlocks = 4099;

bool is_number(const std::string& value) {
  return value.find_first_not_of("0123456789") == std::string::npos;
}

/// Whether an axis says how many threads a block has.
bool is_block_size(const std::string& axis) { return axis == "block" || axis == "tile"; }

std::set<std::size_t> sizes_to_check(const Subject& subject) {
  std::set<std::size_t> sizes{0, 1, 2, 31, 33, 256, 1000, 1024, kSomeBlocks};
  // More than one chunk of the parallel sum.
  if (subject.backend == Backend::kCpu) sizes.insert(132001);
  if (!subject.full) return sizes;
  // Both sides of every power of two, as far as the backend is quick, and primes between them.
  const unsigned last = subject.backend == Backend::kEmu ? 13 : 22;
  for (unsigned e = 1; e <= last; ++e)
    for (const std::size_t n :
         {(std::size_t{1} << e) - 1, std::size_t{1} << e, (std::size_t{1} << e) + 1})
      sizes.insert(n);
  sizes.insert({3, 7, 97, 257, 769, 1531, 3079, 6151});
  // Both sides of where a tile or a grid ends, in units of every block size the variant has.
  for (const ParamSpec& spec : subject.entry.variant.params)
    if (is_block_size(spec.name))
      for (const std::string& value : spec.allowed)
        if (is_number(value))
          for (const std::size_t tiles : {1u, 2u, 3u, 8u})
            for (const int off : {-1, 0, 1})
              sizes.insert(std::stoul(value) * tiles + static_cast<std::size_t>(off));
  if (subject.backend != Backend::kEmu) sizes.insert({5533214, 132001, 1299709});
  return sizes;
}

/// Every setting that differs from the defaults: all combinations of the axes whose values are
/// names (forms, trees) and of the number of devices, then every value of the numeric axes, one axis
/// at a time. A number that the
/// variant chooses itself by default, `auto`, is none the less a number.
std::vector<Params> other_settings(const Variant& variant, Backend backend) {
  const auto is_numeric = [](const ParamSpec& spec) {
    return spec.name != "devices" &&
           std::any_of(spec.allowed.begin(), spec.allowed.end(), is_number);
  };
  std::vector<Params> settings{default_params(variant)};
  for (const ParamSpec& spec : variant.params) {
    if (is_numeric(spec)) continue;
    std::vector<Params> next;
    for (const Params& base : settings) {
      for (const std::string& value : spec.allowed) {
        if (!spec.runs_on(backend, value)) continue;
        next.push_back(base);
        next.back().set(spec.name, value);
      }
    }
    settings = std::move(next);
  }
  std::erase(settings, default_params(variant));
  for (const ParamSpec& spec : variant.params) {
    if (!is_numeric(spec)) continue;
    for (const std::string& value : spec.allowed) {
      if (value == spec.default_value || !spec.runs_on(backend, value)) continue;
      settings.push_back(default_params(variant));
      settings.back().set(spec.name, value);
    }
  }
  return settings;
}

/// The labels over which keyed operations may stumble.
std::vector<LabelDistribution> label_distributions(bool full) {
  using Kind = LabelDistribution::Kind;
  std::vector<LabelDistribution> all;
  for (std::size_t kind = 0; kind < LabelDistribution::kDrawn; ++kind)
    all.push_back({.kind = static_cast<Kind>(kind)});
  // Runs longer than a counter of one byte counts, and longer than a block.
  all.push_back({.kind = Kind::kRuns, .length = 1500});
  if (full) {
    all.push_back({.kind = Kind::kRuns, .length = 3});
    all.push_back({.kind = Kind::kZipf, .exponent = 2});
  }
  return all;
}

/// Collects the cases of one type and operator.
class CaseList {
 public:
  CaseList(const Subject& subject, Type type, Op op)
      : subject_(subject),
        variant_(subject.races ? subject.variant() : subject.entry.variant),
        type_(type),
        op_(op),
        keyed_(has_labels(variant_.operation)),
        main_type_(is_main_type()),
        main_op_(op == default_op(variant_.operation)),
        plain_(main_op_ && (main_type_ || type == Type::kF64)),
        few_((subject.backend == Backend::kEmu || subject.backend == Backend::kOpencl) &&
             !subject.full),
        thorough_(!few_ || plain_ || is_first_of_its_like()),
        defaults_(default_params(variant_)),
        other_settings_(other_settings(variant_, subject.backend)),
        large_(large_size(subject.backend)),
        many_(many_buckets()),
        awkward_(subject.full ? std::vector<std::size_t>{33, 1009, kSomeBlocks}
                              : std::vector<std::size_t>{1009, kSomeBlocks}),
        awkward_for_inputs_(thorough_ ? awkward_ : std::vector<std::size_t>{kSomeBlocks}) {}

  void add_sizes() {
    for (const std::size_t n : sizes_to_check(subject_)) add({.n = n});
  }

  void add_distributions_of_values() {
    if (!has_values(variant_.operation)) return;
    for (std::size_t kind = 0; kind < Distribution::kNames.size(); ++kind) {
      const Distribution distribution{.kind = static_cast<Distribution::Kind>(kind)};
      if (distribution == Distribution{} || !suits(distribution)) continue;
      // Which values an access carries is nothing to sanitizers, but that sums overflow is.
      if (kSanitized && distribution.kind != Distribution::Kind::kExtremes) continue;
      for (const std::size_t n : awkward_for_inputs_) add({.n = n, .distribution = distribution});
      if (distribution.kind != Distribution::Kind::kWild &&
          distribution.kind != Distribution::Kind::kSpecials)
        continue;
      // The seed, and with it the kind of values, goes with n.
      for (std::size_t more = 1; more < kKindsBySeed; ++more)
        for (const std::size_t n : awkward_for_inputs_)
          add({.n = n + more, .distribution = distribution});
    }
  }

  void add_large_size_and_borders() {
    if (!plain_) return;
    add({.n = large_});
    if (variant_.borders == nullptr) return;
    const Problem any{.operation = variant_.operation,
                      .buckets = keyed_ ? many_ : 0,
                      .type = type_,
                      .op = op_,
                      .params = defaults_,
                      .device = subject_.traits};
    // Beyond a border there may be whole pieces of work only, or a rest besides.
    for (const std::size_t border : variant_.borders(any))
      for (const std::size_t n : {border, border + 1, border + 1009}) add({.n = n});
  }

  void add_settings() {
    // Every setting of every type and operator is a program for the device's compiler.
    if (few_ && !plain_ && subject_.backend == Backend::kOpencl) return;
    for (const Params& params : other_settings_) {
      // First, since a defect that neutral elements or wrapping sums show need not be looked for in
      // the uniform cases, under one schedule after another.
      if (variant_.defect != nullptr)
        add({.n = kSomeBlocks,
             .distribution = {.kind = Distribution::Kind::kExtremes},
             .params = &params});
      for (const std::size_t n : awkward_for_inputs_) add({.n = n, .params = &params});
      if (!thorough_) continue;
      add({.n = 1024, .params = &params});  // whole blocks of every size
      for (const ParamSpec& spec : variant_.params)
        if (is_block_size(spec.name) && params.is_number(spec.name))
          add({.n = params.number(spec.name) - 1, .params = &params});
      if (main_type_ && main_op_) add({.n = large_, .params = &params});
      if (subject_.full)
        add({.n = kSomeBlocks,
             .distribution = {.kind = Distribution::Kind::kRamp},
             .params = &params});
    }
  }

  void add_labels_and_buckets() {
    if (!keyed_) return;
    using Kind = LabelDistribution::Kind;
    // On the emulator, variants with a block for each bucket, or with a pass over the inputs for
    // every few buckets, take seconds for thousands of buckets: unless `--full` asks for more, one
    // case has that many.
    const std::size_t too_many = few_ ? 1021 : 5003;
    if (many_ > 1) add_label_distributions();
    for (const std::size_t buckets : {1u, 2u, 31u, 33u, 255u, 257u})
      for (const std::size_t n : awkward_for_inputs_) add({.n = n, .buckets = buckets});
    // This project's own variants order inputs of so many buckets, which a setting may be there for:
    // with every type and operator, since a table of one is nothing to another.
    if (variant_.fidelity == Fidelity::kBeyond)
      for (const Params& params : other_settings_)
        add({.n = kSomeBlocks, .buckets = 5003, .params = &params});
    if (!thorough_) {
      for (const Params& params : other_settings_)
        add({.n = kSomeBlocks, .labels = {.kind = Kind::kRuns}, .params = &params});
      return;
    }
    for (const std::size_t n : awkward_) add({.n = n, .buckets = too_many});
    if (few_ && main_type_ && main_op_) add({.n = 1009, .buckets = 5003});
    if (subject_.full)
      for (const std::size_t n : {0u, 1u})
        for (const std::size_t buckets : {1u, 2u, 5003u}) add({.n = n, .buckets = buckets});
    // This project's own variants choose their algorithm by the number of buckets and by how often
    // labels occur.
    if (plain_ && variant_.fidelity == Fidelity::kBeyond)
      for (const LabelDistribution& labels : label_distributions(subject_.full))
        add({.n = large_, .buckets = 5003, .labels = labels});
    // So few inputs have atomics by default: the settings that keep to tables and partitions.
    if (plain_ && variant_.fidelity == Fidelity::kBeyond)
      for (const Params& params : other_settings_)
        if (keeps_to_tables(params))
          for (const LabelDistribution& labels : label_distributions(subject_.full)) {
            add({.n = large_, .buckets = 5003, .labels = labels, .params = &params});
            if (subject_.full)
              add({.n = large_, .buckets = 65537, .labels = labels, .params = &params});
          }
    // Every input in one bucket: counters overflow where they can.
    add({.n = large_, .labels = {.kind = Kind::kDegenerate}});
    // Where any of equal labels may win, a lost input shows only if no other has its label.
    if (plain_ && any_wins(defaults_))
      add({.n = large_, .buckets = large_, .labels = {.kind = Kind::kPermutation}});
    if (subject_.full) add({.n = large_, .buckets = 65537});
    // A setting acts alike on all types and operators, so where cases are few the main ones alone get
    // many buckets.
    const std::size_t many_by_setting = few_ && !(main_type_ && main_op_) ? 257 : too_many;
    for (const Params& params : other_settings_) {
      add({.n = kSomeBlocks, .buckets = 1, .params = &params});
      add({.n = kSomeBlocks, .buckets = many_by_setting, .params = &params});
      for (const Kind kind : {Kind::kDegenerate, Kind::kRuns})
        add({.n = kSomeBlocks, .labels = {.kind = kind}, .params = &params});
      if (main_type_ && main_op_ && any_wins(params))
        add({.n = large_,
             .buckets = large_,
             .labels = {.kind = Kind::kPermutation},
             .params = &params});
    }
  }

  /// Inputs that are aligned to their elements and no better.
  void add_misaligned() {
    const std::size_t n = plain_ ? 20011 : 1009;
    add({.n = n, .lead = {1, 1}});  // several blocks, each more than once
    if (variant_.correctly_rounded)
      add({.n = n, .distribution = {.kind = Distribution::Kind::kWild}, .lead = {1, 1}});
    if (subject_.full) add({.n = kSomeBlocks, .lead = {3, 3}});
    if (!keyed_ || !plain_) return;
    // Of two arrays one alone, too: a kernel may load both by what one of them allows.
    const bool two = has_values(variant_.operation);
    for (const Lead lead : two ? std::vector<Lead>{{1, 0}, {0, 1}} : std::vector<Lead>{{1, 1}}) {
      if (two) add({.n = n, .lead = lead});
      if (variant_.fidelity != Fidelity::kBeyond) continue;
      add({.n = large_, .buckets = 5003, .lead = lead});
      for (const Params& params : other_settings_)
        if (keeps_to_tables(params))
          add({.n = large_, .buckets = 5003, .params = &params, .lead = lead});
    }
  }

  /// What a kernel orders depends on its path, not on the values, but for sums that are rounded once: one
  /// input to several blocks, more than the device holds at once, every setting, and labels that
  /// meet in a bucket and do not.
  void add_for_races() {
    using Kind = LabelDistribution::Kind;
    for (const std::size_t n : {std::size_t{1}, std::size_t{33}, std::size_t{1009}, kSomeBlocks})
      add({.n = n});
    // Loops run many rounds where the device has one SM, and where it has many, as a GPU has, more
    // blocks leave results than one warp folds. Labels of a byte are read by words.
    const std::size_t many = (size_bytes(type_) == 1 ? 40 : 10) * kSomeBlocks;
    if (plain_) add({.n = many, .sm_count = 1});
    if (plain_ && main_type_) add({.n = many, .sm_count = 64});
    for (const Params& params : other_settings_) add_where_allowed(params);
    const Distribution wild{.kind = Distribution::Kind::kWild};
    if (variant_.correctly_rounded) {
      add({.n = many, .distribution = wild});
      if (keyed_) add({.n = many, .distribution = wild, .labels = {.kind = Kind::kSorted}});
    }
    if (!keyed_) return;
    for (const Kind kind : {Kind::kDegenerate, Kind::kSorted, Kind::kZipf})
      add({.n = 1009, .labels = {.kind = kind}});
    for (const std::size_t buckets : {std::size_t{1}, std::size_t{33}, std::size_t{1021}})
      add({.n = 1009, .buckets = buckets});
    // More than a block has threads; several times as many where an algorithm is chosen by it.
    if (plain_)
      add({.n = kSomeBlocks, .buckets = variant_.fidelity == Fidelity::kBeyond ? 5003u : 1031u});
    // Sets of buckets that together are more than the blocks of the one SM hold at once.
    if (plain_ && main_type_) add({.n = 1009, .buckets = 3001, .sm_count = 1});
  }

  std::vector<Case> take() {
    std::erase_if(cases_, [&](const Case& c) { return !suits(c.point.distribution); });
    return std::move(cases_);
  }

 private:
  bool suits(const Distribution& distribution) const {
    return unsuited(distribution, op_, type_, variant_.correctly_rounded).empty();
  }

  /// What a case does not name is the usual: many buckets, uniform inputs, default parameters.
  struct Inputs {
    std::size_t n = 0;
    std::optional<std::size_t> buckets;
    Distribution distribution;
    LabelDistribution labels;
    const Params* params = nullptr;
    Lead lead;
    std::optional<unsigned> sm_count;
  };

  void add(const Inputs& inputs) {
    cases_.push_back({.point = {.index = cases_.size(),
                                .entry = &subject_.entry,
                                .backend = subject_.backend,
                                .n = inputs.n,
                                .buckets = keyed_ ? inputs.buckets.value_or(many_) : 0,
                                .type = type_,
                                .op = op_,
                                .distribution = inputs.distribution,
                                .labels = inputs.labels,
                                .params = inputs.params == nullptr ? defaults_ : *inputs.params,
                                .seed = 1 + inputs.n,  // other values for every size
                                .measurement = {}},
                      .lead = inputs.lead,
                      .sm_count = inputs.sm_count});
  }

  /// Several blocks of inputs under the setting, on each device where it names some, or as many as it
  /// takes.
  void add_where_allowed(const Params& params) {
    const bool spread = params.has("devices") && !params.is("devices", "1");
    for (const std::size_t n : {spread ? 2 * kSomeBlocks : 1009, std::size_t{33}})
      for (const std::size_t buckets : {many_, std::size_t{33}}) {
        Point point{.entry = &subject_.entry,
                    .n = n,
                    .buckets = keyed_ ? buckets : 0,
                    .type = type_,
                    .op = op_,
                    .params = params};
        if (variant_.restriction != nullptr &&
            !variant_.restriction(point.problem(subject_.traits)).empty())
          continue;
        return add({.n = n, .buckets = buckets, .params = &params});
      }
  }

  void add_label_distributions() {
    for (const LabelDistribution& labels : label_distributions(subject_.full)) {
      for (const std::size_t n : awkward_for_inputs_) add({.n = n, .labels = labels});
      // Few buckets, and more than there are inputs.
      if (subject_.full)
        for (const std::size_t buckets : {2u, 257u, 10007u})
          add({.n = kSomeBlocks, .buckets = buckets, .labels = labels});
    }
  }

  /// Whether the type is the one of the extensive cases: the default, or the first that the variant
  /// provides instead.
  bool is_main_type() const {
    const Operation operation = variant_.operation;
    if (variant_.supports(default_type(operation), default_op(operation)))
      return type_ == default_type(operation);
    for (std::size_t t = 0; t < index_of(type_); ++t)
      if (variant_.supports(static_cast<Type>(t), default_op(operation))) return false;
    return true;
  }

  /// Whether no type of its size with an operator of its kind, which commutes or does not, comes
  /// before. What a kernel reads and writes, and in which order, depends on these two.
  bool is_first_of_its_like() const {
    const auto order = [](Type t, Op o) { return index_of(t) * kOpCount + index_of(o); };
    for (std::size_t t = 0; t < kTypeCount; ++t)
      for (std::size_t o = 0; o < kOpCount; ++o) {
        const auto type = static_cast<Type>(t);
        const auto op = static_cast<Op>(o);
        if (variant_.supports(type, op) && size_bytes(type) == size_bytes(type_) &&
            commutes(op) == commutes(op_) && order(type, op) < order(type_, op_))
          return false;
      }
    return true;
  }

  /// Buckets where the case is about something else: 256, as most histograms have, or as many as
  /// the variant does not refuse; fewer under sanitizers.
  std::size_t many_buckets() const {
    Point point{.entry = &subject_.entry, .type = type_, .op = op_, .params = defaults_};
    for (const std::size_t buckets : {kSanitized ? 64u : 256u, kSanitized ? 256u : 64u}) {
      point.buckets = buckets;
      if (variant_.restriction == nullptr ||
          variant_.restriction(point.problem(subject_.traits)).empty())
        return buckets;
    }
    return 1;
  }

  const Subject& subject_;
  const Variant& variant_;
  const Type type_;
  const Op op_;
  const bool keyed_;
  const bool main_type_, main_op_;
  const bool plain_;  ///< the default operator on the main type, or on f64
  const bool few_;    ///< on the emulator, which is slow, and where programs are compiled first
  /// Whether everything varies under every setting. Where there are few cases it does for the types and
  /// operators that stand for others.
  const bool thorough_;
  const Params defaults_;
  const std::vector<Params> other_settings_;
  const std::size_t large_;
  const std::size_t many_;
  const std::vector<std::size_t> awkward_;  ///< sizes at which the last block has a rest
  /// Those at which distributions, settings and numbers of buckets vary.
  const std::vector<std::size_t> awkward_for_inputs_;
  std::vector<Case> cases_;
};

}  // namespace

Problem Case::problem(DeviceTraits device) const {
  if (sm_count) device.sm_count = *sm_count;
  return point.problem(device);
}

std::size_t large_size(Backend backend) {
  // The build with sanitizers does what the one without does, in less time.
  switch (backend) {
    case Backend::kEmu: return kSanitized ? 30011 : 100003;
    case Backend::kCuda:
    case Backend::kOpencl: return 5533214;
    case Backend::kCpu: break;
  }
  return kSanitized ? 132001 : 1299709;
}

std::vector<Case> cases_of(const Subject& subject, Type type, Op op) {
  CaseList cases(subject, type, op);
  if (subject.races) {
    cases.add_for_races();
    return cases.take();
  }
  cases.add_sizes();
  cases.add_distributions_of_values();
  cases.add_large_size_and_borders();
  cases.add_settings();
  cases.add_labels_and_buckets();
  cases.add_misaligned();
  return cases.take();
}

}  // namespace reduce_bench
