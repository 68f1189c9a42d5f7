// blelloch/scan: the work-efficient scan, level by level
//
// Source: eilers Algorithm 5.1, adapted from Harris, Sengupta and Owens, "Parallel Prefix Sum with
//   CUDA" (2007), after Blelloch (1990).
// Idea: a block scans a tile by a tree in shared memory: an upsweep that reduces, a downsweep that
//   hands every subtree what is before it. The tiles' totals are scanned in the same way, level by
//   level, until one tile is left; then the total of what is before a tile is combined with its
//   elements, from the top level down.
// Fixes: scans that do O(n log n) work, such as Hillis and Steele's. It reads no labels and has one
//   bucket.
// Launch: for each level ceil(n / 2B) blocks of B threads, two elements each, n being the level's
//   elements; then, for all levels but the last, as many blocks again.
// Traffic: n values read, n results written; both again for the second kernel of a level; the
//   tiles' totals likewise.
// Preconditions: m = 1; 2B + 1 elements of shared memory. Order-preserving.
// Deviations: in the listing's downsweep the step 2i + 1 must be 2^(i+1), and the total of the left
//   subtree must be combined behind what precedes it, not in front; it clears the root with 0
//   instead of the neutral element, and needs a power of two of elements. Shared memory is not
//   padded against bank conflicts. A tile beyond n is filled up with neutral elements.

#include <vector>

#include "kernels/multiscan/blelloch.hpp"
#include "kernels/multiscan/plain_scan.hpp"

namespace reduce_bench::BACKEND::blelloch_scan {

template <class T, class Op>
__global__ void kernel(const T* values, std::size_t n, bool inclusive, T* results, T* totals) {
  T* tile = dynamic_shared<T>();
  const unsigned length = 2 * blockDim.x;
  const std::size_t first = std::size_t{blockIdx.x} * length;
  T own[2];
#pragma unroll
  for (unsigned k = 0; k < 2; ++k) {
    const unsigned i = k * blockDim.x + threadIdx.x;
    tile[i] = own[k] = first + i < n ? values[first + i] : Op::template identity<T>();
  }
  exclusive_scan_by_tree<Op>(tile, length, 1);
#pragma unroll
  for (unsigned k = 0; k < 2; ++k) {
    const unsigned i = k * blockDim.x + threadIdx.x;
    if (first + i < n) results[first + i] = inclusive ? Op::combine(tile[i], own[k]) : tile[i];
  }
  if (threadIdx.x == 0 && totals != nullptr) totals[blockIdx.x] = tile[length];
}

/// Combines the total of what is before the block's tile with its elements, two for each thread.
template <class T, class Op>
__global__ void blelloch_add_kernel(const T* before, std::size_t n, T* results) {
  const std::size_t first = std::size_t{blockIdx.x} * 2 * blockDim.x + threadIdx.x;
  const T of_tile = before[blockIdx.x];
  for (std::size_t i = first; i < n && i <= first + blockDim.x; i += blockDim.x)
    results[i] = Op::combine(of_tile, results[i]);
}

/// The number of elements of every level: n, then the tiles of the level before, until a level is
/// one tile.
std::vector<std::size_t> levels(const Problem& p) {
  const std::size_t tile = 2 * p.params.number("block");
  std::vector<std::size_t> elements{p.n};
  while (elements.back() > tile) elements.push_back(ceil_div(elements.back(), tile));
  return elements;
}

struct BlellochScan {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0) return;
    const unsigned block = call.params().number("block");
    const std::vector<std::size_t> elements = levels(call.problem);
    const auto shape = [&](std::size_t level, std::size_t shared_elements) {
      return LaunchShape{static_cast<unsigned>(ceil_div(elements[level], 2 * block)), block,
                         shared_elements * sizeof(T), call.stream};
    };
    // Totals are scanned in place: those of level l follow those of level l - 1.
    std::vector<T*> results{call.results()};
    T* totals = call.scratch();
    for (std::size_t level = 0; level < elements.size(); ++level) {
      const bool last = level + 1 == elements.size();
      launch(kernel<T, Op>, shape(level, 2 * block + 1),
             level == 0 ? call.values() : results[level], elements[level],
             level == 0 && call.inclusive(), results[level], last ? nullptr : totals);
      if (last) break;
      results.push_back(totals);
      totals += elements[level + 1];
    }
    for (std::size_t level = elements.size() - 1; level-- > 0;)
      launch(blelloch_add_kernel<T, Op>, shape(level, 0), results[level + 1], elements[level],
             results[level]);
  }
};

Variant variant() {
  return {
      .id = "blelloch/scan",
      .title = "work-efficient scan, level by level (one bucket)",
      .source = "eilers Algorithm 5.1",
      .operation = Operation::kMultiscan,
      .fidelity = Fidelity::kCorrected,
      .params = {scan_axis(), {"block", "256", {"256", "512"}, "threads per block"}},
      .restriction = plain_scan_restriction,
      .depth = [](const Problem& p) -> std::uint64_t {
        const std::uint64_t of_level = 2 * log2_ceil(2 * p.params.number("block")) + 2;
        return levels(p).size() * of_level;
      },
      .traffic =
          [](const Problem& p) {
            Traffic traffic{};
            const std::vector<std::size_t> elements = levels(p);
            for (std::size_t level = 0; level < elements.size(); ++level) {
              const std::size_t bytes = elements[level] * p.element_bytes();
              const bool last = level + 1 == elements.size();
              const std::size_t totals_bytes = last ? 0 : elements[level + 1] * p.element_bytes();
              traffic.read_bytes += (last ? 1 : 2) * bytes + totals_bytes;
              traffic.written_bytes += (last ? 1 : 2) * bytes + totals_bytes;
            }
            return traffic;
          },
      .workspace =
          [](const Problem& p) {
            std::size_t totals = 0;
            for (const std::size_t elements : levels(p)) totals += elements;
            return Workspace{.device_bytes = (totals - p.n) * p.element_bytes()};
          },
      .enqueue = instantiate_ordered<BlellochScan>(),
  };
}

}  // namespace reduce_bench::BACKEND::blelloch_scan
