// luitjens/vec2: 8-byte loads
//
// Source: Luitjens, Faster Parallel Reductions on Kepler; jradi section 2.2.
// Idea: luitjens/two-pass with 2 neighbouring elements per load, and single elements before the
//   first aligned address and after the last whole vector.
// Fixes: luitjens/two-pass, where every load carries 4 bytes per lane: half as many load
//   instructions and loop rounds move the same bytes.
// Launch: at most blocks_per_sm blocks of B threads per SM, 32 * sizeof(T) bytes of shared memory;
//   then one block on their results.
// Traffic: n elements read; one element per block written and read again.
// Preconditions: a commutative operator; B a multiple of 32.
// Deviations: as published the input must be aligned to the vector and n < 2 launches no block;
//   here the host finds the first aligned address when it enqueues, and every n gets a block. With
//   8-byte types a vector is 16 bytes. Shuffles name all 32 lanes. The second launch, 1024
//   threads that load single elements in the publication, is the same kernel with B threads. The
//   number of blocks, at most 1024 in the publication, is what the card holds.

#include "kernels/reduce/luitjens/vector.hpp"

namespace reduce_bench::BACKEND::luitjens_vec2 {

struct LuitjensVec2 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    reduce_vectors_in_two_passes<Op, 2>(call);
  }
};

Variant variant() {
  return {
      .id = "luitjens/vec2",
      .title = "8-byte loads",
      .source = "Luitjens; jradi 2.2",
      .fidelity = Fidelity::kCorrected,
      .params = luitjens_params(),
      .depth = [](const Problem& p) { return depth_of_vectors(p, 2); },
      .traffic = [](const Problem& p) { return traffic_of_two_passes(p, 2); },
      .workspace = [](const Problem& p) { return workspace_of_two_passes(p, 2); },
      .enqueue = instantiate<LuitjensVec2, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::luitjens_vec2
