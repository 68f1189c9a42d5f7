// cache-sim probe: measures this machine's caches and TLBs by chasing pointers, and writes the
// hierarchy that `simulate` reads.
//
// Each pointer names the next, in a random cycle over all lines of a buffer, so that no load can
// begin before the last has ended and nothing can be prefetched: the time of a step is the latency
// of the level that holds the buffer (eilers section 2.4).

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <limits>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "commands.hpp"
#include "common/cpu_model.hpp"
#include "common/error.hpp"
#include "common/pages.hpp"
#include "common/randomness.hpp"
#include "curve.hpp"
#include "hierarchy.hpp"

namespace reduce_bench {
namespace {

constexpr double kSampleNs = 1e6;  // shorter than the time slices of other processes
constexpr int kSamples = 25;       // the least of them counts: disturbances only add

/// The time that this thread had the core, so that other processes' shares do not count.
double thread_ns() {
  std::timespec now{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
    throw std::system_error(errno, std::generic_category(), "the thread's clock");
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Links the places of a buffer to `chains` cycles of one length, in random or in ascending order;
/// returns where each begins.
std::vector<void**> link(std::byte* data, std::vector<std::size_t> offsets, bool random,
                         std::size_t chains = 1) {
  const Randomness randomness{offsets.size()};
  if (random)
    for (std::size_t i = offsets.size(); i-- > 1;)
      std::swap(offsets[i], offsets[randomness.word(i) % (i + 1)]);
  const auto at = [&](std::size_t i) { return reinterpret_cast<void**>(data + offsets[i]); };
  std::vector<void**> begins;
  const std::size_t length = offsets.size() / chains;
  for (std::size_t chain = 0; chain < chains; ++chain) {
    const std::size_t first = chain * length;
    for (std::size_t i = 0; i < length; ++i) *at(first + i) = at(first + (i + 1) % length);
    begins.push_back(at(first));
  }
  return begins;
}

std::vector<std::size_t> lines(std::size_t size_bytes, std::size_t line_bytes) {
  std::vector<std::size_t> offsets(size_bytes / line_bytes);
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = i * line_bytes;
  return offsets;
}

void* volatile sink;

/// Follows kChains cycles at once and returns the time of a step of one of them, in ns.
template <std::size_t kChains>
double chase_ns(const std::vector<void**>& begins, std::size_t length) {
  std::array<void**, kChains> at;
  std::copy_n(begins.begin(), kChains, at.begin());
  const auto follow = [&](std::size_t steps) {
    const double start_ns = thread_ns();
    for (std::size_t i = 0; i < steps; ++i)
      for (std::size_t chain = 0; chain < kChains; ++chain)
        at[chain] = static_cast<void**>(*at[chain]);
    const double end_ns = thread_ns();
    for (void** const pointer : at) sink = pointer;
    return (end_ns - start_ns) / static_cast<double>(steps * kChains);
  };
  const double first_ns = follow(std::clamp<std::size_t>(length, 1000, 1 << 20));
  const auto steps =
      static_cast<std::size_t>(std::clamp(kSampleNs / (first_ns * kChains), 1000.0, 10'000'000.0));
  double best_ns = std::numeric_limits<double>::max();
  for (int i = 0; i < kSamples; ++i) best_ns = std::min(best_ns, follow(steps));
  return best_ns;
}

double chase_ns(std::byte* data, const std::vector<std::size_t>& offsets, bool random = true) {
  return chase_ns<1>(link(data, offsets, random), offsets.size());
}

template <std::size_t... kChains>
double best_of_chains_ns(std::byte* data, const std::vector<std::size_t>& offsets,
                         std::index_sequence<kChains...>) {
  return std::min({chase_ns<kChains>(link(data, offsets, true, kChains), offsets.size())...});
}
/// The least time of a step when several cycles are followed at once.
double parallel_ns(std::byte* data, const std::vector<std::size_t>& offsets) {
  return best_of_chains_ns(data, offsets, std::index_sequence<4, 8, 12, 16, 24>{});
}

/// Extents from `least` to `most`, `kPointsPerOctave` in each doubling.
std::vector<std::size_t> extents(std::size_t least, std::size_t most) {
  std::vector<std::size_t> out;
  for (std::size_t octave = least; octave <= most; octave *= 2)
    for (std::size_t i = 0; i < kPointsPerOctave; ++i) {
      const std::size_t extent = octave + octave * i / kPointsPerOctave;
      if (extent <= most) out.push_back(extent);
    }
  return out;
}

/// What the kernel says of a data cache.
struct KnownCache {
  std::size_t level = 0, size_bytes = 0, ways = 0, line_bytes = 0;
};
std::vector<KnownCache> known_caches() {
  std::vector<KnownCache> known;
  for (int i = 0;; ++i) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", i);
    const auto text = [&](const char* name) {
      std::ifstream stream(folder + name);
      std::string word;
      stream >> word;
      return word;
    };
    const auto number = [&](const char* name) {
      return static_cast<std::size_t>(std::strtoull(text(name).c_str(), nullptr, 10));
    };
    if (text("level").empty()) return known;
    if (text("type") == "Instruction") continue;
    known.push_back({number("level"), number("size") * 1024, number("ways_of_associativity"),
                     number("coherency_line_size")});
  }
}

bool pin_thread() {
  const int core = sched_getcpu();
  if (core < 0) return false;
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(static_cast<unsigned>(core), &own);
  return sched_setaffinity(0, sizeof(own), &own) == 0;
}

double rounded(double ns) { return std::round(ns * 1000) / 1000; }

/// The levels of a TLB, from by how much the latencies of `curve` exceed `least_ns`, that of a hit.
Pages pages_from(std::size_t bytes, const std::vector<Latency>& curve, double least_ns,
                 std::vector<std::string>& notes) {
  Pages pages{.bytes = bytes};
  const std::vector<Latency> found = plateaus(curve);
  for (std::size_t i = 0; i + 1 < found.size(); ++i)
    pages.tlb.push_back(
        {.entries = static_cast<std::uint64_t>(found[i].extent),
         .associativity = static_cast<std::uint64_t>(found[i].extent),
         .latency_ns = i == 0 ? 0 : rounded(std::max(0.0, found[i].ns - least_ns))});
  if (pages.tlb.empty())
    notes.push_back(fmt::format("Not seen: a TLB of {}-byte pages, up to {} of them.", bytes,
                                curve.empty() ? 0 : static_cast<std::size_t>(curve.back().extent)));
  else pages.walk_ns = rounded(std::max(0.0, found.back().ns - least_ns));
  return pages;
}

Hierarchy probe(std::size_t largest_bytes) {
  Hierarchy out{.name = cpu_model(), .source = "cache-sim probe"};
  std::vector<std::string>& notes = out.notes;
  if (!pin_thread())
    notes.push_back(
        "The thread could not be pinned to a core: latencies may mix those of several.");
  const std::vector<KnownCache> known = known_caches();
  const std::size_t line_bytes =
      known.empty() || known[0].line_bytes == 0 ? 64 : known[0].line_bytes;
  if (known.empty()) notes.push_back("Not seen: the line size; 64 bytes are assumed.");
  if (largest_bytes == 0) {
    const std::size_t last_level_bytes =
        known.empty() ? std::size_t{32} << 20 : known.back().size_bytes;
    const std::size_t memory_bytes = static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) *
                                     static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    largest_bytes = std::min(8 * last_level_bytes, memory_bytes / 8);
  }
  largest_bytes = std::max(largest_bytes / kHugePageBytes, std::size_t{1}) * kHugePageBytes;
  const auto base_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

  const PagedMemory base(largest_bytes, PageSize::kSmall);
  const PagedMemory huge(largest_bytes, PageSize::kHuge);
  for (std::size_t i = 0; i < largest_bytes; i += base_bytes)  // the first write allocates a page
    base.data()[i] = huge.data()[i] = std::byte{1};
  const std::array huge_parts{std::span<const std::byte>(huge.data(), largest_bytes)};
  const double huge_share = static_cast<double>(huge_page_bytes(huge_parts).value_or(0)) /
                            static_cast<double>(largest_bytes);
  const bool has_huge = huge_share > 0.9;
  if (!has_huge)
    notes.push_back(fmt::format(
        "Not seen: huge pages, of which the system granted {:.0f} %: latencies of large caches and "
        "of memory hold page walks.",
        100 * huge_share));
  std::byte* const data = has_huge ? huge.data() : base.data();

  std::vector<Latency> curve;
  for (const std::size_t bytes : extents(4096, largest_bytes)) {
    curve.push_back({static_cast<double>(bytes), chase_ns(data, lines(bytes, line_bytes))});
    fmt::print(stderr, "{} bytes: {:.3g} ns\n", bytes, curve.back().ns);
  }
  const std::vector<Latency> found = plateaus(curve);
  const std::vector<std::size_t> all_lines = lines(largest_bytes, line_bytes);
  const bool prefetches = chase_ns(data, all_lines, false) < found.back().ns / 2;
  if (found.size() < 2)
    throw UsageError(
        "no cache could be told from memory: choose a larger buffer with --largest, "
        "or a quieter machine");
  if (found.size() - 1 != known.size())
    notes.push_back(
        fmt::format("Seen: {} data caches; the kernel names {}.", found.size() - 1, known.size()));
  for (std::size_t i = 0; i + 1 < found.size(); ++i) {
    const std::size_t ways = i < known.size() && known[i].ways > 0 ? known[i].ways : 8;
    const std::size_t set_bytes = ways * line_bytes;
    const auto sets = std::max(1.0, std::round(found[i].extent / static_cast<double>(set_bytes)));
    out.caches.push_back({.name = fmt::format("L{}", i + 1),
                          .size_bytes = static_cast<std::uint64_t>(sets) * set_bytes,
                          .line_bytes = line_bytes,
                          .associativity = ways,
                          .latency_ns = rounded(found[i].ns),
                          .prefetch = prefetches ? Prefetch::kNextLine : Prefetch::kNone});
    if (i < known.size() && known[i].size_bytes != out.caches.back().size_bytes)
      notes.push_back(fmt::format("L{} measures {} bytes; the kernel says {}.", i + 1,
                                  out.caches.back().size_bytes, known[i].size_bytes));
  }
  notes.push_back(
      "Not measured: associativities (those that the kernel names, else 8), which line "
      "is replaced, and which levels prefetch (ascending lines " +
      std::string(prefetches ? "come faster" : "come no faster") +
      " than random ones: next-line at " + (prefetches ? "all" : "no") + " levels).");
  out.memory_latency_ns = rounded(found.back().ns);

  // One line of every page, and the same lines on huge pages, whose TLB they hardly burden.
  out.pages.clear();
  const double hit_ns = found.front().ns;
  std::vector<Latency> base_curve, huge_curve;
  const auto one_line_each = [&](std::size_t pages, std::size_t page_bytes) {
    std::vector<std::size_t> offsets(pages);
    for (std::size_t i = 0; i < pages; ++i)
      offsets[i] = i * page_bytes + mix(i + 1) % (base_bytes / line_bytes) * line_bytes;
    return offsets;
  };
  for (const std::size_t pages : extents(8, largest_bytes / base_bytes)) {
    const std::vector<std::size_t> offsets = one_line_each(pages, base_bytes);
    const double on_huge_ns = has_huge ? chase_ns(huge.data(), offsets) : hit_ns;
    const double on_base_ns = chase_ns(base.data(), offsets);
    base_curve.push_back(
        {static_cast<double>(pages), hit_ns + std::max(0.0, on_base_ns - on_huge_ns)});
    fmt::print(stderr, "a line of each of {} pages: {:.3g} ns, on huge pages {:.3g} ns\n", pages,
               on_base_ns, on_huge_ns);
  }
  if (!has_huge) notes.push_back("Without huge pages, the TLB's latencies hold cache misses.");
  out.pages.push_back(pages_from(base_bytes, base_curve, hit_ns, notes));
  if (has_huge) {
    for (const std::size_t pages : extents(8, largest_bytes / kHugePageBytes)) {
      const double ns = chase_ns(huge.data(), one_line_each(pages, kHugePageBytes));
      huge_curve.push_back({static_cast<double>(pages), std::max(hit_ns, ns)});
    }
    out.pages.push_back(pages_from(kHugePageBytes, huge_curve, hit_ns, notes));
  }
  notes.push_back("Not measured: the associativities of TLBs, which are given as full.");

  const double parallel_memory_ns = parallel_ns(data, all_lines);
  const std::size_t near_bytes = out.caches.front().size_bytes / 2;
  out.overlap = Overlap{.misses = static_cast<std::uint64_t>(std::clamp(
                            std::round(out.memory_latency_ns / parallel_memory_ns), 1.0, 1024.0)),
                        .access_ns = rounded(parallel_ns(data, lines(near_bytes, line_bytes)))};
  return out;
}

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;

int probe_command(const std::string& output, std::uint64_t largest_bytes) {
  check_output(output);
  const Hierarchy hierarchy = [&] {
    try {
      return probe(largest_bytes);
    } catch (const std::bad_alloc&) {
      throw UsageError("the system refused the probe's memory; choose less with --largest");
    }
  }();
  const Json document = to_json(hierarchy);
  parse_hierarchy(document, "what the probe found");  // what `simulate` would refuse is not written
  write_document(document, output);
  for (const std::string& note : hierarchy.notes) fmt::print(stderr, "{}\n", note);
  return kExitGood;
}

}  // namespace

void add_probe(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("probe", "Measures this machine's hierarchy, in about a minute");
  auto output = std::make_shared<std::string>("-");
  auto largest_bytes = std::make_shared<std::uint64_t>(0);
  command->add_option("-o,--output", *output, "File for the hierarchy (- for standard output)");
  add_number(*command, "--largest",
             {.least = 0, .most = kMostBytes, .advice = "0 is 8 times the last cache"},
             "Largest buffer in bytes (8 times the last cache, within the memory)",
             [=](auto bytes) { *largest_bytes = bytes; });
  command->footer("Example: cache-sim probe -o here.json");
  command->callback(
      [=, &action] { action = [=] { return probe_command(*output, *largest_bytes); }; });
}

}  // namespace reduce_bench
