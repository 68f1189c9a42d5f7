// jradi/unrolled: F contiguous elements per persistent work-item and step
//
// Source: jradi section 3, Listings 4 to 6; Table 2 and Figures 3 and 4 vary F, Table 3 compares
//   with Harris's kernel 7. F = 1 is Catanzaro's original.
// Idea: each thread of a grid that just fills the card folds F neighbouring elements per step,
//   with stride GS * F, so the loop has F times fewer rounds and F loads are in flight. What lies
//   beyond n is neutralised by a predicate instead of a branch. The tree of the block has no
//   branch either: all threads take every step, and those that have nothing to add add a neutral
//   value.
// Fixes: catanzaro/two-stage spends most of its loop on counting and waits for one load at a time.
//   The price: the lanes of a warp load F elements apart, so loads are not coalesced as with a
//   grid stride; caches make up for that.
// Launch: GS / B blocks of B threads, B * sizeof(T) bytes of shared memory; then 1 block over
//   GS / B partial results.
// Traffic: n elements read, GS / B written and read again, one written.
// Preconditions: B is a power of two; the operator commutes.
// Deviations: the kernel below is a port to CUDA of the OpenCL C in the .cl file beside it, which
//   has no tree=shuffle. GS is sm_count times max_threads_per_sm (OpenCL: compute units times the
//   largest work-group, since it does not tell how many work-items a unit holds); as published,
//   with blocks_per_sm=1, sm_count times B (2.3: a partial result for each SM). As published an
//   element is multiplied by its predicate (predicate=multiply, sums only), which still reads up
//   to F - 1 elements beyond n, and 0 * NaN or 0 * Inf poisons a float sum; predicate=select does
//   not read them. The first of a step, whose predicate the loop's condition makes 1, is not
//   multiplied. As published the tree has no barriers (tree=barrier-free) and races across warps;
//   tree=algebraic is the same expression, Listing 6, between barriers: all threads read before
//   any writes. tree=barriers has Catanzaro's branch and barriers, tree=shuffle exchanges
//   registers within warps. The predicate of tree=algebraic and of tree=barrier-free is that of
//   the loads. The second stage has the same tree and F = 1.

#include "kernels/reduce/catanzaro/work_groups.hpp"
#ifndef REDUCE_BENCH_OPENCL
#include "kernels/shared/shuffle.hpp"
#endif

namespace reduce_bench::BACKEND::jradi_unrolled {

enum class Tree { kBarriers, kAlgebraic, kShuffle, kBarrierFree };

#ifdef REDUCE_BENCH_OPENCL
template <class T, class Op, unsigned kFactor, bool kMultiply>
const auto kernel = kernel_of<T, Op, const T*, std::size_t, Tree, T*>(
    "jradi/unrolled", {{"FACTOR", kFactor}, {"MULTIPLY", kMultiply}});
#else
/// The element where `inside`, otherwise the neutral value, without a branch.
template <class Op, bool kMultiply, class T>
__device__ T element_if(bool inside, const T* element) {
  if constexpr (kMultiply) return static_cast<T>(inside) * *element;
  else return inside ? *element : Op::template identity<T>();
}

/// A step of the tree without a branch: what the thread's element becomes. A thread beyond `offset`
/// reads its own element in place of another.
template <class Op, bool kMultiply, class T>
__device__ T folded(const volatile T* partial, unsigned offset) {
  const bool active = threadIdx.x < offset;
  const T own = partial[threadIdx.x], other = partial[threadIdx.x + active * offset];
  return Op::combine(own, element_if<Op, kMultiply>(active, &other));
}

template <class Op, bool kMultiply, class T>
__device__ void fold_without_branches(T* partial) {
  for (unsigned offset = blockDim.x / 2; offset > 0; offset /= 2) {
    __syncthreads();
    const T sum = folded<Op, kMultiply>(partial, offset);
    __syncthreads();
    partial[threadIdx.x] = sum;
  }
}

/// Relies on all threads being in the same step, which nothing ensures for two warps.
template <class Op, bool kMultiply, class T>
__device__ void fold_without_barriers(volatile T* partial) {
  __syncthreads();
  for (unsigned offset = blockDim.x / 2; offset > 0; offset /= 2)
    partial[threadIdx.x] = folded<Op, kMultiply>(partial, offset);
}

template <class T, class Op, unsigned kFactor, bool kMultiply>
__global__ void kernel(const T* values, std::size_t n, Tree tree, T* results) {
  T* partial = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  const std::size_t global_id = std::size_t{blockIdx.x} * blockDim.x + t;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x * kFactor;

  T accumulator = Op::template identity<T>();
  for (std::size_t i = global_id * kFactor; i < n; i += stride) {
    T step = values[i];
#pragma unroll
    for (unsigned k = 1; k < kFactor; ++k)
      step = Op::combine(step, element_if<Op, kMultiply>(i + k < n, values + i + k));
    accumulator = Op::combine(accumulator, step);
  }

  if (tree == Tree::kShuffle) {
    accumulator = fold_block<Op>(accumulator, partial);
  } else {
    partial[t] = accumulator;
    if (tree == Tree::kBarriers) fold_halves<Op>(partial);
    else if (tree == Tree::kAlgebraic) fold_without_branches<Op, kMultiply>(partial);
    else fold_without_barriers<Op, kMultiply, T>(partial);
    accumulator = partial[t];
  }
  if (t == 0) results[blockIdx.x] = accumulator;
}
#endif

Tree tree_of(const Params& params) {
  if (params.is("tree", "shuffle")) return Tree::kShuffle;
  if (params.is("tree", "algebraic")) return Tree::kAlgebraic;
  return params.is("tree", "barriers") ? Tree::kBarriers : Tree::kBarrierFree;
}

struct JradiUnrolled {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    const unsigned blocks = persistent_work_groups(call.device(), call.params());
    const std::size_t shared_bytes = block * sizeof(T);
    const Tree tree = tree_of(call.params());
#ifdef REDUCE_BENCH_OPENCL
    if (tree == Tree::kShuffle)
      throw DeviceLacks("tree=shuffle exchanges registers, for which OpenCL 1.2 has nothing");
#endif
    T* partials = call.scratch();
    with_value<1, 2, 3, 4, 5, 6, 7, 8, 16>(call.params().number("F"), [&]<unsigned kFactor>() {
      launch(stage<T, Op, kFactor>(call.params()), {blocks, block, shared_bytes, call.stream},
             call.values(), call.n(), tree, partials);
    });
    launch(stage<T, Op, 1>(call.params()), {1, block, shared_bytes, call.stream}, partials, blocks,
           tree, call.results());
  }

 private:
  template <class T, class Op, unsigned kFactor>
  static auto stage(const Params& params) {
    if constexpr (Op::kOp == reduce_bench::Op::kSum) {
      if (params.is("predicate", "multiply")) return kernel<T, Op, kFactor, true>;
    }
    return kernel<T, Op, kFactor, false>;
  }
};

std::size_t elements_read_beyond(const Problem& p) {
  const unsigned factor = p.params.number("F");
  return p.params.is("predicate", "multiply") ? ceil_div(p.n, factor) * factor - p.n : 0;
}

Variant variant() {
  return {
      .id = "jradi/unrolled",
      .title = "unrolled persistent work-items, no branches",
      .source = "jradi 3, Listings 4-6, Tables 2-3",
      .fidelity = Fidelity::kCorrected,
      .params = {{"F",
                  "8",
                  {"1", "2", "3", "4", "5", "6", "7", "8", "16"},
                  "elements per thread and step (Table 2: all; Table 3: 8)"},
                 {"tree",
                  "barriers",
                  {"barriers", "algebraic", "shuffle", "barrier-free"},
                  "how a block folds (published: barrier-free)"},
                 {"predicate",
                  "select",
                  {"select", "multiply"},
                  "how elements beyond n, and in algebraic and barrier-free trees those of idle "
                  "threads, are neutralised (published: multiply, sums only)"},
                 work_group_size(),
                 work_groups_per_sm()},
      .restriction = [](const Problem& p) -> std::string {
        if (p.params.is("predicate", "select") || p.op == Op::kSum) return {};
        return "multiplying by the predicate neutralises an element of a sum only: choose "
               "predicate=select";
      },
      .defect = [](const Problem& p) -> std::optional<Defect> {
        const bool races = p.params.is("tree", "barrier-free");
        if (is_float(p.type) && elements_read_beyond(p) > 0)
          return Defect{
              "0 times what lies beyond the input poisons the sum where that is NaN or "
              "infinite",
              !races};
        if (races) return Defect{"without barriers the tree races across warps", false};
        return std::nullopt;
      },
      .overread = elements_read_beyond,
      .depth = [](const Problem& p) { return depth_of_two_stages(p, p.params.number("F")); },
      .traffic = traffic_of_two_stages,
      .workspace = workspace_of_two_stages,
      .enqueue = instantiate<JradiUnrolled, AllOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::jradi_unrolled
