// The axis of the CPU variants that choose the size of the pages that their arrays lie on.
#pragma once

#include <optional>

#include "kernels/api/variant.hpp"

namespace reduce_bench {

/// The base pages of the system, or huge ones as far as it grants them.
enum class PageSize { kSmall, kHuge };

inline ParamSpec pages_axis() {
  return {"pages",
          "small",
          {"small", "huge"},
          "of all arrays; huge: as far as the system grants them, which the result records (Figure "
          "2.4)"};
}

/// Nothing for variants without the axis, whose memory is as the system gives it.
inline std::optional<PageSize> pages_of(const Params& params) {
  if (!params.has("pages")) return std::nullopt;
  return params.is("pages", "huge") ? PageSize::kHuge : PageSize::kSmall;
}

}  // namespace reduce_bench
