#include "kernels/platform/mpi.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <stdexcept>
#include <thread>

#include "kernels/platform/loaded_library.hpp"

namespace reduce_bench::mpi {
namespace {

constexpr int kFunneled = 1;  // MPI_THREAD_FUNNELED: other threads than this one do not call MPI
constexpr int kUndefined = -32766;
constexpr int kTag = 1;
constexpr std::chrono::microseconds kBetweenLooks{50};
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // counts of MPI are of 31 bits

/// OpenMPI's functions and objects, as its mpi.h declares them: a handle is an object's address.
struct OpenMpi {
  int (*init)(int*, char***, int wanted, int* provided) = nullptr;
  int (*finalize)() = nullptr;
  int (*version)(char* text, int* length) = nullptr;
  int (*rank)(void* communicator, int* rank) = nullptr;
  int (*size)(void* communicator, int* size) = nullptr;
  int (*split)(void* communicator, int color, int key, void** made) = nullptr;
  int (*send)(const void*, int count, void* type, int to, int tag, void* communicator) = nullptr;
  int (*receive)(void*, int count, void* type, int from, int tag, void* communicator,
                 void* status) = nullptr;
  int (*probe)(int from, int tag, void* communicator, int* there, void* status) = nullptr;
  int (*all_gather)(const void*, int, void* type, void*, int, void* type_to,
                    void* communicator) = nullptr;
  int (*barrier)(void* communicator) = nullptr;
  int (*broadcast)(void*, int count, void* type, int root, void* communicator) = nullptr;
  int (*reduce)(const void* from, void* to, int count, void* type, void* op, int root,
                void* communicator) = nullptr;
  int (*all_reduce)(const void* from, void* to, int count, void* type, void* op,
                    void* communicator) = nullptr;
  void *world = nullptr, *byte = nullptr;
  std::map<Type, void*> types;
  std::map<Op, void*> ops;
};

OpenMpi load() {
  // Its components, which it opens itself, find it only if its symbols are there for all.
  const LoadedLibrary library({"libmpi.so.40"}, RTLD_GLOBAL);
  if (!library.is_there())
    throw std::runtime_error("Open MPI is not there (" + library.why_not() +
                             "): install it, or name its folder in LD_LIBRARY_PATH");
  const auto find = [&](const char* name, auto& pointer) {
    if (!library.find(name, pointer))
      throw std::runtime_error(std::string("this MPI library has no ") + name +
                               ": use mpirun and libmpi.so.40 of Open MPI 4 or 5");
  };
  OpenMpi mpi;
  find("MPI_Init_thread", mpi.init);
  find("MPI_Finalize", mpi.finalize);
  find("MPI_Get_library_version", mpi.version);
  find("MPI_Comm_rank", mpi.rank);
  find("MPI_Comm_size", mpi.size);
  find("MPI_Comm_split", mpi.split);
  find("MPI_Send", mpi.send);
  find("MPI_Recv", mpi.receive);
  find("MPI_Iprobe", mpi.probe);
  find("MPI_Allgather", mpi.all_gather);
  find("MPI_Barrier", mpi.barrier);
  find("MPI_Bcast", mpi.broadcast);
  find("MPI_Reduce", mpi.reduce);
  find("MPI_Allreduce", mpi.all_reduce);
  find("ompi_mpi_comm_world", mpi.world);
  find("ompi_mpi_byte", mpi.byte);
  find("ompi_mpi_int32_t", mpi.types[Type::kI32]);
  find("ompi_mpi_int64_t", mpi.types[Type::kI64]);
  find("ompi_mpi_uint32_t", mpi.types[Type::kU32]);
  find("ompi_mpi_float", mpi.types[Type::kF32]);
  find("ompi_mpi_double", mpi.types[Type::kF64]);
  find("ompi_mpi_op_sum", mpi.ops[Op::kSum]);
  find("ompi_mpi_op_prod", mpi.ops[Op::kProd]);
  find("ompi_mpi_op_min", mpi.ops[Op::kMin]);
  find("ompi_mpi_op_max", mpi.ops[Op::kMax]);
  return mpi;
}

/// What a process that started MPI has of it. MPI's own handler of errors ends the process, so no
/// call reports one.
struct State {
  OpenMpi library = load();
  int rank = 0, count = 1;
  std::map<unsigned, void*> first;  ///< the communicators of so many ranks
  void* used = nullptr;             ///< that of `use_first`
};
State* state = nullptr;

volatile std::sig_atomic_t waiting = 0;

/// While it lives, this process may be waiting for another rank.
struct Waiting {
  Waiting() { waiting = 1; }
  ~Waiting() { waiting = 0; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};

/// Calls `f(begin, count)` for parts of `size` that MPI can count.
template <class F>
void in_parts(std::size_t size, F&& f) {
  for (std::size_t begin = 0; begin < size; begin += kMostAtOnce)
    f(begin, static_cast<int>(std::min(kMostAtOnce, size - begin)));
}

}  // namespace

void start() {
  if (state != nullptr) return;
  static State loaded;
  int provided = 0;
  loaded.library.init(nullptr, nullptr, kFunneled, &provided);
  loaded.library.rank(loaded.library.world, &loaded.rank);
  loaded.library.size(loaded.library.world, &loaded.count);
  loaded.used = loaded.library.world;
  loaded.first = {{static_cast<unsigned>(loaded.count), loaded.used}};
  state = &loaded;
}

bool is_started() { return state != nullptr; }

void finish() {
  const Waiting others;
  state->library.finalize();
}

unsigned rank() { return static_cast<unsigned>(state->rank); }
unsigned count() { return static_cast<unsigned>(state->count); }

std::string version() {
  std::string text(8192, '\0');
  int length = 0;
  state->library.version(text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  if (text.starts_with("Open MPI v")) text.erase(9, 1);
  return text.substr(0, text.find(','));
}

void send(const void* data, std::size_t size_bytes, unsigned to) {
  const Waiting other;
  in_parts(size_bytes, [&](std::size_t begin, int part) {
    state->library.send(static_cast<const std::byte*>(data) + begin, part, state->library.byte,
                        static_cast<int>(to), kTag, state->library.world);
  });
}
void receive(void* data, std::size_t size_bytes, unsigned from) {
  const Waiting other;
  in_parts(size_bytes, [&](std::size_t begin, int part) {
    state->library.receive(static_cast<std::byte*>(data) + begin, part, state->library.byte,
                           static_cast<int>(from), kTag, state->library.world, nullptr);
  });
}
void await_message(unsigned from) {
  const Waiting other;
  for (int there = 0;; std::this_thread::sleep_for(kBetweenLooks)) {
    state->library.probe(static_cast<int>(from), kTag, state->library.world, &there, nullptr);
    if (there != 0) return;
  }
}
void gather_all(const void* data, std::size_t size_bytes, void* all) {
  const Waiting others;
  const auto size = static_cast<int>(size_bytes);
  state->library.all_gather(data, size, state->library.byte, all, size, state->library.byte,
                            state->library.world);
}

void use_first(unsigned ranks) {
  const Waiting others;
  const auto [known, is_new] = state->first.try_emplace(ranks, nullptr);
  if (is_new)
    state->library.split(state->library.world, rank() < ranks ? 0 : kUndefined, state->rank,
                         &known->second);
  state->used = known->second;
}
void barrier() {
  const Waiting others;
  state->library.barrier(state->used);
}
void broadcast(void* data, std::size_t size_bytes) {
  const Waiting others;
  in_parts(size_bytes, [&](std::size_t begin, int part) {
    state->library.broadcast(static_cast<std::byte*>(data) + begin, part, state->library.byte, 0,
                             state->used);
  });
}
void combine(const void* from, void* to, std::size_t count, Type type, Op op, bool all) {
  const Waiting others;
  in_parts(count, [&](std::size_t begin, int part) {
    const auto* const source = static_cast<const std::byte*>(from) + begin * size_bytes(type);
    auto* const target =
        to == nullptr ? nullptr : static_cast<std::byte*>(to) + begin * size_bytes(type);
    void* const mpi_type = state->library.types.at(type);
    void* const mpi_op = state->library.ops.at(op);
    if (all) state->library.all_reduce(source, target, part, mpi_type, mpi_op, state->used);
    else state->library.reduce(source, target, part, mpi_type, mpi_op, 0, state->used);
  });
}

bool is_waiting() { return waiting != 0; }

}  // namespace reduce_bench::mpi
