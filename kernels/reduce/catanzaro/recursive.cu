// catanzaro/recursive: relaunch on the partial results until one is left
//
// Source: Catanzaro, OpenCL Optimization Case Study: Simple Reductions (2010), recursive
//   multi-stage reduction. jradi section 2 counts three strategies for large arrays, and names the
//   two-stage one alone.
// Idea: every work-group reduces its B elements as catanzaro/small-commutative does and leaves one
//   partial result; the same kernel then runs on those.
// Fixes: catanzaro/small-commutative stops at what one work-group holds; this takes any n. Each
//   thread reads one element and then mostly waits in the tree.
// Launch: ceil(n / B) blocks of B threads, B * sizeof(T) bytes of shared memory; then again on the
//   partial results until one is left.
// Traffic: the first pass reads n elements and writes n / B; each further pass moves 1 / B of the
//   one before.
// Preconditions: a commutative operator; threads beyond n hold the neutral element.
// Deviations: for any operator instead of the minimum. The kernel below is a port to CUDA of the
//   OpenCL C in the .cl file beside it.

#include "kernels/reduce/catanzaro/work_groups.hpp"
#include "kernels/reduce/passes.hpp"

namespace reduce_bench::BACKEND::catanzaro_recursive {

#ifdef REDUCE_BENCH_OPENCL
template <class T, class Op>
const auto kernel = kernel_of<T, Op, const T*, std::size_t, T*>("catanzaro/recursive");
#else
template <class T, class Op>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* partial = dynamic_shared<T>();
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

  partial[threadIdx.x] = i < n ? values[i] : Op::template identity<T>();
  fold_halves<Op>(partial);

  if (threadIdx.x == 0) results[blockIdx.x] = partial[0];
}
#endif

struct CatanzaroRecursive {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    reduce_in_passes(call, block, [&](const T* values, std::size_t n, T* results, unsigned blocks) {
      launch(kernel<T, Op>, {blocks, block, block * sizeof(T), call.stream}, values, n, results);
    });
  }
};

Variant variant() {
  return {
      .id = "catanzaro/recursive",
      .title = "recursive multi-stage reduction",
      .source = "Catanzaro 2010, recursive",
      .fidelity = Fidelity::kAdapted,
      .params = {work_group_size()},
      .depth = [](const Problem& p) { return depth_of_passes(p, p.params.number("block")); },
      .traffic = [](const Problem& p) { return traffic_of_passes(p, p.params.number("block")); },
      .workspace =
          [](const Problem& p) { return workspace_of_passes(p, p.params.number("block")); },
      .enqueue = instantiate<CatanzaroRecursive, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::catanzaro_recursive
