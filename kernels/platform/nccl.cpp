#include "kernels/platform/nccl.hpp"

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <vector>

#include "kernels/api/devices.hpp"
#include "kernels/platform/cuda_check.hpp"
#include "kernels/platform/loaded_library.hpp"
#include "kernels/platform/mpi.hpp"

namespace reduce_bench::cuda {
namespace {

/// The ranks of one communicator find each other by it.
struct NcclId {
  char bytes[128];
};

/// NCCL's functions, as its manual declares them.
struct Nccl {
  int (*version)(int* version) = nullptr;
  const char* (*text_of)(int result) = nullptr;
  int (*make_id)(NcclId* id) = nullptr;
  int (*make_rank)(void** communicator, int ranks, NcclId id, int rank) = nullptr;
  int (*make_all)(void** communicators, int devices, const int* ordinals) = nullptr;
  int (*begin_group)() = nullptr;
  int (*end_group)() = nullptr;
  int (*reduce)(const void* from, void* to, std::size_t count, int type, int op, int root,
                void* communicator, cudaStream_t stream) = nullptr;
  int (*all_reduce)(const void* from, void* to, std::size_t count, int type, int op,
                    void* communicator, cudaStream_t stream) = nullptr;

  void check(int result, const char* what) const {
    if (result != 0) throw std::runtime_error(std::string(what) + ": NCCL: " + text_of(result));
  }
};

Nccl load() {
  // NVLink multicast, which some hosts do not have and some forbid, is left out everywhere.
  ::setenv("NCCL_NVLS_ENABLE", "0", 1);
  const LoadedLibrary library{"libnccl.so.2"};
  if (!library.is_there())
    throw DeviceLacks("needs NCCL, which is not there (" + library.why_not() +
                      "): install it, or name its folder in LD_LIBRARY_PATH");
  const auto find = [&](const char* name, auto& function) {
    if (!library.find(name, function))
      throw DeviceLacks(std::string("needs ") + name +
                        ", which this NCCL lacks: install a newer one");
  };
  Nccl nccl;
  find("ncclGetVersion", nccl.version);
  find("ncclGetErrorString", nccl.text_of);
  find("ncclGetUniqueId", nccl.make_id);
  find("ncclCommInitRank", nccl.make_rank);
  find("ncclCommInitAll", nccl.make_all);
  find("ncclGroupStart", nccl.begin_group);
  find("ncclGroupEnd", nccl.end_group);
  find("ncclReduce", nccl.reduce);
  find("ncclAllReduce", nccl.all_reduce);
  return nccl;
}

const Nccl& nccl() {
  static const Nccl loaded = load();
  return loaded;
}

/// One for each of the devices, in their order.
const std::vector<void*>& communicators_of(const std::vector<int>& ordinals) {
  static std::map<std::vector<int>, std::vector<void*>> kept;
  std::vector<void*>& communicators = kept[ordinals];
  if (communicators.empty()) {
    std::vector<void*> made(ordinals.size());
    const CurrentDevice current(ordinals.front());  // NCCL leaves another current
    nccl().check(nccl().make_all(made.data(), static_cast<int>(made.size()), ordinals.data()),
                 "making communicators");
    communicators = made;
  }
  return communicators;
}

/// This rank's one of the communicator of so many ranks, which they make together.
const std::vector<void*>& communicator_of_ranks(unsigned ranks) {
  static std::map<unsigned, std::vector<void*>> kept;
  std::vector<void*>& communicators = kept[ranks];
  if (communicators.empty()) {
    NcclId id{};
    if (mpi::rank() == 0) nccl().check(nccl().make_id(&id), "ncclGetUniqueId");
    mpi::broadcast(&id, sizeof(id));
    void* made = nullptr;
    nccl().check(
        nccl().make_rank(&made, static_cast<int>(ranks), id, static_cast<int>(mpi::rank())),
        "making a communicator of ranks");
    communicators = {made};
  }
  return communicators;
}

/// NCCL numbers types and operators so.
int number_of(Type type) {
  switch (type) {
    case Type::kU8: return 1;
    case Type::kI32: return 2;
    case Type::kU32: return 3;
    case Type::kI64: return 4;
    case Type::kF32: return 7;
    case Type::kF64: return 8;
    default:
      throw std::logic_error("NCCL does not combine results of " + std::string(name_of(type)));
  }
}
int number_of(Op op) {
  switch (op) {
    case Op::kProd: return 1;
    case Op::kMax: return 2;
    case Op::kMin: return 3;
    case Op::kSum: return 0;
    default: throw std::logic_error("NCCL does not combine results by " + std::string(name_of(op)));
  }
}

}  // namespace

void nccl_combine(const Call& call, std::span<const void* const> parts, std::size_t count,
                  Type type, Op op) {
  const std::span<const DeviceShare> shares = call.shares;
  std::vector<int> ordinals;
  for (const DeviceShare& share : shares) ordinals.push_back(share.stream.device);
  const unsigned devices = devices_of(call.problem);
  const Nccl& library = nccl();
  const CurrentDevice current(ordinals.front());
  const std::vector<void*>& communicators =
      devices > shares.size() ? communicator_of_ranks(devices) : communicators_of(ordinals);
  const bool all = results_on_all(call.problem.params);
  library.check(library.begin_group(), "ncclGroupStart");
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    const DeviceShare& share = shares[rank];
    const int result =
        all ? library.all_reduce(parts[rank], share.results, count, number_of(type), number_of(op),
                                 communicators[rank], native(share.stream))
            : library.reduce(parts[rank], share.results, count, number_of(type), number_of(op), 0,
                             communicators[rank], native(share.stream));
    if (result != 0) {
      library.end_group();
      library.check(result, all ? "ncclAllReduce" : "ncclReduce");
    }
  }
  library.check(library.end_group(), "ncclGroupEnd");
  if (LaunchLog* log = shares.front().stream.log; log != nullptr) ++log->kernels;
}

std::string nccl_version() {
  int version = 0;
  nccl().check(nccl().version(&version), "ncclGetVersion");
  return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
         "." + std::to_string(version % 100);
}

}  // namespace reduce_bench::cuda
