// cub/reduce-gpu-to-gpu: CUB's device-wide float sum with the same bits on every GPU
//
// Source: no publication; what a CUDA programmer would call: cub::DeviceReduce::Reduce of CCCL with
//   cuda::execution::determinism::gpu_to_gpu. The sum is that of Ahrens, Demmel and Nguyen,
//   Algorithms for Efficient Reproducible Floating Point Summation (2020).
// Idea: every value is cut into slices at fixed exponents, and each slice is added to a sum of its
//   own, exactly; so the order does not matter. Three sums are kept, for the largest exponents that
//   occur.
// Fixes: cub/reduce's sums, which depend on the tiles that the library chose for the GPU.
// Launch: chosen by the library for the device and the type; one or two kernels.
// Traffic: n elements read, one written; the partial sums, one set per block, are not counted.
// Preconditions: a float sum. All other results are the same on every GPU by any order; the library
//   then does what cub/reduce does, which is measured there.
// Deviations: the temporary storage is the workspace, by a memory resource of ours: the library's
//   own would allocate in the stream. CUB 3.5 sums zeros to a number near zero, and values near the
//   largest, and 805306368 floats and more, to a wrong one, as verification found on an H100 and an
//   H200.
// Choice: this level is asked for, as cub/reduce-not-guaranteed asks for the weakest and cub/reduce
//   for none, which is run to run. Counts have 32 bits where n allows. On one H200, sum of f32:
//   13.9 us (2^20) and 110 us (2^26), without the demand 8.3 and 74.

#include "kernels/reduce/cub_determinism.hpp"

namespace reduce_bench::BACKEND::cub_reduce_gpu_to_gpu {

/// What the three sums of slices of 13 bits (f64: 40) leave out of a value is at most half the last
/// bit of the third: 2^-27 (2^-81) of the largest magnitude, for n values at most an eighth (2^-28)
/// of n roundings of their magnitudes' sum. Rounding the three sums to one adds 7 epsilon of it.
std::uint64_t depth(const Problem& problem) {
  constexpr std::uint64_t kLast = 2 * 7;  // an epsilon is two roundings
  const std::uint64_t left_out = problem.type == Type::kF64
                                     ? ceil_div(problem.n, std::size_t{1} << 28)
                                     : ceil_div(problem.n, 8);
  return left_out + kLast + 1;
}

/// Sums of 33, 1009 and 4099 zeros are -2e-28, -1e-23 and -2e-20 (f32), others 0; a sum of 5.1e300 is
/// 9.4e260 (f64). Of whole numbers that no order rounds, 600000000 are summed right, 805306368 to
/// -8.4e32, and 2^30 to -1.3e33, on an H100 and an H200.
std::optional<Defect> defect(const Problem& problem) {
  if (problem.type == Type::kF32 && problem.n > 600'000'000)
    return Defect{"the library's sum of so many floats is wrong", false};
  if (problem.distribution != "zeros" && problem.distribution != "extremes") return std::nullopt;
  return Defect{"the library's sum of zeros, or of values near the largest, is wrong", false};
}

Variant variant() {
  return {
      .id = "cub/reduce-gpu-to-gpu",
      .title = "CUB DeviceReduce, the same bits on every GPU",
      .source = "CCCL, CUB",
      .fidelity = Fidelity::kBaseline,
      .restriction = cub_determinism_restriction,
      .defect = defect,
      .depth = depth,
      .workspace = [](const Problem&) { return Workspace{.device_bytes = kLibraryTemporaryBytes}; },
      .count_bits = library_count_bits,
      .enqueue = instantiate_for<CubReduceAt<GpuToGpu>, OpList<Sum>, float, double>(),
  };
}

}  // namespace reduce_bench::BACKEND::cub_reduce_gpu_to_gpu
