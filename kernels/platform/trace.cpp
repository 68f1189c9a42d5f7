#include "kernels/platform/trace_launch.hpp"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/platform/counts.hpp"
#include "kernels/platform/races.hpp"
#include "kernels/platform/warp.hpp"

// Linker symbols: the first byte of this program and the first after its data.
extern "C" const char __executable_start, _end;  // NOLINT(bugprone-reserved-identifier)

namespace reduce_bench::traced {
namespace trace {
namespace {

/// The thread that runs, while a kernel runs.
struct Running {
  Block* block = nullptr;
  std::uint32_t thread = 0;
  std::uintptr_t stack = 0;
  std::size_t stack_bytes = 0;
} running;

// ---- places in the source ---------------------------------------------------------------------

// A place is an address of code in this program, or one that the emulator was told, which has this
// bit.
constexpr std::uint32_t kTold = 0x80000000u;

using WhereKey = std::tuple<const char*, std::uint_least32_t, std::uint_least32_t>;
std::map<WhereKey, std::uint32_t> told_places;
std::vector<Where> told;  ///< by number

std::uint32_t place_of(const Where& where) {
  const auto [at, is_new] = told_places.try_emplace(
      {where.file_name(), where.line(), where.column()}, static_cast<std::uint32_t>(told.size()));
  if (is_new) told.push_back(where);
  return kTold | at->second;
}
std::uint32_t place_of(const void* return_address) {
  // The call is before the address to which it returns.
  return static_cast<std::uint32_t>(static_cast<const char*>(return_address) - 1 -
                                    &__executable_start);
}

std::string text_of(const Where& where) {
  return std::string(where.file_name()) + ':' + std::to_string(where.line());
}

/// Path from the root of the project, as far as it can be told.
std::string shortened(const std::string& path) {
  const auto at = path.rfind("/kernels/");
  return at == std::string::npos ? path : path.substr(at + 1);
}

struct LookedUp {
  std::string function, line;
};

/// What addr2line says of addresses of code.
std::vector<LookedUp> look_up(const std::vector<const void*>& addresses) {
  // A program that is loaded anywhere has addresses relative to where it was loaded.
  std::uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* to) {
        *static_cast<std::uintptr_t*>(to) = program->dlpi_addr;
        return 1;  // the program itself comes first
      },
      &base);
  std::ostringstream command;
  command << "addr2line -Cfe /proc/" << getpid() << "/exe" << std::hex;
  for (const void* address : addresses)
    command << " 0x" << reinterpret_cast<std::uintptr_t>(address) - base;
  command << " 2>/dev/null";
  std::string output;
  if (FILE* lines = popen(command.str().c_str(), "r")) {
    char part[4096];
    while (std::fgets(part, sizeof(part), lines) != nullptr) output += part;
    pclose(lines);
  }
  std::istringstream lines(output);
  std::vector<LookedUp> found(addresses.size(), {"?", "?"});
  for (LookedUp& one : found) {
    std::string function, line;
    if (!std::getline(lines, function) || !std::getline(lines, line)) break;
    one = {function, shortened(line.substr(0, line.find(' ')))};
  }
  return found;
}

std::string name_of_place(std::uint32_t place) {
  if ((place & kTold) != 0) {
    const Where& where = told[place & ~kTold];
    return shortened(text_of(where));
  }
  static std::map<std::uint32_t, std::string> known;
  std::string& name = known[place];
  if (name.empty()) name = look_up({&__executable_start + place}).front().line;
  return name;
}

/// The kernel's name without template arguments and this namespace.
std::string shortened_kernel(std::string name) {
  for (const std::string_view prefix : {"void ", "reduce_bench::traced::"})
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  return name.substr(0, name.find_first_of("<("));
}

// ---- one launch -------------------------------------------------------------------------------

struct Launch {
  const void* kernel;
  bool counts;       ///< instead of looking for races
  bool overlapping;  ///< with those of `launches_before`
  Races races;
  bool waited = false;        ///< a thread has, for the launch before
  std::size_t too_early = 0;  ///< accesses of threads that did not wait for the launch before
  LaunchCounts counted;
  std::map<std::uintptr_t, std::size_t> shared_memories;  ///< sizes by address, of resident blocks
  /// What the blocks of a cluster released when they arrived at a barrier, by its number.
  std::map<std::pair<std::size_t, unsigned>, Knowledge> clusters;
  std::vector<bool> met;  ///< barriers and fences, by number of the place
};
std::optional<Launch> launch_in_progress;
/// What was accessed by the launches with which an overlapping one may run.
std::vector<Races> launches_before;

/// Notes that the launch met the barrier or fence; whether it is to order nothing.
bool is_ignored(const Where& where) {
  static std::vector<std::string> texts;  // by number of the place, as telling costs more
  const std::uint32_t place = place_of(where) & ~kTold;
  if (texts.size() <= place) texts.resize(place + 1);
  if (texts[place].empty()) texts[place] = text_of(where) + ':' + std::to_string(where.column());
  std::vector<bool>& met = launch_in_progress->met;
  if (met.size() <= place) met.resize(place + 1);
  if (!met[place]) orderings_met().insert(texts[place]);
  met[place] = true;
  return settings().ordering_ignored_at == texts[place];
}

const char* verb_of(Kind kind) {
  switch (kind) {
    case Kind::kRead: return "reads";
    case Kind::kWrite: return "writes";
    case Kind::kVolatileRead: return "reads (volatile)";
    case Kind::kVolatileWrite: return "writes (volatile)";
    case Kind::kStrongRead: return "reads by load_volatile";
    case Kind::kStrongWrite: return "writes by store_volatile";
    case Kind::kAtomic: break;
  }
  return "updates atomically";
}

const NamedArray* array_at(std::uintptr_t address) {
  for (const NamedArray& array : settings().arrays)
    if (address - reinterpret_cast<std::uintptr_t>(array.data) < array.size_bytes) return &array;
  return nullptr;
}

/// Whether it is shared memory, of this block or of another of its cluster.
bool is_shared(std::uintptr_t address) {
  const auto& memories = launch_in_progress->shared_memories;
  const auto after = memories.upper_bound(address);
  if (after == memories.begin()) return false;
  const auto& [begin, size_bytes] = *std::prev(after);
  return address - begin < size_bytes;
}

/// Which memory it is, as the running block sees it.
std::string name_of_address(std::uintptr_t address) {
  std::ostringstream out;
  if (const NamedArray* array = array_at(address)) {
    const std::size_t byte = address - reinterpret_cast<std::uintptr_t>(array->data);
    if (array->element_bytes == 1) out << "byte " << byte << " of the " << array->name;
    else out << array->name << '[' << byte / array->element_bytes << ']';
  } else if (const Block& block = *running.block; address - block.shared < block.shared_bytes) {
    out << "byte " << address - block.shared << " of shared memory";
  } else {
    out << (is_shared(address) ? "shared memory of another block" : "device memory");
  }
  return out.str();
}

std::string text_of(const Race& race, std::size_t block_threads) {
  const auto text_of_access = [&](const Access& access) {
    std::ostringstream out;
    out << "thread " << access.stamp.thread % block_threads << " of block " << access.stamp.block
        << ' ' << verb_of(access.kind) << " at " << name_of_place(access.place);
    return out.str();
  };
  return name_of_address(race.address) + ": " + text_of_access(race.earlier) + ", " +
         text_of_access(race.later) + ", and nothing orders them";
}

/// The first race's text, made while its block's shared memory is known.
std::string first_race;

void report(const std::vector<Race>& races, std::size_t before) {
  if (before == 0 && !races.empty() && launch_in_progress->too_early == 0)
    first_race = text_of(races.front(), running.block->order.threads.size());
}

/// Notes an access for which the running thread should have waited for the launch before.
void check_wait(std::uintptr_t address, std::size_t size_bytes, Kind kind, std::uint32_t place) {
  if (!launch_in_progress->overlapping || running.block->waited[running.thread]) return;
  for (const Races& launch : launches_before) {
    const Access* const rival = launch.rival_of(address, size_bytes, kind);
    if (rival == nullptr) continue;
    if (launch_in_progress->too_early++ > 0 || !launch_in_progress->races.found().empty()) return;
    std::ostringstream out;
    out << name_of_address(address) << ": thread " << running.thread << " of block "
        << running.block->order.block << ' ' << verb_of(kind) << " at " << name_of_place(place)
        << " before it has waited for the launch before, which " << verb_of(rival->kind) << " at "
        << name_of_place(rival->place);
    first_race = out.str();
    return;
  }
}

void access_at(std::uintptr_t address, std::size_t size_bytes, Kind kind, std::uint32_t place) {
  Block& block = *running.block;
  if (launch_in_progress->counts) {
    launch_in_progress->counted.access(
        block.order.block, running.thread / kWarpSize,
        {place, running.thread % kWarpSize, static_cast<std::uint32_t>(size_bytes), kind,
         is_shared(address), address});
    return;
  }
  if (kind == Kind::kWrite) {
    const NamedArray* array = settings().arrays.empty() ? nullptr : array_at(address);
    if (array != nullptr && array->any_store_wins) kind = Kind::kStrongWrite;
  }
  check_wait(address, size_bytes, kind, place);
  Races& races = launch_in_progress->races;
  const std::size_t before = races.found().size();
  races.access(block.order, running.thread, address, size_bytes, kind, place);
  report(races.found(), before);
}

/// An access that the compiler reports. Those to a thread's own stack and to the program's own data
/// are no access to device or shared memory.
inline void compiled_access(const void* at, std::size_t size_bytes, Kind kind,
                            const void* return_address) {
  if (running.block == nullptr) return;
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  if (address - running.stack < running.stack_bytes) return;
  if (at >= &__executable_start && at < &_end) return;
  access_at(address, size_bytes, kind, place_of(return_address));
}

}  // namespace

// ---- what the emulator tells ------------------------------------------------------------------

void access(const void* address, std::size_t size_bytes, Kind kind, const Where& where) {
  if (running.block == nullptr) return;
  access_at(reinterpret_cast<std::uintptr_t>(address), size_bytes, kind, place_of(where));
}

void fence(Scope scope, const Where& where) {
  // A fence for the block orders nothing that a flag passes between blocks. No kernel has one
  // within a block, where a barrier is at hand.
  if (running.block == nullptr || launch_in_progress->counts || scope == Scope::kBlock ||
      is_ignored(where))
    return;
  running.block->order.fence(running.thread);
}

void wait_for_launch_before(const Where& where) {
  if (running.block == nullptr || launch_in_progress->counts || is_ignored(where)) return;
  running.block->waited[running.thread] = true;
  launch_in_progress->waited = true;
}

void begin_launch(const void* kernel, bool overlapping) {
  if (!overlapping) launches_before.clear();
  launch_in_progress.emplace(Launch{.kernel = kernel,
                                    .counts = settings().tracing != Tracing::kRaces,
                                    .overlapping = overlapping});
}

void drop_launch() {
  launch_in_progress.reset();
  launches_before.clear();
  running = {};
}

namespace {

/// Adds what the launch did to `counted()`.
void end_counts() {
  const auto& by_place = launch_in_progress->counted.by_place();
  std::vector<CountedPlace>& all = counted();
  if (settings().tracing == Tracing::kCounts) {
    if (all.empty()) all.emplace_back();
    for (const auto& [unused, counts] : by_place) add(all.front().counts, counts);
    return;
  }
  std::vector<const void*> addresses{launch_in_progress->kernel};
  for (const auto& [place, unused] : by_place)
    addresses.push_back(&__executable_start + ((place & kTold) != 0 ? 0 : place));
  const std::vector<LookedUp> names = look_up(addresses);
  const std::string kernel = shortened_kernel(names.front().function);
  auto name = names.begin();
  for (const auto& [place, counts] : by_place) {
    ++name;
    const std::string where = (place & kTold) != 0 ? name_of_place(place) : name->line;
    auto known = std::find_if(all.begin(), all.end(), [&](const CountedPlace& one) {
      return one.kernel == kernel && one.where == where;
    });
    if (known == all.end()) known = all.insert(all.end(), {kernel, where, {}});
    add(known->counts, counts);
  }
}

}  // namespace

void end_launch() {
  if (launch_in_progress->counts) {
    end_counts();
    return drop_launch();
  }
  std::size_t races = launch_in_progress->races.found().size() + launch_in_progress->too_early;
  // A launch behind it that waits for it alone would not come after those before it.
  if (races == 0 && launch_in_progress->overlapping && !launch_in_progress->waited) {
    races = 1;
    first_race = "which may end before the launches before it, since none of its threads waits";
  }
  if (races == 0) {
    launches_before.push_back(std::move(launch_in_progress->races));
    launch_in_progress.reset();
    running = {};
    return;
  }
  const std::string kernel =
      shortened_kernel(look_up({launch_in_progress->kernel}).front().function);
  drop_launch();
  std::ostringstream out;
  out << "race in " << kernel << ", " << first_race;
  if (races > 1) out << "; " << races - 1 << " more pairs of lines race";
  throw EmuError(out.str());
}

void begin_block(Block& block, std::uint32_t index, std::size_t threads, const void* shared,
                 std::size_t shared_bytes) {
  block = {BlockOrder(index, static_cast<std::uint32_t>(threads)),
           reinterpret_cast<std::uintptr_t>(shared), shared_bytes, std::vector<bool>(threads)};
  if (shared_bytes > 0) launch_in_progress->shared_memories[block.shared] = shared_bytes;
}

void end_block(Block& block) {
  if (launch_in_progress->counts) launch_in_progress->counted.end_block(block.order.block);
  else launch_in_progress->races.forget(block.shared, block.shared_bytes);
  launch_in_progress->shared_memories.erase(block.shared);
}

void enter(Block& block, std::size_t t, const void* stack, std::size_t stack_bytes) {
  running = {&block, static_cast<std::uint32_t>(t), reinterpret_cast<std::uintptr_t>(stack),
             stack_bytes};
}
void leave() { running = {}; }

void barrier(Block& block, const Where& where) {
  if (launch_in_progress->counts) {
    const auto warps = static_cast<std::uint32_t>(ceil_div(block.order.threads.size(), kWarpSize));
    for (std::uint32_t warp = 0; warp < warps; ++warp)
      launch_in_progress->counted.meet(block.order.block, warp);
    launch_in_progress->counted.add(Metric::kBarriers, place_of(where), warps);
  } else if (!is_ignored(where)) {
    block.order.barrier();
  }
}

void warp_met(Block& block, std::size_t first, unsigned mask, Meeting meeting, const Where& where) {
  if (launch_in_progress->counts) {
    launch_in_progress->counted.meet(block.order.block,
                                     static_cast<std::uint32_t>(first / kWarpSize));
    const auto what = meeting == Meeting::kBarrier   ? Metric::kWarpBarriers
                      : meeting == Meeting::kShuffle ? Metric::kShuffles
                                                     : Metric::kVotes;
    launch_in_progress->counted.add(what, place_of(where), 1);
  } else if (meeting == Meeting::kBarrier && !is_ignored(where)) {
    // Shuffles and votes do not order accesses to memory.
    block.order.warp_barrier(static_cast<std::uint32_t>(first), mask);
  }
}

void arrive_at_cluster_barrier(std::size_t cluster, unsigned number, const Where& where) {
  if (launch_in_progress->counts || is_ignored(where)) return;
  Knowledge& known = launch_in_progress->clusters[{cluster, number}];
  known = joined(known, running.block->order.release(running.thread));
}

void leave_cluster_barrier(std::size_t cluster, unsigned number) {
  const auto known = launch_in_progress->clusters.find({cluster, number});
  if (known != launch_in_progress->clusters.end())
    running.block->order.acquire(running.thread, known->second);
}

}  // namespace trace
}  // namespace reduce_bench::traced

// ---- what the compiler calls ------------------------------------------------------------------

namespace {
using reduce_bench::traced::trace::compiled_access;
using reduce_bench::traced::trace::Kind;
}  // namespace

#define REPORT(name, size_bytes, kind) \
  void name(void* at) { compiled_access(at, size_bytes, kind, __builtin_return_address(0)); }
#define REPORT_SIZE(bytes)                                                  \
  REPORT(__tsan_read##bytes, bytes, Kind::kRead)                            \
  REPORT(__tsan_write##bytes, bytes, Kind::kWrite)                          \
  REPORT(__tsan_volatile_read##bytes, bytes, Kind::kVolatileRead)           \
  REPORT(__tsan_volatile_write##bytes, bytes, Kind::kVolatileWrite)         \
  REPORT(__tsan_unaligned_read##bytes, bytes, Kind::kRead)                  \
  REPORT(__tsan_unaligned_write##bytes, bytes, Kind::kWrite)                \
  REPORT(__tsan_unaligned_volatile_read##bytes, bytes, Kind::kVolatileRead) \
  REPORT(__tsan_unaligned_volatile_write##bytes, bytes, Kind::kVolatileWrite)

extern "C" {
REPORT_SIZE(1)
REPORT_SIZE(2)
REPORT_SIZE(4)
REPORT_SIZE(8)
REPORT_SIZE(16)
void __tsan_read_range(void* at, std::size_t size_bytes) {
  compiled_access(at, size_bytes, Kind::kRead, __builtin_return_address(0));
}
void __tsan_write_range(void* at, std::size_t size_bytes) {
  compiled_access(at, size_bytes, Kind::kWrite, __builtin_return_address(0));
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
}
