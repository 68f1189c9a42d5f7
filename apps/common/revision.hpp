// Which source a program was built from.
#pragma once

#include "common/document.hpp"

namespace reduce_bench {

/// `revision`, the git commit, and `dirty`, whether the working tree differed from it: what every
/// document carries that a program writes. Both are null outside a repository.
Json git_json();

}  // namespace reduce_bench
