#include "kernels/api/catalog.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <stdexcept>
#include <string>
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
#define GPU_OPENCL(name) GPU(name)
#include CATALOG_TABLE
#undef GPU_OPENCL
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
#define GPU_OPENCL(name) GPU(name)
#include CATALOG_TABLE
#undef GPU_OPENCL
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
#define GPU_OPENCL(name) GPU(name)
#include CATALOG_TABLE
#undef GPU_OPENCL
#undef GPU
#undef CUDA
#undef CPU
#undef EVERYWHERE
}  // namespace traced
#endif
#ifdef REDUCE_BENCH_HAS_OPENCL
namespace opencl {
#define GPU(name)
#define CUDA(name)
#define CPU(name)
#define EVERYWHERE(name)
#define GPU_OPENCL(name) DECLARED(name)
#include CATALOG_TABLE
#undef GPU_OPENCL
#undef GPU
#undef CUDA
#undef CPU
#undef EVERYWHERE
}  // namespace opencl
#endif
namespace cpu {
#define GPU(name)
#define CUDA(name)
#define CPU(name) DECLARED(name)
#define EVERYWHERE(name) DECLARED(name)
#define GPU_OPENCL(name) GPU(name)
#include CATALOG_TABLE
#undef GPU_OPENCL
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

#ifdef REDUCE_BENCH_HAS_OPENCL
#define BUILT_FOR_OPENCL(name) &opencl::name::variant
#else
#define BUILT_FOR_OPENCL(name) nullptr
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
#define GPU_OPENCL(name) \
  GPU(name)              \
  add(entries.back(), Backend::kOpencl, BUILT_FOR_OPENCL(name));
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
#undef GPU_OPENCL
#undef GPU
#undef CUDA
#undef CPU
#undef EVERYWHERE
  return entries;
}

struct Registered {
  Backend backend;
  Variant (*declare)();
};
/// Filled by the initialisation of other files, whose order nothing says.
std::vector<Registered>& registered() {
  static std::vector<Registered> variants;
  return variants;
}

/// A variant that several backends have is registered by each of them.
void add_registered(std::vector<CatalogEntry>& entries) {
  const std::size_t own = entries.size();
  for (const auto& [backend, declare] : registered()) {
    Variant variant = declare();
    auto entry = std::find_if(entries.begin(), entries.end(), [&](const CatalogEntry& known) {
      return known.variant.id == variant.id;
    });
    if (entry == entries.end()) {
      entries.push_back(entry_of(std::move(variant)));
      entry = std::prev(entries.end());
    } else if (entry < entries.begin() + static_cast<std::ptrdiff_t>(own) ||
               entry->declared[index_of(backend)]) {
      throw std::logic_error("another variant has the id '" + std::string(variant.id) +
                             "': give this one an id of its own");
    }
    add(*entry, backend, declare);
  }
}

std::vector<CatalogEntry>& entries() {
  static std::vector<CatalogEntry> built = [] {
    std::vector<CatalogEntry> all = build_catalog();
    add_registered(all);
    return all;
  }();
  return built;
}

}  // namespace

const std::vector<CatalogEntry>& catalog() { return entries(); }

bool register_variant(Backend backend, Variant (*declare)()) {
  registered().push_back({backend, declare});
  return true;
}

void add_to_catalog(CatalogEntry entry) { entries().push_back(std::move(entry)); }

}  // namespace reduce_bench
