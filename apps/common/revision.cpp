#include "common/revision.hpp"

#include <string>

#include "revision_at_build.hpp"

namespace reduce_bench {

Json git_json() {
  const std::string revision = REDUCE_BENCH_REVISION;
  const bool known = revision != "unknown";
  return {{"revision", known ? Json(revision) : Json(nullptr)},
          {"dirty", known ? Json(REDUCE_BENCH_DIRTY) : Json(nullptr)}};
}

}  // namespace reduce_bench
