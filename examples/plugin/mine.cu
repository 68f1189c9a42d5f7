// A plug-in in CUDA: `mine/two-pass` adds in two kernels, the first of which leaves one sum for each
// block in scratch memory.
//
//   nvcc -O3 -std=c++20 -shared -Xcompiler -fPIC -arch=native -I include examples/plugin/mine.cu \
//        -o mine-cuda.so
//   reduce-bench verify --plugin ./mine-cuda.so --filter mine/two-pass
#include <reduce_bench_plugin.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr unsigned kMostBlocks = 1024;
constexpr unsigned kWarps = 32;  // at most in a block

template <class T>
__device__ T sum_of_block(T sum) {
  __shared__ T of_warps[kWarps];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (lane == 0) of_warps[warp] = sum;
  __syncthreads();
  if (warp != 0) return sum;
  sum = lane < blockDim.x / 32 ? of_warps[lane] : T{0};
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  return sum;
}

/// The sum of each block's share of the values, which lie a grid apart.
template <class T>
__global__ void sum_kernel(const T* values, std::uint64_t n, T* sums) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  T sum{0};
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    sum += values[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

struct Shape {
  unsigned blocks, threads;
};
Shape shape_of(const reduce_bench_problem& problem) {
  const auto threads = static_cast<unsigned>(std::strtoul(problem.params[0], nullptr, 10));
  const std::uint64_t useful = std::max<std::uint64_t>((problem.n + threads - 1) / threads, 1);
  const unsigned resident =
      problem.multiprocessors * (problem.max_threads_per_multiprocessor / threads);
  return {static_cast<unsigned>(std::min<std::uint64_t>({useful, resident, kMostBlocks})), threads};
}

std::uint64_t depth(const reduce_bench_problem* problem) {
  const Shape shape = shape_of(*problem);
  return problem->n / (std::uint64_t{shape.blocks} * shape.threads) + kMostBlocks / 32 + 32;
}

reduce_bench_workspace workspace(const reduce_bench_problem* problem) {
  return {std::uint64_t{shape_of(*problem).blocks} * 8, 0};
}

template <class T>
const char* enqueue_sum(const reduce_bench_call& call) {
  const auto stream = static_cast<cudaStream_t>(call.stream);
  const Shape shape = shape_of(*call.problem);
  T* const sums = static_cast<T*>(call.workspace);
  sum_kernel<<<shape.blocks, shape.threads, 0, stream>>>(static_cast<const T*>(call.values),
                                                         call.problem->n, sums);
  sum_kernel<<<1, shape.threads, 0, stream>>>(sums, shape.blocks, static_cast<T*>(call.results));
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

const char* enqueue(const reduce_bench_call* call) {
  // Signed integers may not wrap; the same bits as unsigned ones may.
  switch (call->problem->type) {
    case REDUCE_BENCH_I32: return enqueue_sum<unsigned>(*call);
    case REDUCE_BENCH_I64: return enqueue_sum<unsigned long long>(*call);
    case REDUCE_BENCH_F32: return enqueue_sum<float>(*call);
    default: return enqueue_sum<double>(*call);
  }
}

constexpr reduce_bench_combination kCombinations[] = {{REDUCE_BENCH_I32, REDUCE_BENCH_SUM},
                                                      {REDUCE_BENCH_I64, REDUCE_BENCH_SUM},
                                                      {REDUCE_BENCH_F32, REDUCE_BENCH_SUM},
                                                      {REDUCE_BENCH_F64, REDUCE_BENCH_SUM}};
constexpr const char* kBlocks[] = {"128", "256", "512"};
constexpr reduce_bench_param kParams[] = {{.name = "block",
                                           .default_value = "256",
                                           .allowed = kBlocks,
                                           .allowed_count = 3,
                                           .meaning = "threads per block"}};
constexpr reduce_bench_variant kVariants[] = {
    {.id = "mine/two-pass",
     .title = "a sum for each block, then their sum",
     .source = "the example of docs/plugins.md",
     .description = "Idea: blocks add their shares in registers, warps by shuffles.",
     .backend = REDUCE_BENCH_CUDA,
     .operation = REDUCE_BENCH_REDUCE,
     .combinations = kCombinations,
     .combination_count = 4,
     .params = kParams,
     .param_count = 1,
     .launches = 2,
     .depth = depth,
     .workspace = workspace,
     .enqueue = enqueue}};

}  // namespace

const struct reduce_bench_plugin reduce_bench_plugin = {.interface = REDUCE_BENCH_PLUGIN_INTERFACE,
                                                        .version = "1.0",
                                                        .variants = kVariants,
                                                        .variant_count = 1};
