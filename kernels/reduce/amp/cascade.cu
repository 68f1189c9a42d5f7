// amp/cascade: a fixed number of tiles strides over the input, host finish
//
// Source: amp, reduction_cascade.
// Idea: `tiles` blocks of `tile` threads, whatever n is. Each thread folds pairs of elements,
//   `tile` apart, into its own slot of shared memory and strides over the input by what all tiles
//   take in a step; then each block folds its slots. The host folds one partial result per tile.
// Fixes: amp/tiled-4 folds two elements per thread, then waits in the tree, and launches again;
//   here the share of the trees shrinks as n grows, and one launch suffices.
// Launch: `tiles` blocks of `tile` threads, tile * sizeof(T) bytes of shared memory; the host folds
//   `tiles` values.
// Traffic: n elements read, `tiles` written and read again.
// Preconditions: the tile size is a power of two; the operator commutes.
// Deviations: a CUDA port of C++ AMP, for any operator. Loads are bounds-checked. The text gives
//   tiles * tile size as the stride, which would fold elements twice, since each thread takes two
//   per step as in amp/tiled-4; the stride here is twice that.

#include "kernels/reduce/amp/host_finish.hpp"

namespace reduce_bench::BACKEND::amp_cascade {

template <class T, class Op>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t stride = 2 * std::size_t{gridDim.x} * blockDim.x;

  partial[t] = Op::template identity<T>();
  for (std::size_t i = 2 * std::size_t{blockIdx.x} * blockDim.x + t; i < n; i += stride) {
    T pair = values[i];
    if (i + blockDim.x < n) pair = Op::combine(pair, values[i + blockDim.x]);
    partial[t] = Op::combine(partial[t], pair);
  }
  __syncthreads();

  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) partial[t] = Op::combine(partial[t], partial[t + s]);
    __syncthreads();
  }

  if (t == 0) results[blockIdx.x] = partial[0];
}

struct AmpCascade {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned tiles = call.params().number("tiles"), tile = call.params().number("tile");
    launch(kernel<T, Op>, {tiles, tile, tile * sizeof(T), call.stream}, call.values(), call.n(),
           call.scratch());
    fold_on_host<Op>(call, call.scratch(), tiles);
  }
};

Variant variant() {
  return {
      .id = "amp/cascade",
      .title = "fixed number of tiles, host finish",
      .source = "amp, reduction_cascade",
      .fidelity = Fidelity::kCorrected,
      .finish = Finish::kHost,
      .params = {{"tiles",
                  "64",
                  {"16", "32", "64", "128", "256", "512"},
                  "blocks (the walk-through names no number)"},
                 tile_size()},
      .depth = [](const Problem& p) -> std::uint64_t {
        const std::size_t tiles = p.params.number("tiles"), tile = p.params.number("tile");
        return 1 + ceil_div(p.n, 2 * tiles * tile) + log2_ceil(tile) + tiles;
      },
      .traffic = [](const Problem& p) -> Traffic {
        const std::size_t partial_bytes = p.params.number("tiles") * p.element_bytes();
        return {.read_bytes = p.input_bytes() + partial_bytes, .written_bytes = partial_bytes};
      },
      .workspace = [](const Problem& p) -> Workspace {
        const unsigned tiles = p.params.number("tiles");
        return {.device_bytes = tiles * p.element_bytes(), .host_bytes = host_bytes_for(p, tiles)};
      },
      .enqueue = instantiate<AmpCascade, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::amp_cascade
