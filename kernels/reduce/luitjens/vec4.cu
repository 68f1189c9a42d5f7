// luitjens/vec4: 16-byte loads
//
// Source: Luitjens, Faster Parallel Reductions on Kepler; jradi section 2.2.
// Idea: luitjens/two-pass with 4 neighbouring elements per load, and single elements before the
//   first aligned address and after the last whole vector.
// Fixes: luitjens/vec2: half of its load instructions and loop rounds are left.
// Launch: at most blocks_per_sm blocks of B threads per SM, 32 * sizeof(T) bytes of shared memory;
//   then one block on their results.
// Traffic: n elements read; one element per block written and read again.
// Preconditions: a commutative operator; B a multiple of 32.
// Deviations: as published the input must be aligned to the vector and n < 4 launches no block;
//   here the host finds the first aligned address when it enqueues, and every n gets a block. With
//   8-byte types a vector is 32 bytes, in two loads, with halves 8 bytes, which are made f32.
//   Shuffles name all 32 lanes. The second launch, 1024 threads that load single elements in the
//   publication, is the same kernel with B threads. The number of blocks, at most 1024 in the
//   publication, is what the card holds.

#include "kernels/reduce/luitjens/vector.hpp"

namespace reduce_bench::BACKEND::luitjens_vec4 {

struct LuitjensVec4 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    reduce_vectors_in_two_passes<Op, 4>(call);
  }
};

Variant variant() {
  return {
      .id = "luitjens/vec4",
      .title = "16-byte loads",
      .source = "Luitjens; jradi 2.2",
      .fidelity = Fidelity::kCorrected,
      .params = luitjens_params(),
      .depth = [](const Problem& p) { return depth_of_vectors(p, 4); },
      .traffic = [](const Problem& p) { return traffic_of_two_passes(p, 4); },
      .workspace = [](const Problem& p) { return workspace_of_two_passes(p, 4); },
      .enqueue = instantiate_with_halves<LuitjensVec4, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::luitjens_vec4
