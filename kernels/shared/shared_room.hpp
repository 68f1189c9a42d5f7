// How much shared memory the blocks of a multiprocessor have between them, as an axis: the card's, or
// as little as the thesis's card has, which leaves room for few threads where each has bucket sets
// (eilers section 4.3.6).
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/api/variant.hpp"

namespace reduce_bench {

inline ParamSpec shared_room_axis() {
  return {"shared_kib",
          "all",
          {"all", "48"},
          "KiB of shared memory that the blocks of an SM have between them (48: the publication's "
          "card)"};
}
inline bool has_published_room(const Params& params) {
  return params.has("shared_kib") && params.is("shared_kib", "48");
}
inline std::size_t shared_room_bytes(const Problem& p) {
  const std::size_t all = p.device.max_shared_bytes_per_block;
  return has_published_room(p.params) ? std::min<std::size_t>(all, 48 * 1024) : all;
}

}  // namespace reduce_bench
