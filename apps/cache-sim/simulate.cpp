// cache-sim simulate: one algorithm on one hierarchy.

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

#include "commands.hpp"
#include "common/error.hpp"
#include "common/names.hpp"
#include "common/pages.hpp"
#include "simulation.hpp"

namespace reduce_bench {
namespace {

struct Options {
  std::string hierarchy, algorithm, labels = "uniform", sort_bits, fetch = "free", output;
  std::uint64_t n = 0, buckets = 0, page_bytes = 0, seed = 1;
  bool as_json = false;
};

constexpr std::uint64_t kMostInputs = std::uint64_t{1} << 32;

Workload workload_of(const Options& options, const Algorithm& algorithm) {
  Workload workload{.n = options.n, .buckets = options.buckets, .seed = options.seed};
  const auto kind = find_name(LabelDistribution::kNames, options.labels);
  if (!kind || *kind >= LabelDistribution::kDrawn) {
    const std::span<const std::string_view> drawn(LabelDistribution::kNames.data(),
                                                  LabelDistribution::kDrawn);
    throw UsageError(fmt::format("--labels {}: no such distribution{}, choose {}", options.labels,
                                 suggestion(options.labels, drawn), one_of(drawn)));
  }
  workload.labels.kind = static_cast<LabelDistribution::Kind>(*kind);
  workload.sort_bits = options.sort_bits.empty() ? algorithm.default_sort_bits : options.sort_bits;
  if (!options.sort_bits.empty() && algorithm.default_sort_bits.empty())
    throw UsageError(fmt::format("--sort-bits {}: {} does not sort; leave it out",
                                 options.sort_bits, algorithm.id));
  if (!options.sort_bits.empty() && options.sort_bits != algorithm.default_sort_bits) {
    unsigned bits = 0;
    const char* const end = options.sort_bits.data() + options.sort_bits.size();
    const auto read = std::from_chars(options.sort_bits.data(), end, bits);
    if (read.ec != std::errc{} || read.ptr != end || bits < 1 || bits > 24)
      throw UsageError(fmt::format("--sort-bits {}: expected 1 to 24{}", options.sort_bits,
                                   algorithm.default_sort_bits == "auto" ? ", or auto" : ""));
  }
  static constexpr std::array kFetches{std::string_view{"free"}, std::string_view{"sequential"}};
  if (!find_name(kFetches, options.fetch))
    throw UsageError(fmt::format("--fetch {}: expected {}", options.fetch, one_of(kFetches)));
  workload.sequential_fetch = options.fetch == "sequential";
  if (workload.sequential_fetch && !algorithm.axes.fetch)
    throw UsageError(
        fmt::format("--fetch sequential: {} has no such form; leave it out", algorithm.id));
  return workload;
}

/// The labels that the algorithms read exist twice while they are made. Throws std::runtime_error
/// where the memory available does not hold them.
void require_memory(const Workload& workload) {
  const std::uint64_t least_bytes = 2 * workload.n * sizeof(Label);
  const std::size_t available_bytes = available_memory_bytes();
  if (least_bytes > available_bytes)
    throw std::runtime_error(
        fmt::format("the labels of {} inputs take {:.1f} MB or more, {:.1f} MB of memory are "
                    "available: choose a smaller n",
                    workload.n, static_cast<double>(least_bytes) / 1e6,
                    static_cast<double>(available_bytes) / 1e6));
}

const Pages& pages_of(const Hierarchy& hierarchy, std::uint64_t page_bytes) {
  if (page_bytes == 0) return hierarchy.pages.front();
  std::vector<std::string> sizes;
  for (const Pages& pages : hierarchy.pages) {
    if (pages.bytes == page_bytes) return pages;
    sizes.push_back(std::to_string(pages.bytes));
  }
  throw UsageError(fmt::format("--page-bytes {}: the hierarchy '{}' has pages of {} bytes",
                               page_bytes, hierarchy.name, fmt::join(sizes, ", ")));
}

std::string table(const Json& result) {
  std::string text = fmt::format(
      "{} on {}, n = {}, {} buckets, {} labels\n", result["algorithm"].get<std::string>(),
      result["hierarchy"]["name"].get<std::string>(), result["n"].get<std::uint64_t>(),
      result["buckets"].get<std::uint64_t>(), result["labels"].get<std::string>());
  text += fmt::format("{:<8} {:>14} {:>14} {:>14} {:>14}\n", "level", "hits", "misses",
                      "prefetches", "write-backs");
  for (const Json& level : result["caches"])
    text += fmt::format("{:<8} {:>14} {:>14} {:>14} {:>14}\n", level["name"].get<std::string>(),
                        level["hits"].get<std::uint64_t>(), level["misses"].get<std::uint64_t>(),
                        level["prefetches"].get<std::uint64_t>(),
                        level["write_backs"].get<std::uint64_t>());
  for (std::size_t i = 0; i < result["tlb"].size(); ++i)
    text += fmt::format("{:<8} {:>14} {:>14}\n", fmt::format("TLB {}", i + 1),
                        result["tlb"][i]["hits"].get<std::uint64_t>(),
                        result["tlb"][i]["misses"].get<std::uint64_t>());
  text += fmt::format("sequential: {:.4g} ns per input\n",
                      result["sequential"]["ns_per_input"].get<double>());
  if (!result["pipelined"].is_null())
    text += fmt::format("pipelined:  {:.4g} ns per input\n",
                        result["pipelined"]["ns_per_input"].get<double>());
  return text;
}

int simulate_command(const Options& options) {
  check_output(options.output);
  const Algorithm& algorithm = find_algorithm(options.algorithm);
  const Workload workload = workload_of(options, algorithm);
  require_memory(workload);
  const Hierarchy hierarchy = read_hierarchy(options.hierarchy);
  const Json result =
      simulate(hierarchy, pages_of(hierarchy, options.page_bytes), algorithm, workload);
  if (!options.output.empty()) write_document(result, options.output);
  else if (options.as_json) write_document(result, "-");
  if (!options.as_json && options.output != "-") fmt::print("{}", table(result));
  return kExitGood;
}

}  // namespace

void add_simulate(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("simulate", "Predicts one algorithm's time on a hierarchy");
  auto options = std::make_shared<Options>();
  command->add_option("--hierarchy", options->hierarchy, "JSON file of the machine")->required();
  command->add_option("--algorithm", options->algorithm, "Such as cpu/multireduce")->required();
  const Numbers inputs{.least = 1, .most = kMostInputs, .advice = {}};
  add_number(*command, "--n", inputs, "Inputs", [=](auto n) { options->n = n; })->required();
  add_number(*command, "--buckets", inputs, "Buckets", [=](auto m) {
    options->buckets = m;
  })->required();
  command->add_option("--labels", options->labels, "Distribution of the labels (uniform)");
  command->add_option("--sort-bits", options->sort_bits,
                      "Upper bits of the labels that the sorting algorithms sort by");
  command->add_option("--fetch", options->fetch,
                      "sequential: each bucket is read after the one before (free)");
  add_number(*command, "--page-bytes", {}, "Which of the hierarchy's page sizes (the first)",
             [=](auto bytes) { options->page_bytes = bytes; });
  add_number(*command, "--seed", {}, "Of the labels (1)", [=](auto seed) { options->seed = seed; });
  command->add_option("-o,--output", options->output, "JSON file for the result (- for stdout)");
  command->add_flag("--json", options->as_json, "JSON on standard output instead of text");
  command->footer(
      "Example: cache-sim simulate --hierarchy configs/hierarchies/core2-t7300.json \\\n"
      "             --algorithm cpu/multireduce-sorted --sort-bits 4 --n 4194304 --buckets "
      "4194304");
  command->callback([=, &action] { action = [=] { return simulate_command(*options); }; });
}

}  // namespace reduce_bench
