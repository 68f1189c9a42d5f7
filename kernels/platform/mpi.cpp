#include "kernels/platform/mpi.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <stdexcept>
#include <thread>

namespace reduce_bench::mpi {
namespace {

constexpr int kFunneled = 1;  // MPI_THREAD_FUNNELED: other threads than this one do not call MPI
constexpr int kUndefined = -32766;
constexpr int kTag = 1;
constexpr std::chrono::microseconds kBetweenLooks{50};
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // counts of MPI are of 31 bits

/// OpenMPI's functions and objects, as its mpi.h declares them: a handle is an object's address.
struct Library {
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

void* symbol(void* library, const char* name) {
  void* const found = dlsym(library, name);
  if (found == nullptr)
    throw std::runtime_error(std::string("this MPI library has no ") + name +
                             ": use mpirun and libmpi.so.40 of Open MPI 4 or 5");
  return found;
}
template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(symbol(library, name));
}

Library load() {
  // Its components, which it opens itself, find it only if its symbols are there for all.
  void* const opened = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
  if (opened == nullptr)
    throw std::runtime_error(std::string("Open MPI is not there (") + dlerror() +
                             "): install it, or name its folder in LD_LIBRARY_PATH");
  Library library;
  find(opened, "MPI_Init_thread", library.init);
  find(opened, "MPI_Finalize", library.finalize);
  find(opened, "MPI_Get_library_version", library.version);
  find(opened, "MPI_Comm_rank", library.rank);
  find(opened, "MPI_Comm_size", library.size);
  find(opened, "MPI_Comm_split", library.split);
  find(opened, "MPI_Send", library.send);
  find(opened, "MPI_Recv", library.receive);
  find(opened, "MPI_Iprobe", library.probe);
  find(opened, "MPI_Allgather", library.all_gather);
  find(opened, "MPI_Barrier", library.barrier);
  find(opened, "MPI_Bcast", library.broadcast);
  find(opened, "MPI_Reduce", library.reduce);
  find(opened, "MPI_Allreduce", library.all_reduce);
  library.world = symbol(opened, "ompi_mpi_comm_world");
  library.byte = symbol(opened, "ompi_mpi_byte");
  library.types = {{Type::kI32, symbol(opened, "ompi_mpi_int32_t")},
                   {Type::kI64, symbol(opened, "ompi_mpi_int64_t")},
                   {Type::kU32, symbol(opened, "ompi_mpi_uint32_t")},
                   {Type::kF32, symbol(opened, "ompi_mpi_float")},
                   {Type::kF64, symbol(opened, "ompi_mpi_double")}};
  library.ops = {{Op::kSum, symbol(opened, "ompi_mpi_op_sum")},
                 {Op::kProd, symbol(opened, "ompi_mpi_op_prod")},
                 {Op::kMin, symbol(opened, "ompi_mpi_op_min")},
                 {Op::kMax, symbol(opened, "ompi_mpi_op_max")}};
  return library;
}

/// What a process that started MPI has of it. MPI's own handler of errors ends the process, so no
/// call reports one.
struct State {
  Library library = load();
  int rank = 0, count = 1;
  std::map<unsigned, void*> first;  ///< the communicators of so many ranks
  void* used = nullptr;             ///< that of `use_first`
};
State* state = nullptr;

volatile std::sig_atomic_t waiting = 0;

/// In a call that may wait for another rank.
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
