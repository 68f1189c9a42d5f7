#include <algorithm>
#include <array>
#include <bit>
#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
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

namespace reduce_bench::BACKEND {
namespace {

constexpr unsigned kMaxThreadsPerBlock = 1024;
/// Each started thread holds a stack, which costs two memory mappings of the 65530 that Linux
/// grants a process by default.
constexpr std::size_t kMaxResidentThreads = 30000;

// ---- fibers -----------------------------------------------------------------------------------

// AddressSanitizer has to be told of every change of stack. Its instrumented frames are larger.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStackBytes = 256 * 1024;
void start_switch(void** own_fake_stack, const void* bottom, std::size_t bytes) {
  __sanitizer_start_switch_fiber(own_fake_stack, bottom, bytes);
}
void finish_switch(void* own_fake_stack, const void** old_bottom, std::size_t* old_bytes) {
  __sanitizer_finish_switch_fiber(own_fake_stack, old_bottom, old_bytes);
}
#else
constexpr std::size_t kStackBytes = 64 * 1024;
void start_switch(void**, const void*, std::size_t) {}
void finish_switch(void*, const void**, std::size_t*) {}
#endif

/// What runs on a stack of its own, and goes on there when another switches to it.
struct Context {
  boost::context::fiber fiber;
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  void* fake_stack = nullptr;
};
Context host;  ///< what called run_grids

Context* left = nullptr;  ///< by the last switch

/// After a switch, on the stack that it led to.
void arrive(boost::context::fiber&& from, void* own_fake_stack) {
  left->fiber = std::move(from);
  finish_switch(own_fake_stack, &left->bottom, &left->bytes);
}

/// Returns when another switches back to `own`, the context that calls this.
void switch_to(Context& next, Context& own) {
  left = &own;
  start_switch(&own.fake_stack, next.bottom, next.bytes);
  arrive(std::move(next.fiber).resume(), own.fake_stack);
}

/// Runs the thread that the scheduler chose to its end; the fiber then serves another thread.
void run_current_thread();

/// A stack with a guard page and, on it, an endless loop over CUDA threads.
class Fiber {
 public:
  /// To be made on the host's stack.
  Fiber() {
    using boost::context::protected_fixedsize_stack;
    const auto stack = protected_fixedsize_stack(kStackBytes).allocate();
    context_.bottom = static_cast<const char*>(stack.sp) - stack.size;
    context_.bytes = stack.size;
    // Stacks begin at different offsets from a page: at the same one, those of a warp would compete
    // for a few sets of the cache.
    static std::size_t fibers = 0;
    const std::size_t offset = fibers++ * 320 % 4096;
    const boost::context::preallocated begin(static_cast<char*>(stack.sp) - offset,
                                             stack.size - offset, stack);
    // The constructor enters the new stack and comes back. Only the second pair of announcements
    // can name the host's stack, which the first has found out.
    start_switch(&host.fake_stack, context_.bottom, context_.bytes);
    context_.fiber =
        boost::context::fiber(std::allocator_arg, begin, protected_fixedsize_stack(kStackBytes),
                              [this](boost::context::fiber&& from) -> boost::context::fiber {
                                arrive(std::move(from), nullptr);
                                for (;;) {
                                  run_current_thread();
                                  suspend();
                                }
                              });
    finish_switch(host.fake_stack, &host.bottom, &host.bytes);
    start_switch(&host.fake_stack, host.bottom, host.bytes);
    finish_switch(host.fake_stack, nullptr, nullptr);
  }
  Fiber(const Fiber&) = delete;

  /// On the host's stack: returns when this fiber, or one that it handed over to, suspends.
  void resume() { switch_to(context_, host); }
  /// On this fiber's stack: back to the host, until this fiber runs again.
  void suspend() { switch_to(host, context_); }
  /// On this fiber's stack: `next` goes on, until this fiber runs again.
  void hand_over_to(Fiber& next) { switch_to(next.context_, context_); }
  const void* stack() const { return context_.bottom; }
  std::size_t stack_bytes() const { return context_.bytes; }

 private:
  Context context_;
};

/// Idle fibers, the one used last on top since its stack is in the cache. Never destroyed: a fiber
/// only ends with the process.
std::vector<std::unique_ptr<Fiber>>& idle_fibers() {
  static auto& fibers = *new std::vector<std::unique_ptr<Fiber>>;
  return fibers;
}

std::unique_ptr<Fiber> take_fiber() {
  auto& idle = idle_fibers();
  if (idle.empty()) return std::make_unique<Fiber>();
  std::unique_ptr<Fiber> fiber = std::move(idle.back());
  idle.pop_back();
  return fiber;
}

// ---- what a grid consists of ------------------------------------------------------------------

/// Thrown through a suspended thread to unwind it when the grid is given up. Destructors of kernel
/// objects must therefore not wait or give way.
struct Cancelled {};

struct Block;
struct Warp;

enum class State : std::uint8_t { kReady, kYielded, kAtBarrier, kAtCollective, kExited };

struct Thread : ThreadView {
  Block* block = nullptr;
  Warp* warp = nullptr;
  std::unique_ptr<Fiber> fiber;  ///< from the first step to the end of the thread
  State state = State::kReady;
  Where where{};      ///< where it last waited or gave way
  unsigned mask = 0;  ///< of the collective where it waits
};

/// One meeting of the lanes of a mask at one place. It lives until every lane has read the values.
struct Collective {
  unsigned mask;
  Where where;
  unsigned arrived;
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
    const std::size_t residents = std::max(1u, settings().resident_blocks);
    for (;;) {
      while (resident_.size() < residents && can_admit()) admit();
      if (resident_.empty()) return;
      step(due_ != nullptr ? *std::exchange(due_, nullptr) : next_ready());
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
        if (thread.fiber) {
          enter(thread);
          idle_fibers().push_back(std::move(thread.fiber));
        }
  }

  // What a running thread calls.

  void run_current() {
    try {
      const Program& program = *running_->block->program;
      program.call(program.arguments);
    } catch (const Cancelled&) {
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
    running_->state = State::kExited;
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

  /// Waits for all lanes of `mask`. Whoever gets the collective must `leave` it.
  Collective& meet(unsigned mask, std::uint64_t value, trace::Meeting meeting, const Where& where) {
    Thread& thread = *running_;
    Warp& warp = *thread.warp;
    if ((mask >> thread.lane & 1u) == 0)
      throw EmuError(text("warp collective at ", name_of(where), " in ", name_of(*thread.block),
                          ": ", name_of_mask(mask), " does not name lane ", thread.lane,
                          ", which calls it; a calling lane must be in its own mask"));
    if ((mask & ~warp.present) != 0) throw EmuError(absent_lane(*thread.block, warp, mask, where));
    auto found = std::find_if(warp.pending.begin(), warp.pending.end(), [&](Collective* c) {
      return c->mask == mask && same_place(c->where, where);
    });
    if (found == warp.pending.end())
      found = warp.pending.insert(found, new_collective(mask, where));
    Collective& collective = **found;
    collective.arrived |= 1u << thread.lane;
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
    for (unsigned i = 0; i < kWarpSize; ++i) {
      const unsigned lane = permutation(i);
      if ((lanes >> lane & 1u) == 0) continue;
      Thread& thread = warp.lanes[lane];
      thread.state = State::kReady;
      ++thread.block->runnable;
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
    Thread* thread;
    if (next_ == Next::kAny) std::swap(ready_[draw(ready_.size())], ready_.back());
    // A group that keeps meeting itself, as in a polling loop, must not shut out all others.
    const bool oldest = next_ == Next::kOldest || (next_ == Next::kNewest && draw(256) == 0);
    if (oldest) {
      thread = ready_.front();
      ready_.pop_front();
    } else {
      thread = ready_.back();
      ready_.pop_back();
    }
    return *thread;
  }

  void set_running(Thread& thread) {
    running_ = &thread;
    detail::current_thread = &thread;
    detail::current_block = thread.block;
    trace::enter(thread.block->trace, thread.block->index_of(thread), thread.fiber->stack(),
                 thread.fiber->stack_bytes());
  }

  /// Runs the thread, and those that it and they hand over to, until one suspends or ends.
  void enter(Thread& thread) {
    set_running(thread);
    thread.fiber->resume();
    detail::current_thread = nullptr;
    detail::current_block = nullptr;
    trace::leave();
  }

  void step(Thread& first) {
    ++steps_without_turnover_;
    if (!first.fiber) first.fiber = take_fiber();
    enter(first);
    Thread& thread = *running_;
    if (thread.state == State::kExited) idle_fibers().push_back(std::move(thread.fiber));
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

  /// To the next thread, straight where the host has nothing to decide, since a detour by way of it
  /// is one more switch.
  void give_up_processor(Thread& thread) {
    if (thread.block->runnable == 0 || stalled()) return thread.fiber->suspend();
    Thread& next = next_ready();
    if (&next == &thread) {
      ++steps_without_turnover_;
    } else if (next.fiber) {
      ++steps_without_turnover_;
      set_running(next);
      thread.fiber->hand_over_to(*next.fiber);
    } else {
      due_ = &next;
      thread.fiber->suspend();
    }
  }

  Collective* new_collective(unsigned mask, const Where& where) {
    if (idle_collectives_.empty()) idle_collectives_.push_back(&collectives_.emplace_back());
    Collective* collective = idle_collectives_.back();
    idle_collectives_.pop_back();
    collective->mask = mask;
    collective->where = where;
    collective->arrived = 0;
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

  static std::string absent_lane(const Block& block, const Warp& warp, unsigned mask,
                                 const Where& where) {
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

  Next next_{};
  Order warp_order_{}, lane_order_{};
  unsigned char poison_ = 0;

  std::vector<std::uint32_t> waiting_blocks_;  ///< not yet resident, the next one at the end
  std::vector<std::unique_ptr<Block>> resident_, idle_blocks_;
  std::vector<Cluster> clusters_;  ///< none where every block is alone
  std::size_t live_ = 0;           ///< threads of resident blocks that have not exited
  std::deque<Thread*> ready_;
  Thread* running_ = nullptr;
  Thread* due_ = nullptr;  ///< the next to run, if that is decided: one that has no fiber yet
  std::deque<Collective> collectives_;
  std::vector<Collective*> idle_collectives_;

  std::uint64_t steps_without_turnover_ = 0;  ///< since a thread ended or a block was admitted
  std::exception_ptr failure_;
  bool cancelling_ = false;
};

Grid* grid = nullptr;

void run_current_thread() { grid->run_current(); }

}  // namespace

// ---- the interface ----------------------------------------------------------------------------

void run_grids(const LaunchShape& shape, std::span<const Program> programs) {
  if (grid != nullptr)
    throw EmuError(
        "launch refused: a kernel launches a kernel, which is not emulated; launch from the host");
  check_limits(shape);
  Grid this_grid(shape, programs);
  grid = &this_grid;
  trace::begin_launch(programs.front().kernel);
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
  unsigned ballot = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    if ((mask >> lane & 1u) != 0 && collective.values[lane] != 0) ballot |= 1u << lane;
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
