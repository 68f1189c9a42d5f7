// cub/reduce-not-guaranteed: CUB's device-wide reduction without determinism
//
// Source: no publication; what a CUDA programmer would call: cub::DeviceReduce::Reduce of CCCL with
//   cuda::execution::determinism::not_guaranteed.
// Idea: as cub/reduce, but each block adds its partial result to the total with an atomic
//   operation.
// Fixes: cub/reduce's second kernel.
// Launch: chosen by the library for the device, type and operator: the total is set to zero, then
//   one kernel.
// Traffic: n elements read, one written; the blocks' atomic additions are not counted.
// Preconditions: a sum. The library adds atomically for no other operator: it then does what
//   cub/reduce does, which is measured there.
// Deviations: the temporary storage is the workspace, by a memory resource of ours: the library's
//   own would allocate in the stream. Float sums differ from run to run.
// Choice: this level is asked for, as cub/reduce-gpu-to-gpu asks for the strictest and cub/reduce
//   for none, which is run to run. Counts have 32 bits where n allows. On one H200, sum of f32: 6.0
//   us (2^10), 7.2 (2^20) and 72.1 (2^26), run to run 4.7, 8.3 and 74.0.

#include "kernels/reduce/cub_determinism.hpp"

namespace reduce_bench::BACKEND::cub_reduce_not_guaranteed {

/// cub/reduce's blocks, at most 40 per multiprocessor, and a chain of them.
std::uint64_t depth(const Problem& problem) {
  return std::min<std::uint64_t>(
      problem.n, depth_of_library_reduce(problem) + 40ull * problem.device.sm_count);
}

Variant variant() {
  return {
      .id = "cub/reduce-not-guaranteed",
      .title = "CUB DeviceReduce, determinism not guaranteed",
      .source = "CCCL, CUB",
      .fidelity = Fidelity::kBaseline,
      .restriction = cub_determinism_restriction,
      .depth = depth,
      .workspace = [](const Problem&) { return Workspace{.device_bytes = kLibraryTemporaryBytes}; },
      .count_bits = library_count_bits,
      .enqueue = instantiate<CubReduceAt<NotGuaranteed>, OpList<Sum>>(),
  };
}

}  // namespace reduce_bench::BACKEND::cub_reduce_not_guaranteed
