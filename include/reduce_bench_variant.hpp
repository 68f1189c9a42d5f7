// What a variant of another project includes, to be built into a driver of that project by
// `reduce_bench_add_driver` (docs/plugins.md). Everything else is as for a variant of the catalog.
#pragma once

#include "kernels/api/catalog.hpp"
#include "kernels/shared/instantiate.hpp"

namespace reduce_bench {

/// The backend for which this file is compiled.
inline constexpr Backend kBackendOfThisFile =
#if defined(__CUDACC__)
    Backend::kCuda;
#elif defined(REDUCE_BENCH_EMU)
    Backend::kEmu;
#else
    Backend::kCpu;
#endif

}  // namespace reduce_bench

/// Stands once in the variant's file, after it: `name` is the namespace in `reduce_bench::BACKEND`
/// that has `Variant variant()`.
#define REDUCE_BENCH_VARIANT(name)                                                          \
  [[maybe_unused]] static const bool name##_is_registered = reduce_bench::register_variant( \
      reduce_bench::kBackendOfThisFile, &reduce_bench::BACKEND::name::variant);
