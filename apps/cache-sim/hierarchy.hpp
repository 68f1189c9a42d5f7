// The memory hierarchy of a machine, as its file describes it. Published schema:
// configs/schema/hierarchy.schema.json.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/document.hpp"

namespace reduce_bench {

/// Which line of a full set is replaced. Approximate LRU keeps one bit for each line, which a use
/// sets; when it would be the last of its set, the others are cleared. The first line whose bit is
/// clear is replaced.
enum class Replacement { kLru, kApproximateLru };
inline constexpr std::array kReplacementNames{std::string_view{"lru"},
                                              std::string_view{"approximate-lru"}};

/// Next-line: a miss, and the first use of a prefetched line, fetch the following line where it
/// lies in the same page.
enum class Prefetch { kNone, kNextLine };
inline constexpr std::array kPrefetchNames{std::string_view{"none"}, std::string_view{"next-line"}};

inline constexpr std::uint64_t kLeastLineBytes = 16;

struct CacheLevel {
  std::string name;
  std::uint64_t size_bytes = 0, line_bytes = 64, associativity = 1;
  double latency_ns = 0;  ///< of an access that hits here, from its start
  Replacement replacement = Replacement::kApproximateLru;
  Prefetch prefetch = Prefetch::kNone;

  std::uint64_t lines() const { return size_bytes / line_bytes; }
};

struct TlbLevel {
  std::uint64_t entries = 0, associativity = 1;
  double latency_ns = 0;  ///< that a translation found here adds to an access
  Replacement replacement = Replacement::kApproximateLru;
};

/// One size of pages, with the TLB that translates them.
struct Pages {
  std::uint64_t bytes = 4096;
  std::vector<TlbLevel> tlb;  ///< empty: translation costs nothing
  double walk_ns = 0;         ///< that a translation found in no level adds to an access
};

/// Memory-level parallelism.
struct Overlap {
  std::uint64_t misses = 1;  ///< outstanding at one time, at most
  double access_ns = 0;      ///< from the start of one access to the start of the next
};

struct Hierarchy {
  std::string name, source;
  std::vector<std::string> notes;
  std::vector<CacheLevel> caches;
  double memory_latency_ns = 0;
  std::vector<Pages> pages{Pages{}};
  std::optional<Overlap> overlap;
};

/// Reads and checks a hierarchy. Throws UsageError that names the file, the JSON pointer, what was
/// found and what is allowed.
Hierarchy read_hierarchy(const std::filesystem::path& file);

/// The same from parsed JSON; `name` stands for the file in messages.
Hierarchy parse_hierarchy(const Json& document, const std::string& name);

/// The document of a hierarchy, with every default filled in, which the same schema accepts.
Json to_json(const Hierarchy& hierarchy);

}  // namespace reduce_bench
