// mine/block-sum: each thread adds a share of the values, and one thread of the only block the rest
//
// A kernel that runs on a GPU and, without one, on the emulator.

#include <reduce_bench_variant.hpp>

namespace reduce_bench::BACKEND::mine_block_sum {

template <class T>
__global__ void kernel(const T* values, std::size_t n, T* results) {
  T* const sums = dynamic_shared<T>();
  T sum = Sum::identity<T>();
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) sum = Sum::combine(sum, values[i]);
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (unsigned other = 1; other < blockDim.x; ++other) sum = Sum::combine(sum, sums[other]);
  *results = sum;
}

struct Launch {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    launch(kernel<T>, {1, block, block * sizeof(T), call.stream}, call.values(), call.n(),
           call.results());
  }
};

Variant variant() {
  return {
      .id = "mine/block-sum",
      .title = "one block",
      .source = "the example of docs/plugins.md",
      .fidelity = Fidelity::kBeyond,
      .params = {{"block", "128", {"64", "128"}, "threads"}},
      .depth = [](const Problem& p) -> std::uint64_t {
        return p.n / p.params.number("block") + p.params.number("block") + 1;
      },
      .enqueue = instantiate_for<Launch, OpList<Sum>, std::int32_t, float>(),
  };
}

}  // namespace reduce_bench::BACKEND::mine_block_sum

REDUCE_BENCH_VARIANT(mine_block_sum)
