// amp/tiled-3: tiles, sequential addressing, host finish
//
// Source: amp, reduction_tiled_3.
// Idea: as amp/tiled-2, but s falls from tile / 2 to 1 and thread t < s folds the elements t and
//   t + s.
// Fixes: the bank conflicts of amp/tiled-2: neighbouring threads touch neighbouring elements.
// Launch: ceil(n / tile) blocks of `tile` threads, tile * sizeof(T) bytes of shared memory; then
//   again on the partial results until at most `tile` are left, which the host folds.
// Traffic: the first launch reads n elements and writes n / tile; each further launch moves
//   1 / tile of the one before.
// Preconditions: the tile size is a power of two; threads beyond n hold the neutral element; the
//   operator commutes.
// Deviations: a CUDA port of C++ AMP, for any operator. The input takes the place of the first of
//   the two arrays in the first launch. Loads are bounds-checked, where the source needs n to be a
//   multiple of the tile size. The loop as printed divides s by 1 and never ends; halving is meant.

#include "kernels/reduce/amp/tiles.hpp"

namespace reduce_bench::BACKEND::amp_tiled_3 {

template <class T, class Op>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  partial[t] = i < n ? values[i] : Op::template identity<T>();
  __syncthreads();

  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) partial[t] = Op::combine(partial[t], partial[t + s]);
    __syncthreads();
  }

  if (t == 0) results[blockIdx.x] = partial[0];
}

struct AmpTiled3 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned tile = call.params().number("tile");
    reduce_tiles<Op>(call, tile, [&](const T* values, std::size_t n, T* results, unsigned tiles) {
      launch(kernel<T, Op>, {tiles, tile, tile * sizeof(T), call.stream}, values, n, results);
    });
  }
};

Variant variant() {
  return {
      .id = "amp/tiled-3",
      .title = "tiles, sequential addressing, host finish",
      .source = "amp, reduction_tiled_3",
      .fidelity = Fidelity::kCorrected,
      .finish = Finish::kHost,
      .synchronous = true,
      .params = {tile_size()},
      .depth = [](const Problem& p) { return depth_of_tiles(p, p.params.number("tile")); },
      .traffic = [](const Problem& p) { return traffic_of_tiles(p, p.params.number("tile")); },
      .workspace = [](const Problem& p) { return workspace_of_tiles(p, p.params.number("tile")); },
      .enqueue = instantiate<AmpTiled3, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::amp_tiled_3
