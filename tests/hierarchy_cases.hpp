// Hierarchy files that the reader and the published schema must agree on.
#pragma once

#include <vector>

#include "config_cases.hpp"

namespace reduce_bench {

#define HIERARCHY(caches, rest)                            \
  R"({"schema": 1, "name": "made up", "caches": [)" caches \
  "],"                                                     \
  R"( "memory": {"latency_ns": 100})" rest "}"
#define L1 R"({"size_bytes": 32768, "associativity": 8, "latency_ns": 1})"
#define CACHE(text) \
  HIERARCHY(R"({"size_bytes": 32768, "associativity": 8, "latency_ns": 1, )" text "}", "")
#define PAGES(text) HIERARCHY(L1, R"(, "pages": [{"bytes": 4096, )" text "}]")

inline const std::vector<BadConfig> kBadHierarchies{
    {"NoObject", "[]", ": /: ", "found []", "expected an object"},
    {"OtherSchema", R"({"schema": 2})", "/schema: ", "found 2", "an integer from 1 to 1"},
    {"NoName", R"({"schema": 1, "caches": []})", ": /: ", "'name'", "missing"},
    {"NoCaches", HIERARCHY("", ""), "/caches: ", "found []", "not empty"},
    {"NoMemory", R"({"schema": 1, "name": "x", "caches": [)" L1 "]}", ": /: ", "'memory'",
     "missing"},
    {"UnknownKey", HIERARCHY(L1, R"(, "page": [])"), ": /: ", "unknown key 'page'",
     "did you mean 'pages'?"},
    {"UnknownCacheKey", CACHE(R"("latency": 1)"), "/caches/0: ", "unknown key 'latency'",
     "did you mean 'latency_ns'?"},
    {"NoLatency", HIERARCHY(R"({"size_bytes": 64, "associativity": 1})", ""),
     "/caches/0: ", "'latency_ns'", "missing"},
    {"UnevenSize", HIERARCHY(R"({"size_bytes": 32000, "associativity": 8, "latency_ns": 1})", ""),
     "/caches/0/size_bytes: ", "found 32000", "a multiple of 512", false},
    {"TooManyLines",
     HIERARCHY(R"({"size_bytes": 4398046511104, "associativity": 1, "latency_ns": 1})", ""),
     "/caches/0/size_bytes: ", "found 4398046511104", "at most 67108864 lines", false},
    {"UnevenLine", CACHE(R"("line_bytes": 48)"), "/caches/0/line_bytes: ", "found 48",
     "a power of two"},
    {"TinyLine", CACHE(R"("line_bytes": 8)"), "/caches/0/line_bytes: ", "found 8",
     "an integer from 16"},
    {"NoWay", HIERARCHY(R"({"size_bytes": 64, "associativity": 0, "latency_ns": 1})", ""),
     "/caches/0/associativity: ", "found 0", "an integer from 1"},
    {"NegativeLatency",
     HIERARCHY(R"({"size_bytes": 64, "associativity": 1, "latency_ns": -1})", ""),
     "/caches/0/latency_ns: ", "found -1", "of at least 0"},
    {"Replacement", CACHE(R"("replacement": "approximate-lur")"),
     "/caches/0/replacement: ", "\"approximate-lur\"", "did you mean 'approximate-lru'?"},
    {"Prefetch", CACHE(R"("prefetch": true)"), "/caches/0/prefetch: ", "found true",
     "'none' or 'next-line'"},
    {"SmallerLine",
     HIERARCHY(L1
               R"(, {"size_bytes": 65536, "line_bytes": 32, "associativity": 8, "latency_ns": 3})",
               ""),
     "/caches/1: ", "lines of 32 bytes", "one line of the next level", false},
    {"FasterBeyond",
     HIERARCHY(L1 R"(, {"size_bytes": 65536, "associativity": 8, "latency_ns": 0.5})", ""),
     "/caches/1/latency_ns: ", "found 0.5", "at least the 1 of L1", false},
    {"FasterMemory",
     R"({"schema": 1, "name": "x", "caches": [)" L1 R"(], "memory": {"latency_ns": 0.5}})",
     "/memory/latency_ns: ", "found 0.5", "at least the 1 of L1", false},
    {"NoPages", HIERARCHY(L1, R"(, "pages": [])"), "/pages: ", "found []", "not empty"},
    {"PagesTwice", HIERARCHY(L1, R"(, "pages": [{"bytes": 4096}, {"bytes": 4096}])"),
     "/pages/1/bytes: ", "4096", "listed twice", false},
    {"UnevenPages", HIERARCHY(L1, R"(, "pages": [{"bytes": 5000}])"),
     "/pages/0/bytes: ", "found 5000", "a power of two", false},
    {"LinesBeyondTheDefaultPages",
     HIERARCHY(R"({"size_bytes": 65536, "line_bytes": 8192, "associativity": 8, "latency_ns": 1})",
               ""),
     ": /: ", "lines of 8192 bytes", "give 'pages' of at least a line", false},
    {"WalkWithoutTlb", PAGES(R"("walk_ns": 10)"), "/pages/0/walk_ns: ", "no 'tlb'", "leave it out"},
    {"TlbWithoutWalk", PAGES(R"("tlb": [{"entries": 4}])"), "/pages/0: ", "'walk_ns'", "missing"},
    {"NoEntries", PAGES(R"("walk_ns": 1, "tlb": [{"entries": 0}])"),
     "/pages/0/tlb/0/entries: ", "found 0", "an integer from 1"},
    {"UnevenEntries", PAGES(R"("walk_ns": 1, "tlb": [{"entries": 6, "associativity": 4}])"),
     "/pages/0/tlb/0/entries: ", "found 6", "a multiple of the associativity 4", false},
    {"NoOverlap", HIERARCHY(L1, R"(, "overlap": {"misses": 0, "access_ns": 1})"),
     "/overlap/misses: ", "found 0", "an integer from 1 to 1024"},
};

inline const std::vector<GoodConfig> kGoodHierarchies{
    {"Smallest", HIERARCHY(L1, "")},
    {"EveryKey", R"({
      "$schema": "hierarchy.schema.json", "schema": 1, "name": "made up", "source": "nowhere",
      "notes": ["one"],
      "caches": [
        {"name": "near", "size_bytes": 192, "line_bytes": 64, "associativity": 3,
         "latency_ns": 0, "replacement": "lru", "prefetch": "next-line"},
        {"size_bytes": 4096, "line_bytes": 128, "associativity": 1, "latency_ns": 2.5}],
      "memory": {"latency_ns": 100},
      "pages": [{"bytes": 4096},
                {"bytes": 2097152, "walk_ns": 30, "tlb": [
                  {"entries": 4},
                  {"entries": 8, "associativity": 2, "latency_ns": 3, "replacement": "lru"}]}],
      "overlap": {"misses": 4, "access_ns": 0.5}})"},
};

}  // namespace reduce_bench
