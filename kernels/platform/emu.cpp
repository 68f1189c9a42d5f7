#include <algorithm>
#include <array>
#include <bit>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <deque>
#include <exception>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/platform/platform.hpp"
#include "kernels/platform/trace_launch.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if !defined(__x86_64__)
#include <boost/context/detail/fcontext.hpp>
#endif

namespace reduce_bench::BACKEND {
namespace {

constexpr unsigned kMaxThreadsPerBlock = 1024;
/// Each started thread holds a stack, which costs two memory mappings of the 65530 that Linux
/// grants a process by default.
constexpr std::size_t kMaxResidentThreads = 30000;

// ---- stacks -----------------------------------------------------------------------------------

#if defined(__x86_64__)
/// Saves where this stack is left at `own` and goes on where another was left, or begins it; returns
/// when another switches back. Boost's switch saves the modes of both floating-point units too, which
/// no kernel changes and which take most of its time. Inlined, so that the processor predicts the
/// returns that follow: the threads of a warp mostly wait at one place.
[[gnu::always_inline]] inline void switch_stack(void** own, void* next) {
  asm volatile(
      "lea -128(%%rsp), %%rsp\n\t"  // the compiler may use so much below the stack pointer
      "push %%rbp\n\t"
      "lea 1f(%%rip), %%rax\n\t"
      "push %%rax\n\t"
      "mov %%rsp, (%%rdi)\n\t"
      "mov %%rsi, %%rsp\n\t"
      "pop %%rax\n\t"
      "jmp *%%rax\n"
      "1:\n\t"
      "pop %%rbp\n\t"
      "lea 128(%%rsp), %%rsp"
      : "+D"(own), "+S"(next)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
        "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
}
/// What `switch_stack` begins: `run` on the stack that ends at `top`.
void* beginning_of(char* top, std::size_t, void (*run)()) {
  // The function finds the stack pointer as after a call: the return address, here none, above it.
  auto* const end = reinterpret_cast<void**>(reinterpret_cast<std::uintptr_t>(top) / 16 * 16);
  end[-2] = reinterpret_cast<void*>(run);
  end[-1] = nullptr;
  return end - 2;
}
#else
void switch_stack(void** own, void* next) {
  const auto from = boost::context::detail::jump_fcontext(next, own);
  *static_cast<void**>(from.data) = from.fctx;
}
void* beginning_of(char* top, std::size_t bytes, void (*run)()) {
  static void (*const runs)() = run;
  return boost::context::detail::make_fcontext(top, bytes,
                                               [](boost::context::detail::transfer_t from) {
                                                 *static_cast<void**>(from.data) = from.fctx;
                                                 runs();
                                               });
}
#endif

/// A stack, and where what runs on it goes on when another switches to it.
struct Context {
  void* stack_pointer = nullptr;
  const char* bottom = nullptr;
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
#endif
};
Context host;                 ///< what called run_grids
std::size_t stack_bytes = 0;  ///< of any other stack, with its guard page

// AddressSanitizer has to be told of every change of stack. Its instrumented frames are larger.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStackBytes = 256 * 1024;
Context *left = nullptr, *reached = nullptr;  ///< by the last switch
std::size_t host_bytes = 0;

/// Is called after a switch, on the stack that it led to.
void arrive() {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(reached->fake_stack, &bottom, &bytes);
  if (left != &host) return;
  host.bottom = static_cast<const char*>(bottom);
  host_bytes = bytes;
}

/// Returns when another switches back to `own`, the context that calls this.
inline void switch_to(Context& next, Context& own) {
  left = &own;
  reached = &next;
  __sanitizer_start_switch_fiber(&own.fake_stack, next.bottom,
                                 &next == &host ? host_bytes : stack_bytes);
  switch_stack(&own.stack_pointer, next.stack_pointer);
  arrive();
}
#else
constexpr std::size_t kStackBytes = 64 * 1024;
void arrive() {}
inline void switch_to(Context& next, Context& own) {
  switch_stack(&own.stack_pointer, next.stack_pointer);
}
#endif

/// Runs one CUDA thread after another on the stack where it begins.
void run_threads();

/// A stack with a guard page that is ready to run threads.
Context new_stack() {
  const auto stack = boost::context::protected_fixedsize_stack(kStackBytes).allocate();
  stack_bytes = stack.size;
  // Stacks begin at different offsets from a page: at the same one, those of a warp would compete
  // for a few sets of the cache.
  static std::size_t stacks = 0;
  const std::size_t offset = stacks++ * 320 % 4096;
  char* const top = static_cast<char*>(stack.sp);
  Context context;
  context.bottom = top - stack.size;
  context.stack_pointer = beginning_of(top - offset, stack.size - offset, run_threads);
  return context;
}

/// Stacks without a thread, the one used last on top since it is in the cache. Never destroyed: what
/// runs on them has no end.
std::vector<Context>& idle_stacks() {
  static auto& stacks = *new std::vector<Context>;
  return stacks;
}

Context take_stack() {
  auto& idle = idle_stacks();
  if (idle.empty()) return new_stack();
  const Context stack = idle.back();
  idle.pop_back();
  return stack;
}

// ---- what a grid consists of ------------------------------------------------------------------

/// Thrown through a suspended thread to unwind it when the grid is given up. Destructors of kernel
/// objects must therefore not wait or give way.
struct Cancelled {};

struct Block;
struct Warp;

enum class State : std::uint8_t { kReady, kYielded, kAtBarrier, kAtCollective, kExited };

/// One line of the cache holds what a switch touches.
struct alignas(64) Thread : ThreadView {
  Context context;  ///< from the first step to the end of the thread
  Block* block = nullptr;
  Warp* warp = nullptr;
  Where where{};      ///< where it last waited or gave way
  unsigned mask = 0;  ///< of the collective where it waits
  State state = State::kReady;

  bool has_begun() const { return context.bottom != nullptr; }
};

/// Threads in the order in which they are to run; a ring, since they come and go at both ends.
class Queue {
 public:
  std::size_t size() const { return end_ - begin_; }
  Thread*& operator[](std::size_t i) { return at(begin_ + i); }
  void push_back(Thread* thread) { at(end_++) = thread; }
  void push_front(Thread* thread) { at(--begin_) = thread; }
  Thread* pop_front() { return at(begin_++); }
  Thread* pop_back() { return at(--end_); }
  /// Makes room for as many.
  void reserve(std::size_t threads) {
    if (threads <= ring_.size()) return;
    std::vector<Thread*> ring(std::bit_ceil(threads));
    for (std::size_t i = 0; i < size(); ++i) ring[i] = (*this)[i];
    end_ = size();
    begin_ = 0;
    ring_ = std::move(ring);
  }

 private:
  Thread*& at(std::size_t i) { return ring_[i & (ring_.size() - 1)]; }

  std::vector<Thread*> ring_;  ///< a power of two
  std::size_t begin_ = 0, end_ = 0;
};

/// One meeting of the lanes of a mask at one place. It lives until every lane has read the values.
struct Collective {
  unsigned mask;
  Where where;
  unsigned arrived;
  unsigned ballot;  ///< the lanes whose value is not 0
  unsigned readers;
  std::array<std::uint64_t, kWarpSize> values;
};

struct Warp {
  Thread* lanes = nullptr;
  unsigned size = 0;
  unsigned present = 0;  ///< lanes that exist and have not exited
  std::vector<Collective*> pending;
};

struct Block : BlockView {
  std::vector<Thread> all_threads;
  std::vector<Warp> warps;
  std::unique_ptr<std::byte[]> memory;
  unsigned live = 0;
  unsigned runnable = 0;
  // The barrier. A thread reads its result at the latest before it arrives at the next barrier, so
  // two results, used in turn, are enough.
  unsigned arrived = 0;
  unsigned votes = 0;
  bool one_place = true;
  Where place{};
  unsigned phase = 0;
  std::array<unsigned, 2> votes_of_phase{};
  unsigned cluster_barriers = 0;  ///< how many it has reached
  const Program* program = nullptr;
  std::uint32_t number = 0;  ///< among the blocks of all grids
  trace::Block trace;

  std::size_t index_of(const Thread& thread) const {
    return static_cast<std::size_t>(&thread - all_threads.data());
  }
};

/// What the blocks of a cluster know of each other.
struct Cluster {
  std::vector<Block*> blocks;              ///< by rank; null before it begins and after its end
  std::vector<unsigned> barriers_reached;  ///< by rank; outlives the block
};

bool same_place(const Where& a, const Where& b) {
  // One place of one file of objects is one object of the compiler's, so that little need be read.
  if (std::bit_cast<const void*>(a) == std::bit_cast<const void*>(b)) return true;
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() ||
          std::string_view(a.file_name()) == std::string_view(b.file_name()));
}

// ---- messages ---------------------------------------------------------------------------------

template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

std::string name_of(const Where& where) {
  return text(where.file_name(), ':', where.line(), ':', where.column());
}
std::string name_of_mask(unsigned mask) { return text("mask 0x", std::hex, mask); }
std::string name_of(const Block& block) {
  if (block.blocks.y == 1 && block.blocks.z == 1) return text("block ", block.index.x);
  return text("block (", block.index.x, ',', block.index.y, ',', block.index.z, ')');
}

std::string situation_of(const Thread& thread) {
  switch (thread.state) {
    case State::kReady:
      if (thread.where.line() == 0) return "not started";
      return "released from " + name_of(thread.where);
    case State::kYielded: return "spinning at " + name_of(thread.where);
    case State::kAtBarrier: return "at " + name_of(thread.where);
    case State::kAtCollective:
      return text("at warp collective ", name_of(thread.where), " (", name_of_mask(thread.mask),
                  ')');
    case State::kExited: break;
  }
  return "exited";
}

/// "threads 0-31,40 at x.cu:40:3, threads 32-39 exited"
std::string situation_of(const Block& block) {
  struct Group {
    std::string situation, ranges;
    std::size_t first, last;
    void close() {
      ranges += text(ranges.empty() ? "" : ",", first);
      if (last != first) ranges += text('-', last);
    }
  };
  std::vector<Group> groups;
  for (std::size_t i = 0; i < block.all_threads.size(); ++i) {
    const std::string situation = situation_of(block.all_threads[i]);
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const Group& g) { return g.situation == situation; });
    if (group == groups.end()) {
      groups.push_back({situation, "", i, i});
    } else if (group->last + 1 == i) {
      group->last = i;
    } else {
      group->close();
      group->first = group->last = i;
    }
  }
  std::string all;
  for (Group& group : groups) {
    group.close();
    all += text(all.empty() ? "" : ", ", "threads ", group.ranges, ' ', group.situation);
  }
  return all;
}

// ---- the scheduler ----------------------------------------------------------------------------

std::size_t count_of(const dim3& shape) { return std::size_t{shape.x} * shape.y * shape.z; }
dim3 index_in(const dim3& shape, std::size_t i) {
  return {static_cast<unsigned>(i % shape.x), static_cast<unsigned>(i / shape.x % shape.y),
          static_cast<unsigned>(i / shape.x / shape.y)};
}

void check_limits(const LaunchShape& shape) {
  const auto refuse = [](const auto&... reason) {
    throw EmuError(text("launch refused, invalid configuration: ", reason...));
  };
  const dim3 &g = shape.grid, &b = shape.block;
  if (count_of(g) == 0 || g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535)
    refuse("a grid of ", g.x, " x ", g.y, " x ", g.z,
           " blocks; 1 to 2147483647 x 65535 x 65535 are allowed");
  if (count_of(b) == 0 || count_of(b) > kMaxThreadsPerBlock || b.x > 1024 || b.y > 1024 || b.z > 64)
    refuse("a block of ", b.x, " x ", b.y, " x ", b.z, " threads; 1 to ", kMaxThreadsPerBlock,
           " are allowed, at most 64 of them in z");
  if (const std::size_t most = settings().device.max_shared_bytes_per_block;
      shape.shared_bytes > most)
    refuse(shape.shared_bytes, " bytes of shared memory per block; at most ", most, " are allowed");
  if (const unsigned most = settings().device.max_blocks_per_cluster;
      shape.cluster == 0 || shape.cluster > most || g.x % shape.cluster != 0)
    refuse("clusters of ", shape.cluster, " blocks in a grid of ", g.x, "; 1 to ", most,
           " that divide it are allowed");
}

/// Runs on from launch to launch, so that each interleaves differently.
std::mt19937_64 random_bits{Settings{}.seed};
std::uint64_t seed_in_use = Settings{}.seed;
std::uint64_t reseeds_seen = 0;

/// A permutation of the lanes 0 .. 31, cheap enough to be drawn anew at every barrier.
struct Permutation {
  unsigned flip, step, start;  // step is odd
  unsigned operator()(unsigned i) const { return ((i ^ flip) * step + start) % kWarpSize; }
};

/// The grids of a launch: one, or one for each of several devices.
class Grid {
 public:
  Grid(const LaunchShape& shape, std::span<const Program> programs)
      : shape_(shape), programs_(programs), block_threads_(count_of(shape.block)) {
    if (settings().seed != seed_in_use || settings().reseeds != reseeds_seen) {
      seed_in_use = settings().seed;
      reseeds_seen = settings().reseeds;
      random_bits.seed(seed_in_use);
    }
    next_ = std::array{Next::kNewest, Next::kOldest, Next::kAny}[draw(3)];
    const std::array orders{Order::kAscending, Order::kDescending, Order::kShuffled,
                            Order::kShuffled};
    warp_order_ = orders[draw(4)];
    lane_order_ = orders[draw(4)];
    poison_ = draw(2) == 0 ? 0xcb : 0x7b;  // -2.6e7 or 1.3e36 as float; below or above as integer
    const std::size_t blocks = programs.size() * count_of(shape.grid);
    if (shape.cluster > 1)
      clusters_.assign(blocks / shape.cluster,
                       {.blocks = std::vector<Block*>(shape.cluster),
                        .barriers_reached = std::vector<unsigned>(shape.cluster)});
    waiting_blocks_.resize(blocks);
    std::iota(waiting_blocks_.begin(), waiting_blocks_.end(), 0u);
    std::shuffle(waiting_blocks_.begin(), waiting_blocks_.end(), random_bits);
    detail::yield_points_to_skip = draw_yield_points_to_skip();
    detail::yields_without_progress = 0;
  }

  void run() {
    for (;;) {
      while (lacks_blocks() && can_admit()) admit();
      if (resident_.empty()) return;
      step(next_ready());
      if (failure_) std::rethrow_exception(failure_);
      if (stalled()) {
        if (can_admit()) admit();
        else if (hopeless()) throw EmuError(livelock());
      }
    }
  }

  /// Unwinds every thread that has started, so that their stacks can serve again.
  void cancel() {
    cancelling_ = true;
    for (auto& block : resident_)
      for (Thread& thread : block->all_threads)
        if (thread.has_begun()) {
          enter(thread);
          idle_stacks().push_back(std::exchange(thread.context, {}));
        }
  }

  // What a running thread calls.

  /// Runs the running thread to its end and chooses the next; returns where that begins.
  void run_current() {
    try {
      const Program& program = *running_->block->program;
      program.call(program.arguments);
    } catch (const Cancelled&) {
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
    Thread& thread = *running_;
    thread.state = State::kExited;
    const Block& block = *thread.block;
    const bool host_must_act = failure_ || cancelling_ || block.live == 1 || block.runnable == 1 ||
                               !thread.warp->pending.empty() || lacks_blocks();
    if (host_must_act) return switch_to(host, thread.context);
    exited(thread);
    Thread& next = next_ready();
    ++steps_without_turnover_;
    if (!next.has_begun()) {
      next.context = std::exchange(thread.context, {});
      return set_running(next);
    }
    Context& idle = idle_stacks().emplace_back(std::exchange(thread.context, {}));
    set_running(next);
    switch_to(next.context, idle);
  }

  void give_way(const Where& where) {
    Thread& thread = *running_;
    thread.state = State::kYielded;
    thread.where = where;
    ++detail::yields_without_progress;
    detail::yield_points_to_skip = draw_yield_points_to_skip();
    if (next_ == Next::kNewest) ready_.push_front(&thread);
    else ready_.push_back(&thread);
    suspend(thread);
  }

  /// Returns how many threads of the block voted yes.
  unsigned barrier(bool vote, const Where& where) {
    Thread& thread = *running_;
    Block& block = *thread.block;
    if (block.arrived == 0) block.place = where;
    block.one_place = block.one_place && same_place(block.place, where);
    ++block.arrived;
    block.votes += vote;
    const unsigned phase = block.phase;
    block_at(thread, State::kAtBarrier, where);
    if (block.arrived == block_threads_ && block.one_place) complete_barrier(block);
    suspend(thread);
    return block.votes_of_phase[phase % 2];
  }

  unsigned cluster_rank() const { return rank_of(*running_->block); }

  void cluster_barrier(const Where& where) {
    Block& block = *running_->block;
    const unsigned own = block.cluster_barriers + 1;
    barrier(false, where);  // the whole block is here
    block.cluster_barriers = own;
    Cluster* cluster = cluster_of(block);
    if (cluster == nullptr) return;
    const auto number = static_cast<std::size_t>(cluster - clusters_.data());
    trace::arrive_at_cluster_barrier(number, own, where);
    cluster->barriers_reached[rank_of(block)] = own;
    while (*std::ranges::min_element(cluster->barriers_reached) < own) give_way(where);
    trace::leave_cluster_barrier(number, own);
  }

  void* cluster_shared(void* own, unsigned rank, const Where& where) {
    Block& block = *running_->block;
    Block* other = &block;
    if (Cluster* cluster = cluster_of(block); cluster != nullptr && rank < shape_.cluster)
      other = cluster->blocks[rank];
    else if (rank != 0)
      throw EmuError(text("cluster_shared at ", name_of(where), " in ", name_of(block), ": rank ",
                          rank, " of a cluster of ", shape_.cluster, " blocks"));
    if (other == nullptr)
      throw EmuError(text("cluster_shared at ", name_of(where), " in ", name_of(block),
                          ": the block of rank ", rank,
                          " has not begun or has ended; put cluster_sync before and after"));
    return other->memory.get() + (static_cast<std::byte*>(own) - block.memory.get());
  }

  [[noreturn]] void refuse_misaligned(const void* from, std::size_t alignment, const Where& where) {
    throw EmuError(text("load_ahead at ", name_of(where), " in ", name_of(*running_->block),
                        ": the address ", from, " is not a multiple of ", alignment));
  }

  /// Waits for all lanes of `mask`. Whoever gets the collective must `leave` it.
  Collective& meet(unsigned mask, std::uint64_t value, trace::Meeting meeting, const Where& where) {
    Thread& thread = *running_;
    Warp& warp = *thread.warp;
    if ((mask >> thread.lane & 1u) == 0) throw EmuError(unnamed_lane(thread, mask, where));
    if ((mask & ~warp.present) != 0) throw EmuError(absent_lane(*thread.block, warp, mask, where));
    auto found = std::find_if(warp.pending.begin(), warp.pending.end(), [&](Collective* c) {
      return c->mask == mask && same_place(c->where, where);
    });
    if (found == warp.pending.end())
      found = warp.pending.insert(found, new_collective(mask, where));
    Collective& collective = **found;
    collective.arrived |= 1u << thread.lane;
    collective.ballot |= unsigned{value != 0} << thread.lane;
    collective.values[thread.lane] = value;
    thread.mask = mask;
    block_at(thread, State::kAtCollective, where);
    if (collective.arrived == mask) {
      warp.pending.erase(found);
      Block& block = *thread.block;
      trace::warp_met(block.trace, block.index_of(*warp.lanes), mask, meeting, where);
      collective.readers = static_cast<unsigned>(std::popcount(mask));
      detail::yields_without_progress = 0;
      make_ready(warp, mask);
    }
    suspend(thread);
    return collective;
  }

  void leave(Collective& collective) {
    if (--collective.readers == 0) idle_collectives_.push_back(&collective);
  }

  std::uint64_t poison() const { return poison_ * 0x0101010101010101u; }

 private:
  /// Which ready thread runs next. kNewest drives one group of threads as far as it can go, kOldest
  /// keeps all in step.
  enum class Next { kNewest, kOldest, kAny };
  enum class Order { kAscending, kDescending, kShuffled };

  unsigned draw(std::size_t bound) { return static_cast<unsigned>(random_bits() % bound); }
  unsigned draw_yield_points_to_skip() { return draw(16); }
  Permutation draw_permutation(Order order) {
    if (order == Order::kAscending) return {0, 1, 0};
    if (order == Order::kDescending) return {kWarpSize - 1, 1, 0};
    const unsigned bits = static_cast<unsigned>(random_bits());
    return {bits % 32, bits / 32 % 32 | 1u, bits / 1024 % 32};
  }

  // -- blocks

  bool lacks_blocks() const { return resident_.size() < residents_ && !waiting_blocks_.empty(); }
  bool can_admit() const {
    return !waiting_blocks_.empty() && live_ + block_threads_ <= kMaxResidentThreads;
  }

  void admit() {
    if (idle_blocks_.empty()) idle_blocks_.push_back(new_block());
    Block& block = *resident_.emplace_back(std::move(idle_blocks_.back()));
    idle_blocks_.pop_back();
    block.number = waiting_blocks_.back();
    waiting_blocks_.pop_back();
    block.index = index_in(shape_.grid, block.number % count_of(shape_.grid));
    block.program = &programs_[block.number / count_of(shape_.grid)];
    std::fill_n(block.memory.get(), shape_.shared_bytes, std::byte{poison_});
    block.live = static_cast<unsigned>(block_threads_);
    live_ += block_threads_;
    ready_.reserve(live_);
    for (Thread& thread : block.all_threads) thread.where = Where{};
    for (Warp& warp : block.warps) warp.present = all_lanes(warp);
    block.cluster_barriers = 0;
    trace::begin_block(block.trace, block.number, block_threads_, block.shared,
                       shape_.shared_bytes);
    if (Cluster* cluster = cluster_of(block)) cluster->blocks[rank_of(block)] = &block;
    make_ready(block);
    note_turnover();
  }

  unsigned rank_of(const Block& block) const { return block.index.x % shape_.cluster; }
  /// Null where every block is alone.
  Cluster* cluster_of(const Block& block) {
    if (clusters_.empty()) return nullptr;
    return &clusters_[block.number / shape_.cluster];
  }

  std::unique_ptr<Block> new_block() const {
    auto block = std::make_unique<Block>();
    block->threads = shape_.block;
    block->blocks = shape_.grid;
    // None is a null pointer, which faults; an allocation of no bytes would hide an access.
    if (shape_.shared_bytes > 0) block->memory.reset(new std::byte[shape_.shared_bytes]);
    block->shared = block->memory.get();
    block->all_threads = std::vector<Thread>(block_threads_);
    block->warps.resize(ceil_div(block_threads_, kWarpSize));
    for (std::size_t i = 0; i < block_threads_; ++i) {
      Thread& thread = block->all_threads[i];
      Warp& warp = block->warps[i / kWarpSize];
      thread.index = index_in(shape_.block, i);
      thread.lane = static_cast<unsigned>(i % kWarpSize);
      thread.block = block.get();
      thread.warp = &warp;
      if (warp.size++ == 0) warp.lanes = &thread;
    }
    return block;
  }

  static unsigned all_lanes(const Warp& warp) {
    return warp.size == kWarpSize ? ~0u : (1u << warp.size) - 1;
  }

  void retire(Block& block) {
    if (Cluster* cluster = cluster_of(block)) cluster->blocks[rank_of(block)] = nullptr;
    trace::end_block(block.trace);
    const auto at = std::find_if(resident_.begin(), resident_.end(),
                                 [&](const auto& candidate) { return candidate.get() == &block; });
    idle_blocks_.push_back(std::move(*at));
    *at = std::move(resident_.back());
    resident_.pop_back();
  }

  // -- threads

  void make_ready(Warp& warp, unsigned lanes) {
    const Permutation permutation = draw_permutation(lane_order_);
    warp.lanes->block->runnable += static_cast<unsigned>(std::popcount(lanes));
    for (unsigned i = 0; i < kWarpSize; ++i) {
      const unsigned lane = permutation(i);
      if ((lanes >> lane & 1u) == 0) continue;
      Thread& thread = warp.lanes[lane];
      thread.state = State::kReady;
      ready_.push_back(&thread);
    }
  }
  void make_ready(Block& block) {
    const Permutation permutation = draw_permutation(warp_order_);
    for (unsigned i = 0; i < kWarpSize; ++i)
      if (const unsigned warp = permutation(i); warp < block.warps.size())
        make_ready(block.warps[warp], all_lanes(block.warps[warp]));
  }

  void complete_barrier(Block& block) {
    trace::barrier(block.trace, block.place);
    block.votes_of_phase[block.phase++ % 2] = block.votes;
    block.votes = 0;
    block.arrived = 0;
    detail::yields_without_progress = 0;
    make_ready(block);
  }

  Thread& next_ready() {
    if (next_ == Next::kAny) std::swap(ready_[draw(ready_.size())], ready_[ready_.size() - 1]);
    // A group that keeps meeting itself, as in a polling loop, must not shut out all others.
    const bool oldest = next_ == Next::kOldest || (next_ == Next::kNewest && draw(256) == 0);
    return oldest ? *ready_.pop_front() : *ready_.pop_back();
  }

  void set_running(Thread& thread) {
    running_ = &thread;
    detail::current_thread = &thread;
    detail::current_block = thread.block;
    trace::enter(thread.block->trace, thread.block->index_of(thread), thread.context.bottom,
                 stack_bytes);
  }

  /// Runs the thread, and those that it and they hand over to, until one suspends or ends.
  void enter(Thread& thread) {
    set_running(thread);
    switch_to(thread.context, host);
    detail::current_thread = nullptr;
    detail::current_block = nullptr;
    trace::leave();
  }

  void step(Thread& first) {
    ++steps_without_turnover_;
    if (!first.has_begun()) first.context = take_stack();
    enter(first);
    Thread& thread = *running_;
    if (thread.state == State::kExited) idle_stacks().push_back(std::exchange(thread.context, {}));
    if (failure_) return;
    Block& block = *thread.block;
    if (thread.state == State::kExited) exited(thread);
    if (block.live == 0) retire(block);
    else if (block.runnable == 0) throw EmuError(standstill(block));
  }

  void exited(Thread& thread) {
    Block& block = *thread.block;
    Warp& warp = *thread.warp;
    --block.live;
    --block.runnable;
    --live_;
    warp.present &= ~(1u << thread.lane);
    note_turnover();
    for (const Collective* collective : warp.pending)
      if ((collective->mask >> thread.lane & 1u) != 0)
        throw EmuError(absent_lane(block, warp, collective->mask, collective->where));
  }

  static void block_at(Thread& thread, State state, const Where& where) {
    thread.state = state;
    thread.where = where;
    --thread.block->runnable;
  }

  void suspend(Thread& thread) {
    if (!cancelling_) give_up_processor(thread);
    if (cancelling_) throw Cancelled{};
  }

  /// Switches to the next thread, straight where the host has nothing to decide, since a detour by
  /// it is one more switch.
  void give_up_processor(Thread& thread) {
    if (thread.block->runnable == 0 || stalled()) return switch_to(host, thread.context);
    Thread& next = next_ready();
    ++steps_without_turnover_;
    if (&next == &thread) return;
    if (!next.has_begun()) next.context = take_stack();
    set_running(next);
    switch_to(next.context, thread.context);
  }

  Collective* new_collective(unsigned mask, const Where& where) {
    if (idle_collectives_.empty()) idle_collectives_.push_back(&collectives_.emplace_back());
    Collective* collective = idle_collectives_.back();
    idle_collectives_.pop_back();
    collective->mask = mask;
    collective->where = where;
    collective->arrived = 0;
    collective->ballot = 0;
    return collective;
  }

  // -- waiting for nothing

  void note_turnover() {
    detail::yields_without_progress = 0;
    steps_without_turnover_ = 0;
  }

  // Progress: a thread ends, a barrier or collective completes, an atomic changes its word, a block
  // is admitted. Threads that poll with barriers or collectives make progress all the time, hence
  // the second condition.

  /// All resident threads may be waiting for a block that is not resident yet.
  bool stalled() const {
    return detail::yields_without_progress > ready_.size() + 64 ||
           steps_without_turnover_ > 32 * live_;
  }
  bool hopeless() const {
    const std::uint64_t limit = settings().spin_limit;
    return detail::yields_without_progress > limit || steps_without_turnover_ > 1024 * limit;
  }

  std::string livelock() const {
    constexpr std::size_t kNamedBlocks = 4;
    std::string where;
    for (std::size_t i = 0; i < std::min(kNamedBlocks, resident_.size()); ++i)
      where += text(i == 0 ? "" : "; ", name_of(*resident_[i]), ": ", situation_of(*resident_[i]));
    if (resident_.size() > kNamedBlocks)
      where += text("; and ", resident_.size() - kNamedBlocks, " more blocks");
    if (!waiting_blocks_.empty())
      where += text("; ", waiting_blocks_.size(), " blocks more than can be resident at once");
    return text("livelock, no thread makes progress: ", where,
                "; check that what they wait for is written by a thread that need not wait for "
                "them");
  }

  /// No thread of the block can run, and none outside can help.
  static std::string standstill(const Block& block) {
    const bool barriers_only =
        std::none_of(block.all_threads.begin(), block.all_threads.end(),
                     [](const Thread& thread) { return thread.state == State::kAtCollective; });
    if (barriers_only)
      return text("divergent barrier in ", name_of(block), ": ", situation_of(block),
                  "; every thread of a block must reach the same __syncthreads");
    return text("deadlock in ", name_of(block), ": ", situation_of(block),
                "; every lane of a mask must reach the same collective, and every thread of a "
                "block the same __syncthreads");
  }

  // Kept out of `meet`, whose frame on every stack would become large.
  [[gnu::cold, gnu::noinline]] static std::string unnamed_lane(const Thread& thread, unsigned mask,
                                                               const Where& where) {
    return text("warp collective at ", name_of(where), " in ", name_of(*thread.block), ": ",
                name_of_mask(mask), " does not name lane ", thread.lane,
                ", which calls it; a calling lane must be in its own mask");
  }
  [[gnu::cold, gnu::noinline]] static std::string absent_lane(const Block& block, const Warp& warp,
                                                              unsigned mask, const Where& where) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(mask & ~warp.present));
    const auto thread = static_cast<std::size_t>(warp.lanes - block.all_threads.data()) + lane;
    return text("warp collective at ", name_of(where), " in ", name_of(block), ": ",
                name_of_mask(mask), " names lane ", lane, " (thread ", thread, "), which ",
                lane < warp.size ? "has exited" : "does not exist",
                "; name only lanes that reach the call");
  }

  const LaunchShape shape_;
  const std::span<const Program> programs_;
  const std::size_t block_threads_;
  const std::size_t residents_ = std::max(1u, settings().resident_blocks);

  Next next_{};
  Order warp_order_{}, lane_order_{};
  unsigned char poison_ = 0;

  std::vector<std::uint32_t> waiting_blocks_;  ///< not yet resident, the next one at the end
  std::vector<std::unique_ptr<Block>> resident_, idle_blocks_;
  std::vector<Cluster> clusters_;  ///< none where every block is alone
  std::size_t live_ = 0;           ///< threads of resident blocks that have not exited
  Queue ready_;
  Thread* running_ = nullptr;
  std::deque<Collective> collectives_;
  std::vector<Collective*> idle_collectives_;

  std::uint64_t steps_without_turnover_ = 0;  ///< since a thread ended or a block was admitted
  std::exception_ptr failure_;
  bool cancelling_ = false;
};

Grid* grid = nullptr;

void run_threads() {
  arrive();
  for (;;) grid->run_current();
}

}  // namespace

// ---- the interface ----------------------------------------------------------------------------

void run_grids(const LaunchShape& shape, std::span<const Program> programs) {
  if (grid != nullptr)
    throw EmuError(
        "launch refused: a kernel launches a kernel, which is not emulated; launch from the host");
  check_limits(shape);
  Grid this_grid(shape, programs);
  grid = &this_grid;
  trace::begin_launch(programs.front().kernel, shape.overlapping);
  std::exception_ptr failure;
  try {
    this_grid.run();
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) this_grid.cancel();
  grid = nullptr;
  if (failure) {
    trace::drop_launch();
    std::rethrow_exception(failure);
  }
  trace::end_launch();
}

void detail::give_way(Where where) { grid->give_way(where); }

void __syncthreads(Where where) { grid->barrier(false, where); }
int __syncthreads_or(int predicate, Where where) {
  return grid->barrier(predicate != 0, where) != 0;
}
int __syncthreads_and(int predicate, Where where) {
  return grid->barrier(predicate == 0, where) == 0;
}
int __syncthreads_count(int predicate, Where where) {
  return static_cast<int>(grid->barrier(predicate != 0, where));
}

unsigned cluster_rank() { return grid->cluster_rank(); }
void cluster_sync(Where where) { grid->cluster_barrier(where); }
void* detail::cluster_shared(void* own, unsigned rank, Where where) {
  return grid->cluster_shared(own, rank, where);
}
void detail::refuse_misaligned(const void* from, std::size_t alignment, Where where) {
  grid->refuse_misaligned(from, alignment, where);
}

void __syncwarp(unsigned mask, Where where) {
  grid->leave(grid->meet(mask, 0, trace::Meeting::kBarrier, where));
}

std::uint64_t detail::exchange(unsigned mask, std::uint64_t value, unsigned source, Where where) {
  Collective& collective = grid->meet(mask, value, trace::Meeting::kShuffle, where);
  const bool present = source < kWarpSize && (mask >> source & 1u) != 0;
  const std::uint64_t received = present ? collective.values[source] : grid->poison();
  grid->leave(collective);
  return received;
}

void detail::gather(unsigned mask, std::uint64_t value, std::uint64_t (&all)[kWarpSize],
                    Where where) {
  Collective& collective = grid->meet(mask, value, trace::Meeting::kVote, where);
  std::copy(collective.values.begin(), collective.values.end(), all);
  grid->leave(collective);
}

unsigned __ballot_sync(unsigned mask, int predicate, Where where) {
  Collective& collective = grid->meet(mask, predicate != 0, trace::Meeting::kVote, where);
  const unsigned ballot = collective.ballot;
  grid->leave(collective);
  return ballot;
}
int __any_sync(unsigned mask, int predicate, Where where) {
  return __ballot_sync(mask, predicate, where) != 0;
}
int __all_sync(unsigned mask, int predicate, Where where) {
  return __ballot_sync(mask, predicate, where) == mask;
}

}  // namespace reduce_bench::BACKEND
