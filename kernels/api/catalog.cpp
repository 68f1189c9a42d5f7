#include "kernels/api/catalog.hpp"

#include <deque>
#include <utility>

// The tests build a driver with variants of their own in the table (tests/faults/catalog.def).
#ifndef CATALOG_TABLE
#define CATALOG_TABLE "kernels/catalog.def"
#endif

namespace reduce_bench {

// Every variant is declared once per backend that compiles it, in the namespace that its id names.
// Without nvcc the host compiler compiles the CUDA variants' declarations (platform.hpp).
#define DECLARED(name) \
  namespace name {     \
  Variant variant();   \
  }
namespace cuda {
#ifdef REDUCE_BENCH_HAS_CUDA
#define GPU(name) DECLARED(name)
#define EVERYWHERE(name) DECLARED(name)
#else
#define GPU(name)
#define EVERYWHERE(name)
#endif
#define CUDA(name) DECLARED(name)
#define CPU(name)
#include CATALOG_TABLE
#undef GPU
#undef CUDA
#undef CPU
#undef EVERYWHERE
}  // namespace cuda
namespace emu {
#define GPU(name) DECLARED(name)
#define CUDA(name)
#define CPU(name)
#define EVERYWHERE(name) DECLARED(name)
#include CATALOG_TABLE
#undef GPU
#undef CUDA
#undef CPU
#undef EVERYWHERE
}  // namespace emu
#ifdef REDUCE_BENCH_HAS_TRACED
namespace traced {
#define GPU(name) DECLARED(name)
#define CUDA(name)
#define CPU(name)
#define EVERYWHERE(name) DECLARED(name)
#include CATALOG_TABLE
#undef GPU
#undef CUDA
#undef CPU
#undef EVERYWHERE
}  // namespace traced
#endif
namespace cpu {
#define GPU(name)
#define CUDA(name)
#define CPU(name) DECLARED(name)
#define EVERYWHERE(name) DECLARED(name)
#include CATALOG_TABLE
#undef GPU
#undef CUDA
#undef CPU
#undef EVERYWHERE
}  // namespace cpu

bool cuda_is_built() {
#ifdef REDUCE_BENCH_HAS_CUDA
  return true;
#else
  return false;
#endif
}

namespace {

const Variant* keep(Variant variant) {
  static std::deque<Variant> variants;  // addresses stay valid
  return &variants.emplace_back(std::move(variant));
}

CatalogEntry entry_of(Variant variant) {
  CatalogEntry entry{.variant = std::move(variant)};
  if (const auto found = descriptions().find(entry.variant.id); found != descriptions().end())
    entry.description = found->second;
  return entry;
}

/// The entry's variant runs on `backend`; here too, where this build has the backend's declaration.
void add(CatalogEntry& entry, Backend backend, Variant (*declare)()) {
  entry.declared[index_of(backend)] = true;
  if (declare != nullptr) entry.built[index_of(backend)] = keep(declare());
}

#ifdef REDUCE_BENCH_HAS_CUDA
#define BUILT_FOR_CUDA(name) &cuda::name::variant
#else
#define BUILT_FOR_CUDA(name) nullptr
#endif

#ifdef REDUCE_BENCH_HAS_TRACED
#define TRACED(name) entries.back().traced = keep(traced::name::variant());
#else
#define TRACED(name)
#endif

std::vector<CatalogEntry> build_catalog() {
  std::vector<CatalogEntry> entries;
#define GPU(name)                                            \
  entries.push_back(entry_of(emu::name::variant()));         \
  add(entries.back(), Backend::kCuda, BUILT_FOR_CUDA(name)); \
  add(entries.back(), Backend::kEmu, &emu::name::variant);   \
  TRACED(name)
#define CUDA(name)                                    \
  entries.push_back(entry_of(cuda::name::variant())); \
  add(entries.back(), Backend::kCuda, BUILT_FOR_CUDA(name));
#define CPU(name)                                    \
  entries.push_back(entry_of(cpu::name::variant())); \
  add(entries.back(), Backend::kCpu, &cpu::name::variant);
#define EVERYWHERE(name)                                     \
  entries.push_back(entry_of(cpu::name::variant()));         \
  add(entries.back(), Backend::kCuda, BUILT_FOR_CUDA(name)); \
  add(entries.back(), Backend::kCpu, &cpu::name::variant);   \
  add(entries.back(), Backend::kEmu, &emu::name::variant);   \
  TRACED(name)
#include CATALOG_TABLE
#undef GPU
#undef CUDA
#undef CPU
#undef EVERYWHERE
  return entries;
}

}  // namespace

const std::vector<CatalogEntry>& catalog() {
  static const std::vector<CatalogEntry> entries = build_catalog();
  return entries;
}

}  // namespace reduce_bench
