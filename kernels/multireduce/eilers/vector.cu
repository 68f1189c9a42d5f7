// eilers/vector: the ordinary reduction over vectors of m elements
//
// Source: eilers section 4.1 and Algorithm 4.1.
// Idea: input i becomes a vector of m elements, neutral but for element l[i], which is v[i]; the
//   parallel reduction then combines neighbouring vectors, all their elements at once, until one is
//   left: the results.
// Fixes: atomic/global's contention and order, at m times the work. It suits very few buckets only.
// Launch: each block turns B inputs into B vectors in shared memory and reduces them in log2 B
//   steps; the blocks' vectors are reduced in the same way, launch by launch, until one is left.
// Traffic: n labels and n values read; each pass writes m elements per block, which the next reads.
// Preconditions: B m elements of shared memory. Order-preserving.
// Deviations: the publication describes it as unfit for large m and gives no listing beyond the
//   ordinary reduction. Vectors stay in place and are combined at growing strides instead of being
//   compacted, which combines the same pairs without a second copy. Vectors beyond the input are
//   neutral.

#include "kernels/shared/instantiate.hpp"

#include <algorithm>
#include <string>

namespace reduce_bench::BACKEND::eilers_vector {

/// Reduces the block's vectors, one per thread and laid out as [vector][bucket], to the first, and
/// stores that.
template <class T, class Op>
__device__ void reduce_vectors(T* vectors, unsigned buckets, T* results) {
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    const unsigned pairs = blockDim.x / (2 * stride);
    for (unsigned i = threadIdx.x; i < pairs * buckets; i += blockDim.x) {
      T* left = vectors + i / buckets * 2 * stride * buckets + i % buckets;
      *left = Op::combine(*left, left[stride * buckets]);
    }
  }
  __syncthreads();
  for (unsigned bucket = threadIdx.x; bucket < buckets; bucket += blockDim.x)
    results[std::size_t{blockIdx.x} * buckets + bucket] = vectors[bucket];
}

template <class T, class Op>
__global__ void of_inputs_kernel(const T* values, const Label* labels, std::size_t n,
                                 unsigned buckets, T* results) {
  T* vectors = dynamic_shared<T>();
  for (unsigned i = threadIdx.x; i < blockDim.x * buckets; i += blockDim.x)
    vectors[i] = Op::template identity<T>();
  __syncthreads();
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) vectors[threadIdx.x * buckets + labels[i]] = values[i];
  reduce_vectors<T, Op>(vectors, buckets, results);
}

template <class T, class Op>
__global__ void of_vectors_kernel(const T* values, std::size_t n, unsigned buckets, T* results) {
  T* vectors = dynamic_shared<T>();
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * buckets;
  const std::size_t end = n * buckets;
  for (unsigned i = threadIdx.x; i < blockDim.x * buckets; i += blockDim.x)
    vectors[i] = first + i < end ? values[first + i] : Op::template identity<T>();
  reduce_vectors<T, Op>(vectors, buckets, results);
}

/// Blocks of a pass; an empty input takes one, which stores neutral results.
std::size_t blocks_of(std::size_t vectors, unsigned block) {
  return std::max<std::size_t>(1, ceil_div(vectors, block));
}

/// Calls `f(vectors read, blocks)` for each pass.
template <class F>
void for_each_pass(const Problem& p, F&& f) {
  const unsigned block = p.params.number("block");
  std::size_t vectors = p.n, blocks = 0;
  do {
    blocks = blocks_of(vectors, block);
    f(vectors, blocks);
    vectors = blocks;
  } while (blocks > 1);
}

struct EilersVector {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const unsigned block = call.params().number("block");
    const auto buckets = static_cast<unsigned>(call.buckets());
    const std::size_t shared_bytes = std::size_t{block} * buckets * sizeof(T);
    T* partials = call.scratch();
    T* next_partials = partials + blocks_of(call.n(), block) * buckets;
    const T* values = nullptr;
    for_each_pass(call.problem, [&](std::size_t vectors, std::size_t blocks) {
      T* results = blocks == 1 ? call.results() : partials;
      const LaunchShape shape{static_cast<unsigned>(blocks), block, shared_bytes, call.stream};
      if (values == nullptr) {
        launch(of_inputs_kernel<T, Op>, shape, call.values(), call.labels(), vectors, buckets,
               results);
      } else {
        launch(of_vectors_kernel<T, Op>, shape, values, vectors, buckets, results);
      }
      values = results;
      std::swap(partials, next_partials);
    });
  }
};

std::string restriction(const Problem& p) {
  const std::size_t needed = p.params.number("block") * p.buckets * p.element_bytes();
  if (needed <= p.device.max_shared_bytes_per_block) return {};
  return std::to_string(needed) + " bytes of shared memory are needed for the vectors of a block," +
         " it has " + std::to_string(p.device.max_shared_bytes_per_block);
}

Variant variant() {
  return {
      .id = "eilers/vector",
      .title = "ordinary reduction over vectors of m",
      .source = "eilers section 4.1",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kAdapted,
      .params = {{"block",
                  "64",
                  {"32", "64", "128", "256"},
                  "threads, and vectors, per block (not stated)"}},
      .restriction = restriction,
      .depth = [](const Problem& p) -> std::uint64_t {
        std::uint64_t depth = 0;
        for_each_pass(
            p, [&](std::size_t, std::size_t) { depth += log2_ceil(p.params.number("block")); });
        return depth;
      },
      .traffic =
          [](const Problem& p) {
            const std::size_t vector_bytes = p.buckets * p.element_bytes();
            Traffic traffic{};
            for_each_pass(p, [&](std::size_t vectors, std::size_t blocks) {
              traffic.read_bytes +=
                  traffic.written_bytes == 0 ? p.input_bytes() : vectors * vector_bytes;
              traffic.written_bytes += blocks * vector_bytes;
            });
            return traffic;
          },
      .workspace =
          [](const Problem& p) {
            const unsigned block = p.params.number("block");
            const std::size_t first = blocks_of(p.n, block), second = blocks_of(first, block);
            return Workspace{.device_bytes = (first + second) * p.buckets * p.element_bytes()};
          },
      .enqueue =
          instantiate_for<EilersVector, BasicAndOrderedOps, std::int32_t, std::int64_t, float>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_vector
