// cub/reduce: CUB's device-wide reduction
//
// Source: no publication; what a CUDA programmer would call: cub::DeviceReduce::Reduce of the CUDA
//   Toolkit.
// Idea: a grid of persistent blocks reads vectors of 16 bytes; each block reduces an even share of
//   the tiles to one partial result; a second kernel of one block reduces those. An input of one
//   tile needs the second kernel alone.
// Fixes: nothing: it is the library that the other variants are measured against.
// Launch: chosen by the library for the device, type and operator; one or two kernels.
// Traffic: n elements read, one written; the partial results, one per block, are not counted.
// Preconditions: a commutative operator.
// Deviations: Reduce is called with CUB's own operator objects and our neutral elements instead of
//   Sum, Min and Max, which differ from it by their initial values only. Counts have 64 bits. The
//   temporary storage has a fixed size and is allocated beforehand. The result of this version of
//   CUB is the same in every run on one device; it offers no other mode of determinism.

#include "kernels/shared/library.hpp"

#ifdef __CUDACC__
#include <cub/device/device_reduce.cuh>
#endif

namespace reduce_bench::BACKEND::cub_reduce {

#ifdef __CUDACC__
struct CubReduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    std::size_t temporary_bytes = kLibraryTemporaryBytes;
    check(cub::DeviceReduce::Reduce(call.workspace, temporary_bytes, call.values(), call.results(),
                                    static_cast<std::uint64_t>(call.n()), LibraryOperator<Op>{},
                                    Op::template identity<T>(), native(call.stream)),
          "cub::DeviceReduce::Reduce");
  }
};
#else
struct CubReduce;
#endif

Variant variant() {
  return {
      .id = "cub/reduce",
      .title = "CUB DeviceReduce",
      .source = "CUDA Toolkit, CUB",
      .fidelity = Fidelity::kBaseline,
      .depth = depth_of_library_reduce,
      .workspace = [](const Problem&) { return Workspace{.device_bytes = kLibraryTemporaryBytes}; },
      .enqueue = instantiate<CubReduce, AllOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::cub_reduce
