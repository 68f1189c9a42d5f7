// A bucket set for each thread in global memory (eilers Algorithms 4.6 to 4.8), for inputs as they
// are or sorted.
#pragma once

#include <algorithm>
#include <string>

#include "kernels/shared/bucket_sets.hpp"

namespace reduce_bench::BACKEND {

inline constexpr unsigned kGlobalOrderedBlock = 384;
/// The publication's fastest of random inputs: 6144 threads in 16 blocks, two for each of its 8
/// multiprocessors. Of inputs that are sorted first it takes 3072.
inline unsigned global_ordered_blocks_per_sm(const Problem& p) {
  return p.params.has("sort") ? 1 : 2;
}

/// Every thread takes `per_thread` consecutive inputs, a multiple of kItems, kItems at a time. The
/// block loads them together, neighbours side by side, and passes them on through shared memory,
/// where a thread's lie in a row. kItems is a multiple of 8: rows of kItems elements (Algorithm 4.6)
/// begin in few banks, which the lanes of a warp then read from; padded by one element (Algorithm
/// 4.7) they begin in different ones.
template <class T, class Op, unsigned kItems, bool kPadded>
__global__ void __launch_bounds__(kGlobalOrderedBlock)
    eilers_global_ordered_kernel(const T* values, const Label* labels, std::size_t n,
                                 std::size_t per_thread, std::size_t buckets, T* sets) {
  constexpr unsigned kRow = kItems + kPadded;
  const std::size_t all_sets = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  T* own = sets + thread;
  for (std::size_t b = 0; b < buckets; ++b) own[b * all_sets] = Op::template identity<T>();

  const std::size_t block_first = std::size_t{blockIdx.x} * blockDim.x * per_thread;
  const auto transpose = [&](const auto* from, std::size_t step, auto* shared, auto& items) {
#pragma unroll
    for (unsigned k = 0; k < kItems; ++k) {
      const unsigned i = k * blockDim.x + threadIdx.x;
      const unsigned segment = i / kItems, item = i % kItems;
      const std::size_t index = block_first + segment * per_thread + step + item;
      if (index < n) shared[segment * kRow + item] = from[index];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kItems; ++k) items[k] = shared[threadIdx.x * kRow + k];
    __syncthreads();
  };

  for (std::size_t step = 0; step < per_thread; step += kItems) {
    Label own_labels[kItems];
    T own_values[kItems];
    transpose(labels, step, dynamic_shared<Label>(), own_labels);
    transpose(values, step, dynamic_shared<T>(), own_values);
    const std::size_t first = thread * per_thread + step;
#pragma unroll
    for (unsigned k = 0; k < kItems; ++k) {
      if (first + k < n) {
        T& bucket = own[own_labels[k] * all_sets];
        bucket = Op::combine(bucket, own_values[k]);
      }
    }
  }
}

struct GlobalOrderedPlan {
  unsigned items, blocks;
  std::size_t per_thread, sets;
};

/// Plans as many sets as asked for, rounded up to whole blocks, but none that has no input at all.
inline GlobalOrderedPlan global_ordered_plan(const Problem& p) {
  GlobalOrderedPlan plan{};
  plan.items = p.params.number("items");
  const std::size_t asked =
      p.params.is("sets", "auto")
          ? std::size_t{p.device.sm_count} * global_ordered_blocks_per_sm(p) * kGlobalOrderedBlock
          : p.params.number("sets");
  const std::size_t useful = std::clamp(ceil_div(p.n, plan.items), std::size_t{1}, asked);
  plan.blocks = static_cast<unsigned>(ceil_div(useful, kGlobalOrderedBlock));
  plan.sets = std::size_t{plan.blocks} * kGlobalOrderedBlock;
  plan.per_thread = ceil_div(ceil_div(p.n, plan.sets), plan.items) * plan.items;
  return plan;
}

/// The whole multireduce of these n inputs; the sets and their reduction are at the start of
/// `workspace`.
template <class Op, class T>
void enqueue_global_ordered(const TypedCall<T>& call, const T* values, const Label* labels,
                            std::byte* workspace) {
  const GlobalOrderedPlan plan = global_ordered_plan(call.problem);
  const bool padded = call.params().is("padding", "on");
  const std::size_t shared_bytes =
      (plan.items + padded) * kGlobalOrderedBlock * std::max(sizeof(T), sizeof(Label));
  with_value<8, 16, 32>(plan.items, [&]<unsigned kItems>() {
    launch(padded ? eilers_global_ordered_kernel<T, Op, kItems, true>
                  : eilers_global_ordered_kernel<T, Op, kItems, false>,
           {plan.blocks, kGlobalOrderedBlock, shared_bytes, call.stream}, values, labels, call.n(),
           plan.per_thread, call.buckets(), reinterpret_cast<T*>(workspace));
  });
  reduce_bucket_sets<Op>(call, plan.sets, workspace);
}

inline std::uint64_t depth_of_global_ordered(const Problem& p) {
  const GlobalOrderedPlan plan = global_ordered_plan(p);
  return plan.per_thread + depth_of_bucket_sets(p, plan.sets);
}

inline std::vector<ParamSpec> global_ordered_params(std::string published_sets) {
  return {{"sets",
           "auto",
           {"auto", "768", "1536", "3072", "6144", "12288", "24576"},
           "bucket sets, one per thread, at most one per items inputs (auto: " +
               std::move(published_sets) + ")"},
          {"items",
           "8",
           {"8", "16", "32"},
           "inputs that a thread takes at a time (the most that shared memory holds)"},
          {"padding",
           "on",
           {"on", "off"},
           "whether rows of items are padded by one element (Algorithm 4.7: on; 4.6: off)"}};
}

}  // namespace reduce_bench::BACKEND
