#include "hierarchy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace reduce_bench {
namespace {

/// The most lines of a level, for which the simulator needs up to 1.3 GiB.
constexpr std::uint64_t kMostLines = std::uint64_t{1} << 26;
constexpr std::uint64_t kMostEntries = std::uint64_t{1} << 20;
constexpr double kMostLatencyNs = 1e9;

double latency(const Node& node) { return node.number(0, kMostLatencyNs, false); }

std::uint64_t power_of_two(const Node& node, std::uint64_t least, std::uint64_t most) {
  const std::uint64_t value = node.integer(least, most);
  if (!std::has_single_bit(value))
    node.expected(fmt::format("a power of two from {} to {}", least, most));
  return value;
}

Replacement read_replacement(const Node& node) {
  if (!node.has("replacement")) return Replacement::kApproximateLru;
  return static_cast<Replacement>(node.at("replacement").name(kReplacementNames));
}

CacheLevel read_cache(const Node& node, std::size_t level) {
  static constexpr std::array kKeys{
      std::string_view{"name"},       std::string_view{"size_bytes"},
      std::string_view{"line_bytes"}, std::string_view{"associativity"},
      std::string_view{"latency_ns"}, std::string_view{"replacement"},
      std::string_view{"prefetch"}};
  node.check_keys(kKeys);
  CacheLevel out{.name = fmt::format("L{}", level)};
  if (node.has("name")) out.name = node.at("name").string();
  if (node.has("line_bytes"))
    out.line_bytes = power_of_two(node.at("line_bytes"), kLeastLineBytes, 65536);
  out.associativity = node.at("associativity").integer(1, kMostLines);
  out.size_bytes = node.at("size_bytes").integer(16, kMostLines * 65536);
  const std::uint64_t set_bytes = out.line_bytes * out.associativity;
  if (out.size_bytes % set_bytes != 0)
    node.at("size_bytes")
        .expected(fmt::format("a multiple of {}, a set of {} lines of {} bytes", set_bytes,
                              out.associativity, out.line_bytes));
  if (out.lines() > kMostLines)
    node.at("size_bytes").expected(fmt::format("at most {} lines", kMostLines));
  out.latency_ns = latency(node.at("latency_ns"));
  out.replacement = read_replacement(node);
  if (node.has("prefetch"))
    out.prefetch = static_cast<Prefetch>(node.at("prefetch").name(kPrefetchNames));
  return out;
}

TlbLevel read_tlb(const Node& node) {
  static constexpr std::array kKeys{std::string_view{"entries"}, std::string_view{"associativity"},
                                    std::string_view{"latency_ns"},
                                    std::string_view{"replacement"}};
  node.check_keys(kKeys);
  TlbLevel out;
  out.entries = node.at("entries").integer(1, kMostEntries);
  out.associativity = out.entries;
  if (node.has("associativity"))
    out.associativity = node.at("associativity").integer(1, kMostEntries);
  if (out.entries % out.associativity != 0)
    node.at("entries").expected(
        fmt::format("a multiple of the associativity {}", out.associativity));
  if (node.has("latency_ns")) out.latency_ns = latency(node.at("latency_ns"));
  out.replacement = read_replacement(node);
  return out;
}

Pages read_pages(const Node& node, std::uint64_t line_bytes) {
  static constexpr std::array kKeys{std::string_view{"bytes"}, std::string_view{"tlb"},
                                    std::string_view{"walk_ns"}};
  node.check_keys(kKeys);
  Pages out;
  out.bytes = power_of_two(node.at("bytes"), line_bytes, std::uint64_t{1} << 34);
  if (node.has("tlb"))
    for (const Node& level : node.at("tlb").elements()) out.tlb.push_back(read_tlb(level));
  if (out.tlb.size() > 4) node.at("tlb").fail("found more than 4 levels");
  if (node.has("walk_ns") && out.tlb.empty())
    node.at("walk_ns").fail("nothing misses where there is no 'tlb': add one, or leave it out");
  if (!out.tlb.empty()) out.walk_ns = latency(node.at("walk_ns"));
  return out;
}

}  // namespace

Hierarchy parse_hierarchy(const Json& document, const std::string& name) {
  const Node root{document, "", name};
  static constexpr std::array kKeys{
      std::string_view{"$schema"}, std::string_view{"schema"}, std::string_view{"name"},
      std::string_view{"source"},  std::string_view{"notes"},  std::string_view{"caches"},
      std::string_view{"memory"},  std::string_view{"pages"},  std::string_view{"overlap"}};
  root.check_keys(kKeys);
  root.at("schema").integer(1, 1);
  if (root.has("$schema")) root.at("$schema").string();
  Hierarchy out;
  out.name = root.at("name").string();
  if (root.has("source")) out.source = root.at("source").string();
  if (root.has("notes"))
    for (const Node& note : root.at("notes").elements(0)) out.notes.push_back(note.string());
  for (const Node& node : root.at("caches").elements()) {
    if (out.caches.size() == 8) node.fail("found more than 8 levels");
    CacheLevel level = read_cache(node, out.caches.size() + 1);
    if (!out.caches.empty()) {
      const CacheLevel& nearer = out.caches.back();
      if (level.line_bytes < nearer.line_bytes)
        node.fail(
            fmt::format("lines of {} bytes, but {} has lines of {}: a line must lie in one "
                        "line of the next level",
                        level.line_bytes, nearer.name, nearer.line_bytes));
      if (level.latency_ns < nearer.latency_ns)
        node.at("latency_ns")
            .expected(fmt::format("at least the {} of {}: a hit here comes after a miss there",
                                  nearer.latency_ns, nearer.name));
    }
    out.caches.push_back(std::move(level));
  }
  const Node memory = root.at("memory");
  static constexpr std::array kMemoryKeys{std::string_view{"latency_ns"}};
  memory.check_keys(kMemoryKeys);
  out.memory_latency_ns = latency(memory.at("latency_ns"));
  if (out.memory_latency_ns < out.caches.back().latency_ns)
    memory.at("latency_ns")
        .expected(fmt::format("at least the {} of {}", out.caches.back().latency_ns,
                              out.caches.back().name));
  if (root.has("pages")) {
    out.pages.clear();
    for (const Node& node : root.at("pages").elements()) {
      Pages pages = read_pages(node, out.caches.back().line_bytes);
      if (std::any_of(out.pages.begin(), out.pages.end(),
                      [&](const Pages& other) { return other.bytes == pages.bytes; }))
        node.at("bytes").fail(fmt::format("pages of {} bytes are listed twice", pages.bytes));
      out.pages.push_back(std::move(pages));
    }
  } else if (const CacheLevel& last = out.caches.back(); last.line_bytes > Pages{}.bytes) {
    root.fail(
        fmt::format("{} has lines of {} bytes, more than the pages of {} where no 'pages' "
                    "are given: give 'pages' of at least a line",
                    last.name, last.line_bytes, Pages{}.bytes));
  }
  if (root.has("overlap")) {
    const Node node = root.at("overlap");
    static constexpr std::array kOverlapKeys{std::string_view{"misses"},
                                             std::string_view{"access_ns"}};
    node.check_keys(kOverlapKeys);
    out.overlap = Overlap{.misses = node.at("misses").integer(1, 1024),
                          .access_ns = latency(node.at("access_ns"))};
  }
  return out;
}

Hierarchy read_hierarchy(const std::filesystem::path& file) {
  return parse_hierarchy(
      read_document(file, "the hierarchy",
                    "name a file of configs/hierarchies, or write one with 'cache-sim probe'"),
      file.string());
}

Json to_json(const Hierarchy& hierarchy) {
  Json json{{"schema", 1}, {"name", hierarchy.name}};
  if (!hierarchy.source.empty()) json["source"] = hierarchy.source;
  if (!hierarchy.notes.empty()) json["notes"] = hierarchy.notes;
  for (const CacheLevel& level : hierarchy.caches)
    json["caches"].push_back(
        {{"name", level.name},
         {"size_bytes", level.size_bytes},
         {"line_bytes", level.line_bytes},
         {"associativity", level.associativity},
         {"latency_ns", level.latency_ns},
         {"replacement", kReplacementNames[static_cast<std::size_t>(level.replacement)]},
         {"prefetch", kPrefetchNames[static_cast<std::size_t>(level.prefetch)]}});
  json["memory"] = {{"latency_ns", hierarchy.memory_latency_ns}};
  for (const Pages& pages : hierarchy.pages) {
    Json out{{"bytes", pages.bytes}};
    for (const TlbLevel& level : pages.tlb)
      out["tlb"].push_back(
          {{"entries", level.entries},
           {"associativity", level.associativity},
           {"latency_ns", level.latency_ns},
           {"replacement", kReplacementNames[static_cast<std::size_t>(level.replacement)]}});
    if (!pages.tlb.empty()) out["walk_ns"] = pages.walk_ns;
    json["pages"].push_back(std::move(out));
  }
  if (hierarchy.overlap)
    json["overlap"] = {{"misses", hierarchy.overlap->misses},
                       {"access_ns", hierarchy.overlap->access_ns}};
  return json;
}

}  // namespace reduce_bench
