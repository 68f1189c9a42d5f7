// Constants that were chosen by measurement, by the compute capability of the card that they were
// measured on.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <type_traits>

#include "kernels/platform/platform.hpp"

namespace reduce_bench::BACKEND {

/// Constants for a card of a compute capability, ten times that as nvcc writes it: 90 is 9.0.
template <unsigned kCapability, class Chosen>
struct Row {};

/// Of rows from old cards to new ones the last that is not newer than `kWanted`; the first if all are.
template <unsigned kWanted, class First, class... Newer>
struct RowFor;
template <unsigned kWanted, unsigned kCapability, class Chosen>
struct RowFor<kWanted, Row<kCapability, Chosen>> {
  using type = Chosen;
};
template <unsigned kWanted, unsigned kOlder, class ChosenOnOlder, unsigned kNext,
          class ChosenOnNext, class... Newer>
struct RowFor<kWanted, Row<kOlder, ChosenOnOlder>, Row<kNext, ChosenOnNext>, Newer...> {
  static_assert(kOlder < kNext, "rows go from old cards to new ones");
  using Rest = RowFor<kWanted, Row<kNext, ChosenOnNext>, Newer...>;
  using type = std::conditional_t<(kWanted < kNext), ChosenOnOlder, typename Rest::type>;
};

/// What the program is compiled for. Host and device code must agree, so it is one for all of nvcc's
/// architectures: the oldest, whose cards run it, too. All files of a program must have the same, since
/// names do not tell rows apart. The emulator has 9.0, or what the macro says.
#if defined(REDUCE_BENCH_TUNED_FOR)
inline constexpr unsigned kTunedFor = REDUCE_BENCH_TUNED_FOR;
#elif defined(__CUDA_ARCH_LIST__)
inline constexpr unsigned kTunedFor = std::min({__CUDA_ARCH_LIST__}) / 10;
#else
inline constexpr unsigned kTunedFor = 90;
#endif

/// A policy: the row for what the program is compiled for. A new row is a struct of its own, which may
/// inherit what stays the same.
template <class... Rows>
using ByCapability = typename RowFor<kTunedFor, Rows...>::type;

}  // namespace reduce_bench::BACKEND
