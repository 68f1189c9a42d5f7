// Ctrl-C, SIGTERM and SIGHUP: counted, so that what runs decides how much of itself it still ends.
#pragma once

namespace reduce_bench {

/// From here on SIGINT, SIGTERM and, unless it was ignored, SIGHUP are counted instead of ending
/// the process.
void catch_interrupts();

/// How many came. One asks for the work in flight to be the last; two, to give it up.
int interrupts();

/// Readable once one came after the last look at `interrupts`; -1 before catch_interrupts.
int interrupt_descriptor();

}  // namespace reduce_bench
