// What the traced build of the emulator sees of a kernel: every access to memory, with address,
// width, thread and source line, and everything that orders accesses.
//
// The compiler calls a function for each load and store of a kernel (-fsanitize=thread at compile
// time; the functions are ours, in trace.cpp, not that library's). What the emulator does in a
// kernel's name (atomics, 16-byte loads, barriers) it reports itself. In the plain build all of it is
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>

/// Marks functions whose own accesses are the emulator's, or are reported by themselves.
#ifdef REDUCE_BENCH_TRACED
#define UNTRACED __attribute__((no_sanitize("thread")))
#else
#define UNTRACED
#endif

namespace reduce_bench::BACKEND {

using Where = std::source_location;

namespace trace {

/// How a kernel touches memory. Strong accesses are single instructions that other threads see
/// whole and in some order: `load_volatile`, `store_volatile` and atomics. A C++ volatile access is
/// not: it keeps the compiler from holding the value in a register and orders nothing.
enum class Kind : std::uint8_t {
  kRead,
  kWrite,
  kVolatileRead,
  kVolatileWrite,
  kStrongRead,
  kStrongWrite,
  kAtomic
};
/// Whom a fence orders accesses for.
enum class Scope : std::uint8_t { kBlock, kDevice };

#ifdef REDUCE_BENCH_TRACED
/// An access of the running thread; nothing outside a kernel.
void access(const void* address, std::size_t size_bytes, Kind kind, const Where& where);
/// A fence of the running thread.
void fence(Scope scope, const Where& where);
/// The running thread waits until the launch before has ended.
void wait_for_launch_before(const Where& where);
#else
inline void access(const void*, std::size_t, Kind, const Where&) {}
inline void fence(Scope, const Where&) {}
inline void wait_for_launch_before(const Where&) {}
#endif

}  // namespace trace
}  // namespace reduce_bench::BACKEND
