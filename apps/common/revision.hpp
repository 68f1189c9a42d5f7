// Which source a program was built from.
#pragma once

#include <string>
#include <string_view>

#include "common/document.hpp"

namespace reduce_bench {

/// `revision`, the git commit, and `dirty`, whether the working tree differed from it: what every
/// document carries that a program writes. Both are null outside a repository.
Json git_json();

/// `reduce-bench 1.2.3, revision 0123abc with uncommitted changes`, of the project's version.
std::string version_line(std::string_view program);

}  // namespace reduce_bench
