// The hierarchy of cache-sim, and a few accesses to it.
#include "hierarchy.hpp"

#include "memory.hpp"
#include "reader.hpp"

using namespace reduce_bench;

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return feed(bytes, size, [](const std::filesystem::path& file) {
    const Hierarchy hierarchy = read_hierarchy(file);
    const Json resolved = to_json(hierarchy);
    check_text(resolved.dump());
    if (read_again([&] { return to_json(parse_hierarchy(resolved, "the resolved hierarchy")); }) !=
        resolved)
      finding("resolved otherwise when read again: " + resolved.dump());
    // The largest ones take a second and a gigabyte.
    std::uint64_t entries = 0;
    for (const CacheLevel& level : hierarchy.caches) entries += level.lines();
    for (const Pages& pages : hierarchy.pages)
      for (const TlbLevel& level : pages.tlb) entries += level.entries;
    if (entries > 1 << 16) return;
    for (const Pages& pages : hierarchy.pages) {
      Memory memory(hierarchy, pages);
      for (std::uint64_t i = 0; i < 1000; ++i)
        memory.access(i * i * 4, i % 3 == 0 ? Memory::Kind::kWrite : Memory::Kind::kRead);
      if (memory.accesses() != 1000) finding("accesses were lost");
      if (!(memory.sequential_ns() >= 1000 * hierarchy.caches[0].latency_ns))
        finding("an access took less than a hit");
    }
  });
}
