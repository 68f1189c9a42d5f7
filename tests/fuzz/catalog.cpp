// Made-up variants with parameters to plan with.
#include "kernels/api/catalog.hpp"

namespace reduce_bench {
namespace {

CatalogEntry made_up(std::string_view id, std::vector<ParamSpec> params) {
  CatalogEntry entry{.variant = {.id = id, .title = "made up", .source = "nowhere"}};
  entry.variant.params = std::move(params);
  entry.declared[index_of(Backend::kCpu)] = true;
  return entry;
}

}  // namespace

const std::vector<CatalogEntry>& catalog() {
  static const ParamSpec block{"block", "128", {"64", "128", "256"}, "threads"};
  static const ParamSpec per_sm{"blocks_per_sm", "4", {"1", "2", "4"}, "blocks"};
  static const ParamSpec form{"form", "corrected", {"as-published", "corrected"}, "which"};
  static const std::vector<CatalogEntry> entries{
      made_up("harris/7", {block}), made_up("harris/6", {block, form}),
      made_up("cpu/sequential", {}), made_up("onepass/reduce", {block, per_sm, form})};
  return entries;
}

}  // namespace reduce_bench
