#include "compare/thresholds.hpp"

#include <algorithm>

#include "common/error.hpp"
#include "common/names.hpp"
#include "plan/variants.hpp"

namespace reduce_bench {
namespace {

/// A threshold above 1 is most likely meant in per cent. It would let everything pass.
double read_threshold(const Node& node) {
  const Json& value = node.json();
  if (!value.is_number() || !(value > 0) || !(value <= 1))
    node.expected("a number above 0 and at most 1, where 0.03 is 3 %");
  return value.get<double>();
}

/// Refuses a glob that matches no variant: its limit would apply to nothing.
void check_glob(const Node& node) {
  const std::vector<std::string> globs{node.string()};
  try {
    select_variants(globs);
  } catch (const UsageError& error) {
    node.fail(error.what());
  }
}

}  // namespace

double Thresholds::of(const std::string& variant) const {
  for (const Limit& limit : limits)
    if (std::any_of(limit.variants.begin(), limit.variants.end(),
                    [&](const std::string& glob) { return glob_matches(glob, variant); }))
      return limit.threshold;
  return threshold;
}

Thresholds parse_thresholds(const Json& document, const std::string& name) {
  const Node root{document, "", name};
  static constexpr std::array kKeys{std::string_view{"$schema"}, std::string_view{"schema"},
                                    std::string_view{"description"}, std::string_view{"threshold"},
                                    std::string_view{"limits"}};
  root.check_keys(kKeys);
  root.at("schema").integer(1, 1);
  if (root.has("$schema")) root.at("$schema").string();
  if (root.has("description")) root.at("description").string();
  Thresholds thresholds;
  if (root.has("threshold")) thresholds.threshold = read_threshold(root.at("threshold"));
  if (!root.has("limits")) return thresholds;
  for (const Node& node : root.at("limits").elements()) {
    static constexpr std::array kLimitKeys{std::string_view{"variants"},
                                           std::string_view{"threshold"}};
    node.check_keys(kLimitKeys);
    thresholds.limits.push_back({.variants = node.at("variants").list([](const Node& glob) {
                                   check_glob(glob);
                                   return glob.string();
                                 }),
                                 .threshold = read_threshold(node.at("threshold"))});
  }
  return thresholds;
}

Thresholds read_thresholds(const std::filesystem::path& file) {
  return parse_thresholds(
      read_document(file, "the thresholds", "name a file such as configs/thresholds.json"),
      file.string());
}

}  // namespace reduce_bench
