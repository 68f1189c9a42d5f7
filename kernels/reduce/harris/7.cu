// harris/7: warp shuffles and hardware warp reduction
//
// Source: NVIDIA CUDA samples, reduction, kernel 7; Harris's progression continued.
// Idea: after the loads of harris/6 the warp folds its registers by shuffles; one value per warp
//   goes through shared memory and the first warp folds those. On compute capability 8.0 and up
//   the fold of 32-bit integers is a single instruction (redux).
// Fixes: the tree of harris/6 goes through shared memory in every step, with log2(B) - 5 block
//   barriers and twelve warp barriers; here one block barrier is left.
// Launch: at most blocks_per_sm blocks of B threads per SM, 32 * sizeof(T) bytes of shared memory;
//   then one block on their results.
// Traffic: n elements read; one element per block written and read again.
// Preconditions: a commutative operator; B a multiple of 32.
// Deviations: the sample's masks leave out lanes that its shuffles then read (undefined); here all
//   32 lanes take part, with neutral elements where there is no data. The sample uses redux for
//   sums; here min and max use it too. The sample takes pairs only where n is a power of two, else
//   single elements B * blocks apart; here every n is taken in pairs. The number of blocks, 64 in
//   the sample, is what the card holds. Halves are made f32 as they are loaded, one by one.

#include <type_traits>

#include "kernels/reduce/persistent.hpp"
#include "kernels/shared/halves.hpp"
#include "kernels/shared/shuffle.hpp"

namespace reduce_bench::BACKEND::harris_7 {

template <class Op, class T>
__device__ T fold_warp_in_hardware(T value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, std::int32_t>) {
    if constexpr (std::is_same_v<Op, Sum>) return __reduce_add_sync(kAllLanes, value);
    if constexpr (std::is_same_v<Op, Min>) return __reduce_min_sync(kAllLanes, value);
    if constexpr (std::is_same_v<Op, Max>) return __reduce_max_sync(kAllLanes, value);
  }
#endif
  return fold_warp<Op>(value);
}

template <class T, class Op>
__global__ void kernel(const T* values, Combined<T>* results, std::size_t n) {
  using Folded = Combined<T>;
  Folded* warp_results = dynamic_shared<Folded>();
  const unsigned t = threadIdx.x, block = blockDim.x;
  const unsigned lane = t % kWarpSize, warp = t / kWarpSize;
  const std::size_t stride = std::size_t{gridDim.x} * (2 * block);

  Folded sum = Op::template identity<Folded>();
  for (std::size_t i = std::size_t{blockIdx.x} * (2 * block) + t; i < n; i += stride) {
    const Folded first = combined(values[i]);
    sum = Op::combine(sum, i + block < n ? Op::combine(first, combined(values[i + block])) : first);
  }

  sum = fold_warp_in_hardware<Op>(sum);
  if (lane == 0) warp_results[warp] = sum;
  __syncthreads();

  if (warp == 0) {
    sum = lane < block / kWarpSize ? warp_results[lane] : Op::template identity<Folded>();
    sum = fold_warp_in_hardware<Op>(sum);
  }
  if (t == 0) results[blockIdx.x] = sum;
}

struct Harris7 {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    reduce_in_two_passes(
        call, 2,
        [&]<class In>(const In* values, std::size_t n, Combined<T>* results, unsigned blocks) {
          launch(kernel<In, Op>, {blocks, block, kWarpSize * sizeof(Combined<T>), call.stream},
                 values, results, n);
        });
  }
};

Variant variant() {
  return {
      .id = "harris/7",
      .title = "warp shuffles and hardware warp reduction",
      .source = "NVIDIA CUDA samples, reduction, kernel 7",
      .fidelity = Fidelity::kCorrected,
      .params = {{"block", "256", {"64", "128", "256", "512", "1024"}, "threads (NVIDIA: 256)"},
                 blocks_per_sm_param("NVIDIA: 64 blocks in all")},
      .depth = [](const Problem& p) { return depth_of_two_passes(p, 2); },
      .traffic = [](const Problem& p) { return traffic_of_two_passes(p, 2); },
      .workspace = [](const Problem& p) { return workspace_of_two_passes(p, 2); },
      .enqueue = instantiate_with_halves<Harris7, AllOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::harris_7
