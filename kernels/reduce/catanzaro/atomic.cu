// catanzaro/atomic: every work-group adds its result by one global atomic
//
// Source: Catanzaro, OpenCL Optimization Case Study: Simple Reductions (2010), reduction with
//   atomics. jradi section 2 counts three strategies for large arrays without naming this one;
//   that it is the third is from descriptions of the article.
// Idea: a work-group reduces its B elements in shared memory; its first thread then updates the
//   one result atomically. There are no partial results and no second launch over them.
// Fixes: catanzaro/recursive pays a launch and a trip through memory for every level; here all
//   n / B results queue for the same word instead.
// Launch: a fill of the result, then ceil(n / B) blocks of B threads, B * sizeof(T) bytes of
//   shared memory.
// Traffic: n elements read, the result written; the atomics stay in the L2 cache.
// Preconditions: the operator commutes, and has an atomic (compare-and-swap serves where the
//   hardware has none).
// Deviations: for any operator instead of the minimum. The kernel below is a port to CUDA of the
//   OpenCL C in the .cl file beside it. The article's code was not at hand: one element per
//   thread, as in catanzaro/recursive, is an assumption. The order of the atomics varies, so float
//   sums differ from run to run.

#include "kernels/reduce/catanzaro/work_groups.hpp"
#include "kernels/reduce/passes.hpp"
#include "kernels/shared/atomics.hpp"

namespace reduce_bench::BACKEND::catanzaro_atomic {

#ifdef REDUCE_BENCH_OPENCL
template <class T, class Op>
const auto kernel = kernel_of<T, Op, const T*, std::size_t, T*>(
    "catanzaro/atomic", {},
    sizeof(T) == 8 ? std::vector{kAtomics64} : std::vector<std::string_view>{});
#else
template <class T, class Op>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* partial = dynamic_shared<T>();
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

  partial[threadIdx.x] = i < n ? values[i] : Op::template identity<T>();
  fold_halves<Op>(partial);

  if (threadIdx.x == 0) atomic_combine<Op>(results, partial[0]);
}
#endif

struct CatanzaroAtomic {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    const auto blocks = static_cast<unsigned>(blocks_of_pass(call.n(), block));
    enqueue_fill(call.stream, call.results(), 1, Op::template identity<T>());
    launch(kernel<T, Op>, {blocks, block, block * sizeof(T), call.stream}, call.values(), call.n(),
           call.results());
  }
};

Variant variant() {
  return {
      .id = "catanzaro/atomic",
      .title = "one global atomic per work-group",
      .source = "Catanzaro 2010, atomics",
      .fidelity = Fidelity::kAdapted,
      .params = {work_group_size()},
      .depth = [](const Problem& p) -> std::uint64_t {
        const unsigned block = p.params.number("block");
        return log2_ceil(block) + blocks_of_pass(p.n, block);
      },
      .enqueue = instantiate<CatanzaroAtomic, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::catanzaro_atomic
