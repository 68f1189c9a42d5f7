#include "common/revision.hpp"

#include <fmt/format.h>

#include "revision_at_build.hpp"

namespace reduce_bench {

Json git_json() {
  const std::string revision = REDUCE_BENCH_REVISION;
  const bool known = revision != "unknown";
  return {{"revision", known ? Json(revision) : Json(nullptr)},
          {"dirty", known ? Json(REDUCE_BENCH_DIRTY) : Json(nullptr)}};
}

std::string version_line(std::string_view program) {
  const Json git = git_json();
  return fmt::format("{} {}, revision {}{}", program, REDUCE_BENCH_VERSION,
                     git["revision"].is_null() ? "unknown" : git["revision"].get<std::string>(),
                     git["dirty"] == true ? " with uncommitted changes" : "");
}

}  // namespace reduce_bench
