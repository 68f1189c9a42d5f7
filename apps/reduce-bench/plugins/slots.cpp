#include "plugins/slots.hpp"

#include <fmt/format.h>
#include <reduce_bench_plugin.h>

#include <algorithm>
#include <array>
#include <deque>
#include <stdexcept>
#include <utility>

#include "common/error.hpp"
#include "common/text.hpp"
#include "plugins/limits.hpp"

namespace reduce_bench {
namespace {

/// One variant of a plug-in: its declaration and, in a worker, what runs.
struct Slot {
  const DeclaredVariant* declared = nullptr;
  const reduce_bench_variant* loaded = nullptr;
};

std::array<Slot, kMostPluginVariants> slots;
std::size_t slots_used = 0;

/// A problem as a plug-in sees it.
class ForeignProblem {
 public:
  explicit ForeignProblem(const Problem& p)
      : problem_{.operation = static_cast<std::uint32_t>(p.operation),
                 .type = static_cast<std::uint32_t>(p.type),
                 .op = static_cast<std::uint32_t>(p.op),
                 .inclusive = is_inclusive(p.params) ? 1u : 0u,
                 .any_wins = any_wins(p.params) ? 1u : 0u,
                 .multiprocessors = p.device.sm_count,
                 .max_threads_per_multiprocessor = p.device.max_threads_per_sm,
                 .max_blocks_per_multiprocessor = p.device.max_blocks_per_sm,
                 .max_shared_bytes_per_block = p.device.max_shared_bytes_per_block,
                 .n = p.n,
                 .buckets = p.buckets,
                 .params = params_.data()} {
    std::size_t i = 0;
    for (const Params::Entry& entry : p.params.entries()) params_.at(i++) = entry.value.c_str();
  }
  ForeignProblem(const ForeignProblem&) = delete;
  ForeignProblem& operator=(const ForeignProblem&) = delete;

  const reduce_bench_problem* get() const { return &problem_; }

 private:
  std::array<const char*, kMostPluginParams> params_{};
  reduce_bench_problem problem_;
};

std::string restriction(const Slot& slot, const Problem& problem) {
  const std::uint64_t most = slot.declared->max_buckets;
  if (most > 0 && problem.buckets > most)
    return fmt::format("{} takes at most {} buckets", slot.declared->id, most);
  if (slot.loaded == nullptr || slot.loaded->refuse == nullptr) return {};
  const char* why = slot.loaded->refuse(ForeignProblem(problem).get());
  return why == nullptr ? std::string{} : printable(why);
}

std::uint64_t depth(const Slot& slot, const Problem& problem) {
  if (slot.loaded == nullptr || slot.loaded->depth == nullptr)
    return std::max<std::uint64_t>(problem.n, 1);
  return slot.loaded->depth(ForeignProblem(problem).get());
}

Workspace workspace(const Slot& slot, const Problem& problem) {
  if (slot.loaded == nullptr || slot.loaded->workspace == nullptr) return {};
  const reduce_bench_workspace asked = slot.loaded->workspace(ForeignProblem(problem).get());
  if (asked.zeroed_bytes > asked.bytes)
    throw std::runtime_error(fmt::format("asked for {} bytes of scratch memory, of which {} zeroed",
                                         asked.bytes, asked.zeroed_bytes));
  return {.device_bytes = asked.bytes, .zeroed_bytes = asked.zeroed_bytes};
}

void enqueue(const Slot& slot, const Call& call) {
  if (slot.loaded == nullptr) throw std::logic_error("a plug-in runs in its worker process alone");
  if (call.stream.log != nullptr) call.stream.log->kernels = slot.declared->launches;
  const ForeignProblem problem(call.problem);
  const reduce_bench_call foreign{.problem = problem.get(),
                                  .stream = call.stream.handle,
                                  .values = call.values,
                                  .labels = call.labels,
                                  .results = call.results,
                                  .result_labels = call.result_labels,
                                  .result_count = call.result_count,
                                  .workspace = call.workspace};
  if (const char* failure = slot.loaded->enqueue(&foreign); failure != nullptr)
    throw std::runtime_error(printable(failure));
}

/// A declaration's functions take no context: a table of them is all that a variant of the catalog
/// is. Those of plug-ins alone need one, so each of their variants has functions of its own, compiled
/// for its slot.
struct Functions {
  std::string (*restriction)(const Problem&);
  std::uint64_t (*depth)(const Problem&);
  Workspace (*workspace)(const Problem&);
  Enqueue enqueue;
};
template <std::size_t kSlot>
constexpr Functions functions_of() {
  return {.restriction = [](const Problem& p) { return restriction(slots[kSlot], p); },
          .depth = [](const Problem& p) { return depth(slots[kSlot], p); },
          .workspace = [](const Problem& p) { return workspace(slots[kSlot], p); },
          .enqueue = [](const Call& c) { enqueue(slots[kSlot], c); }};
}
template <std::size_t... kSlots>
constexpr std::array<Functions, sizeof...(kSlots)> functions_of_all(
    std::index_sequence<kSlots...>) {
  return {functions_of<kSlots>()...};
}
constexpr auto kFunctions = functions_of_all(std::make_index_sequence<kMostPluginVariants>());

CatalogEntry entry_of(const DeclaredVariant& declared, const PluginFile& file,
                      const Functions& functions) {
  // A plug-in is tried with as many cases as this project's own variants.
  Variant variant{.id = declared.id,
                  .title = declared.title,
                  .source = declared.source,
                  .operation = declared.operation,
                  .fidelity = Fidelity::kBeyond,
                  .synchronous = declared.synchronous,
                  .params = declared.params,
                  .restriction = functions.restriction,
                  .depth = functions.depth,
                  .workspace = functions.workspace};
  for (const Combination& combination : declared.combinations)
    variant.enqueue[index_of(combination.type)][index_of(combination.op)] = functions.enqueue;
  static std::deque<Variant> variants;  // addresses stay valid
  variants.push_back(variant);
  CatalogEntry entry{.variant = std::move(variant), .description = declared.description};
  entry.declared[index_of(declared.backend)] = true;
  entry.built[index_of(declared.backend)] = &variants.back();
  entry.plugin = &file;
  return entry;
}

}  // namespace

std::string plugin_fault(const std::string& path, const std::string& fault) {
  return fmt::format("the plug-in '{}': {}", path, fault);
}

void add_to_catalog(DeclaredPlugin plugin, const reduce_bench_variant* loaded) {
  static std::deque<DeclaredPlugin> plugins;  // entries refer to them
  plugins.push_back(std::move(plugin));
  const DeclaredPlugin& kept = plugins.back();
  for (std::size_t i = 0; i < kept.variants.size(); ++i) {
    const DeclaredVariant& declared = kept.variants[i];
    const auto known =
        std::find_if(catalog().begin(), catalog().end(),
                     [&](const CatalogEntry& entry) { return entry.variant.id == declared.id; });
    if (known != catalog().end())
      throw UsageError(plugin_fault(
          kept.file.path,
          fmt::format(
              "its variant '{}' has the id of one {}; give it another", declared.id,
              known->plugin == nullptr ? "in the catalog" : "of '" + known->plugin->name + "'")));
    if (slots_used == slots.size())
      throw UsageError(plugin_fault(
          kept.file.path,
          fmt::format("plug-ins may have {} variants together; load fewer of them", slots.size())));
    slots[slots_used] = {&declared, loaded == nullptr ? nullptr : loaded + i};
    add_to_catalog(entry_of(declared, kept.file, kFunctions[slots_used]));
    ++slots_used;
  }
}

}  // namespace reduce_bench
