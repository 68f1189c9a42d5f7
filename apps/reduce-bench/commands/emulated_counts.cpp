#include "commands/emulated_counts.hpp"

#include <fmt/format.h>

#include <utility>

#include "common/error.hpp"
#include "common/text.hpp"
#include "plan/plan.hpp"
#include "plan/variants.hpp"
#include "worker/worker.hpp"

namespace reduce_bench {
namespace {

constexpr std::uint64_t kCountedElements = 1 << 16;
constexpr std::size_t kCountedBuckets = 256;

}  // namespace

Record count_on_emulator(const std::string& command, const std::string& id, emu::Tracing tracing,
                         std::optional<std::uint64_t> n) {
  const CatalogEntry& entry = find_variant(id);
  if (entry.traced == nullptr)
    throw UsageError(
        fmt::format("{}: {} has no traced build here; it takes a kernel that the emulator runs, "
                    "g++, and a build without sanitizers",
                    command, id));
  if (n && *n > kMostCountedElements)
    throw UsageError(
        fmt::format("{}: {} elements take the emulator too long, at most {} are "
                    "counted",
                    command, size_text(*n), size_text(kMostCountedElements)));
  const Variant& variant = *entry.traced;
  Point point{.entry = &entry,
              .backend = Backend::kEmu,
              .n = n.value_or(kCountedElements),
              .buckets = has_labels(variant.operation) ? kCountedBuckets : 0,
              .type = has_values(variant.operation) ? Type::kI32 : Type::kU32,
              .op = default_op(variant.operation)};
  point.params = default_params(variant);
  Worker worker(Backend::kEmu);
  auto record = worker.execute(
      point, {.timed = false, .check_determinism = false, .emu_seed = 1, .tracing = tracing});
  if (!record || record->counted.empty())
    throw UsageError(
        fmt::format("{}: {}: {}", command, id, record ? record->reason : "interrupted"));
  return std::move(*record);
}

}  // namespace reduce_bench
