// eilers/multiscan-vector: the ordinary scan over vectors of m elements
//
// Source: eilers section 5.1 and Algorithm 5.1.
// Idea: as eilers/vector: input i becomes a vector of m elements, neutral but for element l[i],
//   which is v[i]. Blelloch's scan replaces every vector by the total of those before it; element
//   l[i] of that is the result.
// Fixes: nothing: it is what an ordinary scan can do for labels, at m times the work. It suits very
//   few buckets only.
// Launch: each block turns B inputs into B vectors in shared memory and scans them in 2 log2 B
//   steps; the blocks' vectors are scanned as the buckets of segments (Algorithm 5.2), and the
//   total of what is before a block is combined with its results.
// Traffic: n labels and n values read, n results written; labels and results read and results
//   written again; a vector of m for each block written and read twice.
// Preconditions: m <= 64, and (B + 1) m elements of shared memory. Order-preserving.
// Deviations: the publication calls it unfit for large m and gives no listing for vectors. In the
//   listing's downsweep the step 2i + 1 must be 2^(i+1), and the total of the left subtree must be
//   combined behind what precedes it, not in front. Vectors beyond the input are neutral.

#include "kernels/multiscan/blelloch.hpp"
#include "kernels/multiscan/segment_totals.hpp"

namespace reduce_bench::BACKEND::eilers_multiscan_vector {

template <class T, class Op>
__global__ void kernel(const T* values, const Label* labels, std::size_t n, unsigned buckets,
                       bool inclusive, T* totals, T* results) {
  T* vectors = dynamic_shared<T>();
  for (unsigned i = threadIdx.x; i < blockDim.x * buckets; i += blockDim.x)
    vectors[i] = Op::template identity<T>();
  __syncthreads();
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  T* own = nullptr;
  T value = Op::template identity<T>();
  if (i < n) {
    own = vectors + threadIdx.x * buckets + labels[i];
    *own = value = values[i];
  }
  exclusive_scan_by_tree<Op>(vectors, blockDim.x, buckets);
  if (i < n) results[i] = inclusive ? Op::combine(*own, value) : *own;
  const T* total = vectors + blockDim.x * buckets;
  for (unsigned b = threadIdx.x; b < buckets; b += blockDim.x)
    totals[std::size_t{b} * gridDim.x + blockIdx.x] = total[b];
}

Segments segments(const Problem& p) { return segments_of(p.n, p.params.number("block")); }
std::size_t shared_bytes(const Problem& p) {
  return (p.params.number("block") + std::size_t{1}) * p.buckets * p.element_bytes();
}

struct EilersMultiscanVector {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    const Segments of_blocks = segments(call.problem);
    launch(kernel<T, Op>,
           {static_cast<unsigned>(of_blocks.count), call.params().number("block"),
            shared_bytes(call.problem), call.stream},
           call.values(), call.labels(), call.n(), static_cast<unsigned>(call.buckets()),
           call.inclusive(), call.scratch(), call.results());
    enqueue_add_totals<Op>(call, of_blocks, call.scratch());
  }
};

/// "A good algorithm for small (single digit) numbers of buckets."
constexpr std::size_t kMostBuckets = 64;

std::string restriction(const Problem& p) {
  if (p.buckets > kMostBuckets)
    return std::to_string(p.buckets) + " buckets: vectors are for few, at most " +
           std::to_string(kMostBuckets);
  if (shared_bytes(p) > p.device.max_shared_bytes_per_block)
    return std::to_string(shared_bytes(p)) +
           " bytes of shared memory are needed for the vectors of a block, it has " +
           std::to_string(p.device.max_shared_bytes_per_block);
  return partition_restriction(p, segments(p));
}

Variant variant() {
  return {
      .id = "eilers/multiscan-vector",
      .title = "ordinary scan over vectors of m",
      .source = "eilers section 5.1",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kAdapted,
      .params =
          {scan_axis(),
           {"block", "32", {"32", "64", "128"}, "threads, and vectors, per block (not stated)"}},
      .restriction = restriction,
      .depth = [](const Problem& p) -> std::uint64_t {
        return 2 * log2_ceil(p.params.number("block")) + 1 + depth_of_totals(p, segments(p));
      },
      .traffic = [](const Problem& p) { return traffic_of_partition(p, segments(p)); },
      .workspace =
          [](const Problem& p) { return Workspace{.device_bytes = totals_bytes(p, segments(p))}; },
      .enqueue = instantiate_ordered<EilersMultiscanVector>(),
  };
}

}  // namespace reduce_bench::BACKEND::eilers_multiscan_vector
