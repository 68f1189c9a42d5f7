// amp/cascade: a fixed number of tiles strides over the input, host finish
//
// Source: amp, reduction_cascade.
// Idea: `tiles` blocks of `tile` threads, whatever n is. Each thread folds pairs of elements,
//   `tile` apart, into its own slot of shared memory and strides over the input by what all tiles
//   take in a step; then each block folds its slots. The host folds one partial result per tile.
// Fixes: amp/tiled-4 folds two elements per thread, then waits in the tree, and launches again;
//   here the share of the trees shrinks as n grows, and one launch suffices.
// Launch: `tiles` blocks of `tile` threads, tile * sizeof(T) bytes of shared memory; the host
//   folds `tiles` values.
// Traffic: n elements read, `tiles` written and read again.
// Preconditions: the tile size is a power of two; the operator commutes.
// Deviations: a CUDA port of C++ AMP, for any operator. The sample folds what its strides leave
//   over on the host; here loads are bounds-checked. The walk-through gives tiles * tile size as
//   the stride; the sample's code, whose threads take pairs as in amp/tiled-4, strides twice as
//   far, as the corrected form does. form=as-published joins the stride of the text with the pairs
//   of the code, which folds all elements from there on twice.

#include "kernels/reduce/amp/host_finish.hpp"

namespace reduce_bench::BACKEND::amp_cascade {

template <class T, class Op>
__global__ void kernel(const T* values, std::size_t n, std::size_t stride, T* results) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;

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

bool as_published(const Problem& p) { return p.params.is("form", "as-published"); }
std::size_t threads_of(const Problem& p) {
  return std::size_t{p.params.number("tiles")} * p.params.number("tile");
}
std::size_t stride_of(const Problem& p) { return (as_published(p) ? 1 : 2) * threads_of(p); }
/// How many elements are folded a second time.
std::size_t repeated(const Problem& p) {
  return as_published(p) && p.n > threads_of(p) ? p.n - threads_of(p) : 0;
}

struct AmpCascade {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned tiles = call.params().number("tiles"), tile = call.params().number("tile");
    launch(kernel<T, Op>, {tiles, tile, tile * sizeof(T), call.stream}, call.values(), call.n(),
           stride_of(call.problem), call.scratch());
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
      .synchronous = true,
      .params = {{"tiles",
                  "128",
                  {"16", "32", "64", "128", "256", "512"},
                  "blocks (the sample: 128; the walk-through names no number)"},
                 tile_size(),
                 {"form", "corrected", {"corrected", "as-published"}, "the stride"}},
      .defect = [](const Problem& p) -> std::optional<Defect> {
        const bool harmless =
            p.op == Op::kMin || p.op == Op::kMax || p.op == Op::kAnd || p.op == Op::kOr;
        if (repeated(p) == 0 || harmless) return std::nullopt;
        // An f32 sum may stay within its bound.
        return Defect{"the stride is half of what the tiles take in a step: elements count twice",
                      p.op == Op::kSum && p.type != Type::kF32};
      },
      .depth = [](const Problem& p) -> std::uint64_t {
        const std::size_t tiles = p.params.number("tiles"), tile = p.params.number("tile");
        return 1 + ceil_div(p.n, stride_of(p)) + log2_ceil(tile) + tiles;
      },
      .traffic = [](const Problem& p) -> Traffic {
        const std::size_t partial_bytes = p.params.number("tiles") * p.element_bytes();
        return {.read_bytes = p.input_bytes() + repeated(p) * p.element_bytes() + partial_bytes,
                .written_bytes = partial_bytes};
      },
      .workspace = [](const Problem& p) -> Workspace {
        const unsigned tiles = p.params.number("tiles");
        return {.device_bytes = tiles * p.element_bytes(), .host_bytes = tiles * p.element_bytes()};
      },
      .enqueue = instantiate<AmpCascade, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::amp_cascade
