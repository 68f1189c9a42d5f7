// Counts Ctrl-C, SIGTERM and SIGHUP, so that a run can end the point in flight and write its
// results.
#pragma once

namespace reduce_bench {

/// From here on SIGINT, SIGTERM and, unless it was ignored, SIGHUP are counted instead of ending
/// the process.
void catch_interrupts();

/// How many came. One asks for the work in flight to be the last; two, to give it up.
int interrupts();

/// A descriptor for poll(): readable once an interrupt came after the last call of `interrupts`.
/// -1 before catch_interrupts.
int interrupt_descriptor();

}  // namespace reduce_bench
