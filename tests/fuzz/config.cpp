// The configuration, and the plan that follows from it.
#include "plan/config.hpp"

#include "plan/plan.hpp"
#include "reader.hpp"

using namespace reduce_bench;

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return feed(bytes, size, [](const std::filesystem::path& file) {
    const Config config = read_config(file, {});
    const Json resolved = to_json(config);
    check_text(resolved.dump());
    if (read_again([&] {
          return to_json(parse_config(resolved, "the resolved configuration", {}));
        }) != resolved)
      finding("resolved otherwise when read again: " + resolved.dump());
    // The limit on plans has its own test; near it, planning takes a second.
    std::size_t problems = 0;
    for (const Sweep& sweep : config.sweeps)
      problems +=
          sweep.n.size() * sweep.types.size() * sweep.distributions.size() * sweep.ops.size();
    if (problems > 200) return;
    for (const Point& point : make_plan(config, {.automatic = {Backend::kCpu}}).points)
      check_text(describe(point));
  });
}
