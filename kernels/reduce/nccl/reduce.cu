// nccl/reduce: CUB on every device, then NCCL
//
// Source: no publication; what a CUDA programmer would call: cub::DeviceReduce::Reduce of CCCL on
//   each device, then ncclReduce or ncclAllReduce of NVIDIA's NCCL.
// Idea: every device reduces its share to one value in its own memory; NCCL combines the values,
//   on the first device or on all.
// Fixes: nothing: it is the way that the other variants for several devices are measured against.
// Launch: chosen by the libraries: one or two kernels of CUB, one of NCCL, on every device.
// Traffic: n elements read, one written on each device that has the result; between devices at
//   least one element for each other device that has it, in what words NCCL's protocol takes.
// Preconditions: NCCL (libnccl.so.2), which is loaded at the first call; its version is recorded.
// Deviations: one process calls for all devices, in a group, or each rank of mpirun for its own.
//   NCCL knows sums, products, minima and maxima. The mode `graph` times the calls as captured in a
//   CUDA graph.
// Choice: no algorithm or protocol of NCCL is asked for: it chooses by size. On two H100s 2^16 i32
//   take 13 us with the result on the first, 19 with it on both, by LL128 19 and 27, by Simple 19
//   and 35, by a tree 20 on both (docs/kernels/peers.md). NVLink multicast is off, which some hosts
//   lack and some forbid, and buffers are not registered: what either would gain was not measured.
//   CUB is called as by cub/reduce.

#include "kernels/shared/combined.hpp"
#include "kernels/shared/library.hpp"

#ifdef __CUDACC__
#include <cub/device/device_reduce.cuh>

#include "kernels/platform/nccl.hpp"
#endif

namespace reduce_bench::BACKEND::nccl_reduce {

inline constexpr std::size_t kPartBytes = 256;

#ifdef __CUDACC__
struct NcclReduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    std::vector<const void*> parts;
    for (const DeviceShare& share : call.shares) {
      const CurrentDevice current(share.stream.device);
      std::size_t temporary_bytes = kLibraryTemporaryBytes;
      auto* const part = reinterpret_cast<T*>(share.workspace);
      with_library_count(share.n, [&](auto count) {
        check(cub::DeviceReduce::Reduce(share.workspace + kPartBytes, temporary_bytes,
                                        call.values(share), part, count, LibraryOperator<Op>{},
                                        Op::template identity<T>(), native(share.stream)),
              "cub::DeviceReduce::Reduce");
      });
      parts.push_back(part);
    }
    // CUB's two kernels; it launches one where the inputs fit into a block.
    if (LaunchLog* log = call.shares.front().stream.log; log != nullptr) log->kernels += 2;
    nccl_combine(call, parts, 1, kTypeOf<T>, Op::kOp);
  }
};
#else
struct NcclReduce;
#endif

Variant variant() {
  Variant variant{
      .id = "nccl/reduce",
      .title = "CUB on every device, then NCCL",
      .source = "CCCL, CUB; NCCL",
      .fidelity = Fidelity::kBaseline,
      .params = {devices_axis(), result_axis()},
      .depth = [](const Problem& p) -> std::uint64_t {
        return depth_of_library_reduce(largest_share(p)) + devices_of(p);
      },
      .traffic = [](const Problem& p) { return combined_traffic(p, p.element_bytes()); },
      .workspace =
          [](const Problem&) {
            return Workspace{.device_bytes = kPartBytes + kLibraryTemporaryBytes};
          },
      .count_bits = [](const Problem& p) { return library_count_bits(largest_share(p)); },
      .enqueue = instantiate<NcclReduce, OpList<Sum, Min, Max, Prod>>(),
  };
#ifdef __CUDACC__
  variant.loaded_library = nccl_version;
#endif
  return variant;
}

}  // namespace reduce_bench::BACKEND::nccl_reduce
