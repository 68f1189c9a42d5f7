// What bin/reduce-bench-slowed makes slower than bin/reduce-bench-faults does.
#pragma once

namespace reduce_bench {

/// The share of its own time that fault/slowable-kernel waits at its end; defined in
/// fault/slowable.cpp, which both programs compile for themselves.
double slowable_kernel_share();

}  // namespace reduce_bench
