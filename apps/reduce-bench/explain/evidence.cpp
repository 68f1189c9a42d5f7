#include "explain/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "common/error.hpp"
#include "common/text.hpp"
#include "devices/gpu_counts.hpp"
#include "results/counted.hpp"
#include "results/measured.hpp"
#include "results/results.hpp"

namespace reduce_bench {
namespace {

void read_counters(const Node& node, Evidence& evidence) {
  if (node.is_null()) {
    evidence.uncounted = "the run counted nothing: --counters does";
    return;
  }
  for (const auto& [name, counter] : node.members()) {
    const Node count = counter.at("count");
    if (!count.is_null()) evidence.counts[name] = static_cast<double>(count.integer(0, kMostCount));
    else if (name == kAllCounters) evidence.uncounted = counter.at("unavailable").string();
  }
  if (!evidence.counts.empty()) evidence.counted_by = CountedBy::kGpu;
}

/// The launches of one call: what the profiler saw or what the variant logged, which includes fills,
/// whichever is more.
double launches(const Node& point) {
  double count = 1;
  for (const char* of : {"code", "launch"})
    if (point.has(of) && !point.at(of).is_null())
      count =
          std::max(count, static_cast<double>(point.at(of).at("kernels").integer(0, kMostCount)));
  return count;
}

/// The rate of device memory in the largest read stream. Its time is taken without the launch, and its
/// bytes with those that the overwriting of L2 left to be written back.
double memory_gb_per_s(const Ceilings& ceilings, double flush_written_bytes) {
  double rate = 0;
  for (const Ceilings::Read& read : ceilings.reads)
    if (const double ns = read.median_ns - ceilings.empty_launch_ns; ns > 0)
      rate = (static_cast<double>(read.size_bytes) + flush_written_bytes) / ns;
  return rate;
}

AllEvidence read_results(const Json& document, const std::string& name) {
  parse_run(document, name);  // refuses what is no results file
  const Node root{document, "", name};
  AllEvidence all;
  for (const Node& node : root.at("points").elements(0)) {
    const MeasuredPoint measured = read_point(node);
    const auto timed = measured.timing.find(node.at("primary_mode").string());
    if (!measured.ranked() || timed == measured.timing.end() ||
        node.at("backend").string() != name_of(Backend::kCuda))
      continue;
    Evidence evidence{.point = read_identity(node),
                      .time_ns = timed->second.median_ns,
                      .sm_clock_mhz = timed->second.sm_clock_mhz,
                      .kernels = launches(node)};
    if (node.has("counters")) read_counters(node.at("counters"), evidence);
    else evidence.uncounted = "the file is older than counters of GPUs";
    all.points.push_back(std::move(evidence));
  }
  if (const Node of_all = root.at("ceilings"); of_all.has("cuda")) {
    const Ceilings ceilings = read_ceilings(of_all.at("cuda"));
    all.limits.empty_launch_ns = ceilings.empty_launch_ns;
    all.limits.further_launch_ns = ceilings.further_launch_ns;
    double flush_written_bytes = 0;
    for (const Evidence& each : all.points)
      if (const auto written = each.sum({kFlushWrittenBytes}))
        flush_written_bytes = std::max(flush_written_bytes, *written);
    all.limits.memory_gb_per_s = memory_gb_per_s(ceilings, flush_written_bytes);
  }
  if (const Node floor = root.at("noise_floor").at("relative"); !floor.is_null())
    all.limits.noise_floor = floor.number(0, kMostNs, false);
  if (const Node gpu = root.at("environment").at("gpu"); !gpu.is_null())
    all.limits.sm_count = static_cast<double>(gpu.at("sm_count").integer(1, kMostCount));
  return all;
}

AllEvidence read_counts(const Json& document, const std::string& name) {
  AllEvidence all;
  for (const auto& [identity, counted] : parse_counted(document, name).points) {
    if (counted.counts.empty()) continue;
    Evidence evidence{.point = identity, .counted_by = CountedBy::kEmulator};
    for (const auto& [metric, count] : counted.counts)
      evidence.counts[metric] = static_cast<double>(count);
    all.points.push_back(std::move(evidence));
  }
  return all;
}

/// What two points of one problem have in common.
auto problem_of(const PointIdentity& point) {
  return std::tuple(point.n, point.operation, point.backend, point.buckets, point.type, point.op,
                    point.distribution, point.labels);
}
using ProblemKey = decltype(problem_of(PointIdentity{}));

bool is_better(const Evidence& a, const Evidence& b) {
  const bool counted_a = a.counted_by != CountedBy::kNobody,
             counted_b = b.counted_by != CountedBy::kNobody;
  if (counted_a != counted_b) return counted_a;
  return a.time_ns && b.time_ns && *a.time_ns < *b.time_ns;
}

}  // namespace

std::optional<double> Evidence::sum(std::initializer_list<std::string_view> names) const {
  double total = 0;
  for (const std::string_view name : names) {
    const auto count = counts.find(std::string(name));
    if (count == counts.end()) return std::nullopt;
    total += count->second;
  }
  return total;
}

AllEvidence read_evidence(const Json& document, const std::string& name) {
  return is_counts_document(document) ? read_counts(document, name) : read_results(document, name);
}

std::vector<Evidence> choose_problem(const AllEvidence& all, std::span<const std::string> variants,
                                     std::optional<std::uint64_t> n, const std::string& name) {
  std::vector<ProblemKey> order;
  std::map<ProblemKey, std::map<std::string, const Evidence*>> problems;
  for (const Evidence& each : all.points) {
    if ((n && each.point.n != *n) ||
        std::find(variants.begin(), variants.end(), each.point.variant) == variants.end())
      continue;
    const ProblemKey key = problem_of(each.point);
    auto& of_problem = problems[key];
    if (of_problem.empty()) order.push_back(key);
    const Evidence*& best = of_problem[each.point.variant];
    if (best == nullptr || is_better(each, *best)) best = &each;
  }
  const std::set<std::string> distinct(variants.begin(), variants.end());
  const std::map<std::string, const Evidence*>* chosen = nullptr;
  std::pair<bool, std::uint64_t> best_rank;
  for (const ProblemKey& key : order) {
    const auto& of_problem = problems.at(key);
    if (of_problem.size() < distinct.size()) continue;
    const bool counted = std::all_of(of_problem.begin(), of_problem.end(), [](const auto& each) {
      return each.second->counted_by != CountedBy::kNobody;
    });
    const std::pair rank(counted, std::get<0>(key));
    if (chosen == nullptr || rank > best_rank) {
      chosen = &of_problem;
      best_rank = rank;
    }
  }
  if (chosen == nullptr)
    throw UsageError(fmt::format(
        "'{}' has no problem{} that was measured of all of {}: name variants that one run "
        "measured, or run them together",
        name, n ? fmt::format(" of {} elements", size_text(*n)) : "", fmt::join(variants, ", ")));
  std::vector<Evidence> evidence;
  for (const std::string& variant : variants) evidence.push_back(*chosen->at(variant));
  return evidence;
}

}  // namespace reduce_bench
