// amp/tiled-2: tiles, strided index tree, host finish
//
// Source: amp, reduction_tiled_2.
// Idea: as amp/tiled-1, but in step s thread t folds the elements 2st and 2st + s: the active
//   threads are always the first ones.
// Fixes: the divergence of amp/tiled-1, since whole warps retire. The stride 2s makes the threads
//   of a warp access the same banks of shared memory.
// Launch: ceil(n / tile) blocks of `tile` threads, tile * sizeof(T) bytes of shared memory; then
//   again on the partial results until at most `tile` are left, which the host folds.
// Traffic: the first launch reads n elements and writes n / tile; each further launch moves
//   1 / tile of the one before.
// Preconditions: the tile size is a power of two; threads beyond n hold the neutral element.
// Deviations: a CUDA port of C++ AMP, for any operator. The input takes the place of the first of
//   the two arrays in the first launch. Loads are bounds-checked, where the source needs n to be a
//   multiple of the tile size. The tree, the tiles and the host fold adjacent ranges in order, so
//   it also runs operators that do not commute.

#include "kernels/reduce/amp/tiles.hpp"

namespace reduce_bench::BACKEND::amp_tiled_2 {

template <class T, class Op>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;

  partial[t] = i < n ? values[i] : Op::template identity<T>();
  __syncthreads();

  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const unsigned left = 2 * s * t;
    if (left < blockDim.x) partial[left] = Op::combine(partial[left], partial[left + s]);
    __syncthreads();
  }

  if (t == 0) results[blockIdx.x] = partial[0];
}

struct AmpTiled2 {
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
      .id = "amp/tiled-2",
      .title = "tiles, strided index tree, host finish",
      .source = "amp, reduction_tiled_2",
      .fidelity = Fidelity::kAdapted,
      .finish = Finish::kHost,
      .synchronous = true,
      .params = {tile_size()},
      .depth = [](const Problem& p) { return depth_of_tiles(p, p.params.number("tile")); },
      .traffic = [](const Problem& p) { return traffic_of_tiles(p, p.params.number("tile")); },
      .workspace = [](const Problem& p) { return workspace_of_tiles(p, p.params.number("tile")); },
      .enqueue = instantiate<AmpTiled2, BasicAndOrderedOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::amp_tiled_2
