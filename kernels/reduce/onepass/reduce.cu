// onepass/reduce: one launch, wide loads in flight, flagged partials
//
// Source: this project.
// Idea: blocks sweep the input by 16-byte loads, four in flight per thread, and fold in shared
//   memory. A block publishes its partial result as words that hold half value, half flag, so that
//   both arrive together: no fence, no ticket. Block 0 waits for the words of all others, folds
//   them, writes the result and clears the flags for the next launch. No other block waits for
//   anything, so the grid may exceed what is resident. Where latency counts, block 0 streams
//   nothing, and the others' code is short.
// Fixes: the second launch of two-pass reductions and, of last-block schemes such as
//   harris/threadfence, the fence and the ticket's round trip between a block's partial and the
//   result.
// Launch: one block of 256 to 1024 threads up to 64 KB of input. Beyond, blocks of 256 threads,
//   from 64 KB per SM on (types of 8 bytes: 16 KB) of 512. A thread takes 64 bytes, from 32 to 512
//   KB per SM twice that in two rounds. Up to 512 KB per SM one more block streams nothing. At most
//   blocks_per_sm blocks per SM, which take chunk after chunk, a grid apart. B * sizeof(T) bytes of
//   shared memory. Halves are made f32 as they are loaded, which T then stands for.
// Traffic: n elements read, one written; the partials, 8 bytes per 4 of T and block, stay in L2. On
//   an H200 device memory binds from 256 MB of input on, latency below:
//   docs/kernels/onepass-reduce.md
// Preconditions: the workspace is zero before the first launch and left zero.
// Deviations: none, there is no publication. Elements before the first 16-byte boundary and after
//   the last are read one by one by block 0.

#include "kernels/reduce/onepass/one_launch.hpp"

namespace reduce_bench::BACKEND::onepass_reduce {

struct OnepassReduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    onepass_reduce::enqueue<Op>(arguments_of(call), tuning_of(call.params()));
  }
};

Variant variant() {
  return {
      .id = "onepass/reduce",
      .title = "one launch, wide loads, flagged partials",
      .source = "reduce-bench",
      .fidelity = Fidelity::kBeyond,
      .params = launch_params(),
      .borders = launch_borders,
      .depth = launch_depth,
      .traffic = [](const Problem& p) -> Traffic { return {p.input_bytes(), p.combined_bytes()}; },
      .workspace = [](const Problem& p) -> Workspace {
        return {.device_bytes = slots_bytes(p), .zeroed_bytes = slots_bytes(p)};
      },
      .enqueue = instantiate_with_halves<OnepassReduce, AllOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::onepass_reduce
