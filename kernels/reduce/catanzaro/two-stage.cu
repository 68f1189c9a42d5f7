// catanzaro/two-stage: persistent work-items, then one work-group
//
// Source: Catanzaro, OpenCL Optimization Case Study: Simple Reductions (2010), two-stage
//   reduction; jradi section 2.3, Listing 1, and the row F = 1 of Table 2.
// Idea: only as many threads as the card holds at once (GS). Each walks the input in steps of GS
//   and folds its elements in a register; each block then folds its threads' values in shared
//   memory and leaves one partial result. A second stage of one block folds those.
// Fixes: catanzaro/recursive runs a whole tree for every B elements; here the numbers of trees and
//   of partial results no longer grow with n, and two launches always suffice.
// Launch: GS / B blocks of B threads, B * sizeof(T) bytes of shared memory; then 1 block over
//   GS / B partial results.
// Traffic: n elements read, GS / B written and read again, one written.
// Preconditions: the operator commutes, since threads fold elements GS apart.
// Deviations: for any operator instead of the minimum. The kernel below is a port to CUDA of the
//   OpenCL C in the .cl file beside it. GS is sm_count times max_threads_per_sm (OpenCL: compute
//   units times the largest work-group, since it does not tell how many work-items a unit holds);
//   with blocks_per_sm=1, as in jradi, sm_count times B. Where there are more than B partial
//   results, the second stage strides over them. nvcc unrolls the loop by the factor that is asked
//   for, but tests the bound before each element, so that each load waits for a branch (unroll).

#include "kernels/reduce/catanzaro/work_groups.hpp"

namespace reduce_bench::BACKEND::catanzaro_two_stage {

#ifdef REDUCE_BENCH_OPENCL
template <class T, class Op, unsigned kUnroll>
const auto kernel =
    kernel_of<T, Op, const T*, std::size_t, T*>("catanzaro/two-stage", {{"UNROLL", kUnroll}});
#else
/// Without a factor, `kUnroll` = 0, the compiler chooses.
template <class T, class Op, unsigned kUnroll>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* partial = dynamic_shared<T>();
  const std::size_t global_size = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t global_id = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;

  T accumulator = Op::template identity<T>();
  if constexpr (kUnroll == 0) {
    for (std::size_t i = global_id; i < n; i += global_size)
      accumulator = Op::combine(accumulator, values[i]);
  } else {
#pragma unroll kUnroll
    for (std::size_t i = global_id; i < n; i += global_size)
      accumulator = Op::combine(accumulator, values[i]);
  }

  partial[threadIdx.x] = accumulator;
  fold_halves<Op>(partial);

  if (threadIdx.x == 0) results[blockIdx.x] = partial[0];
}
#endif

struct CatanzaroTwoStage {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    const unsigned blocks = persistent_work_groups(call.device(), call.params());
    const std::size_t shared_bytes = block * sizeof(T);
    T* partials = call.scratch();
    const auto first_stage = [&]<unsigned kUnroll>() {
      launch(kernel<T, Op, kUnroll>, {blocks, block, shared_bytes, call.stream}, call.values(),
             call.n(), partials);
    };
    if (call.params().is("unroll", "auto")) first_stage.template operator()<0>();
    else with_value<2, 4, 8, 16>(call.params().number("unroll"), first_stage);
    launch(kernel<T, Op, 0>, {1, block, shared_bytes, call.stream}, partials, blocks,
           call.results());
  }
};

Variant variant() {
  return {
      .id = "catanzaro/two-stage",
      .title = "persistent work-items, two stages",
      .source = "Catanzaro 2010, two-stage; jradi 2.3, Listing 1, Table 2",
      .fidelity = Fidelity::kAdapted,
      .params = {work_group_size(),
                 work_groups_per_sm(),
                 {"unroll",
                  "auto",
                  {"auto", "2", "4", "8", "16"},
                  "factor of the pragma that has the first stage's loop unrolled (jradi 2.4; auto: "
                  "none, as published)"}},
      .depth = [](const Problem& p) { return depth_of_two_stages(p, 1); },
      .traffic = traffic_of_two_stages,
      .workspace = workspace_of_two_stages,
      .enqueue = instantiate<CatanzaroTwoStage, AllOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::catanzaro_two_stage
