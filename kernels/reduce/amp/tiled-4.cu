// amp/tiled-4: tiles, two loads per thread, host finish
//
// Source: amp, reduction_tiled_4.
// Idea: as amp/tiled-3 with half the threads: each loads two elements, `tile` apart, and puts their
//   fold in shared memory.
// Fixes: in amp/tiled-3 half of the threads do nothing after the load.
// Launch: ceil(n / 2 tile) blocks of `tile` threads, tile * sizeof(T) bytes of shared memory; then
//   again on the partial results until at most `tile` are left, which the host folds.
// Traffic: the first launch reads n elements and writes n / (2 tile); each further launch moves
//   1 / (2 tile) of the one before.
// Preconditions: the tile size is a power of two; positions beyond n count as the neutral element;
//   the operator commutes.
// Deviations: a CUDA port of C++ AMP, for any operator. The input takes the place of the first of
//   the two arrays in the first launch. Loads are bounds-checked, where the source needs n to be a
//   multiple of the tile size. The source does not say which two elements a thread reads.

#include "kernels/reduce/amp/tiles.hpp"

namespace reduce_bench::BACKEND::amp_tiled_4 {

template <class T, class Op>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t i = 2 * std::size_t{blockIdx.x} * blockDim.x + t;
  const T neutral = Op::template identity<T>();

  partial[t] = Op::combine(i < n ? values[i] : neutral,
                           i + blockDim.x < n ? values[i + blockDim.x] : neutral);
  __syncthreads();

  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) partial[t] = Op::combine(partial[t], partial[t + s]);
    __syncthreads();
  }

  if (t == 0) results[blockIdx.x] = partial[0];
}

struct AmpTiled4 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned tile = call.params().number("tile");
    reduce_tiles<Op>(
        call, 2 * tile, [&](const T* values, std::size_t n, T* results, unsigned tiles) {
          launch(kernel<T, Op>, {tiles, tile, tile * sizeof(T), call.stream}, values, n, results);
        });
  }
};

Variant variant() {
  return {
      .id = "amp/tiled-4",
      .title = "tiles, two loads per thread, host finish",
      .source = "amp, reduction_tiled_4",
      .fidelity = Fidelity::kAdapted,
      .finish = Finish::kHost,
      .synchronous = true,
      .params = {tile_size()},
      .depth = [](const Problem& p) { return depth_of_tiles(p, 2 * p.params.number("tile")); },
      .traffic = [](const Problem& p) { return traffic_of_tiles(p, 2 * p.params.number("tile")); },
      .workspace =
          [](const Problem& p) { return workspace_of_tiles(p, 2 * p.params.number("tile")); },
      .enqueue = instantiate<AmpTiled4, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::amp_tiled_4
