// mine/library-*: the functions of onepass.hpp as variants, to be timed beside those of the catalog that
// launch the same kernels
//
// They run on a GPU and, without one, on the emulator.

#include <onepass.hpp>
#include <reduce_bench_variant.hpp>

namespace reduce_bench::BACKEND {

namespace library_calls {

/// An operator of this file's own: max.
struct Largest {
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return Max::identity<T>();
  }
  template <class T>
  __device__ static T combine(T a, T b) {
    return a < b ? b : a;
  }
};
template <class Operator>
using Own = std::conditional_t<std::is_same_v<Operator, Max>, Largest, Operator>;

void check_code(onepass::cudaError_t code) {
  if (code == 0) return;
  throw std::runtime_error("onepass returned error " + std::to_string(static_cast<int>(code)));
}

/// What the functions take, of any type.
struct Given {
  const void* values = nullptr;
  const void* labels = nullptr;
  void* results = nullptr;
  std::size_t n = 0, buckets = 0;
  onepass::Scan scan = onepass::Scan::kExclusive;
  onepass::cudaStream_t stream = nullptr;
};

/// The bytes that a function needs for a problem of these types.
template <class Function, class T, class Operator>
std::size_t workspace_bytes(const Problem& p) {
  std::size_t bytes = 0;
  check_code(
      Function::template call<T, Operator>(nullptr, bytes, Given{.n = p.n, .buckets = p.buckets}));
  return bytes;
}
template <class Function, class Two, class One>
Workspace workspace_of(const Problem& p) {
  std::size_t bytes = 0;
  if (p.type == kTypeOf<One>) {
    bytes = p.op == Op::kMax ? workspace_bytes<Function, One, Own<Max>>(p)
                             : workspace_bytes<Function, One, Sum>(p);
  } else {
    bytes = p.op == Op::kMax ? workspace_bytes<Function, Two, Own<Max>>(p)
                             : workspace_bytes<Function, Two, Sum>(p);
  }
  return {.device_bytes = bytes, .zeroed_bytes = onepass::kZeroedBytes};
}

template <class Function>
struct Launch {
  template <class T, class Operator>
  static void enqueue(const TypedCall<T>& call) {
    std::size_t bytes = workspace_bytes<Function, T, Own<Operator>>(call.problem);
    check_code(Function::template call<T, Own<Operator>>(
        call.workspace, bytes,
        {.values = static_cast<const Call&>(call).values,
         .labels = static_cast<const Call&>(call).labels,
         .results = static_cast<const Call&>(call).results,
         .n = call.n(),
         .buckets = call.buckets(),
         .scan = call.inclusive() ? onepass::Scan::kInclusive : onepass::Scan::kExclusive,
         .stream = static_cast<onepass::cudaStream_t>(call.stream.handle)}));
  }
};

struct Reduce {
  template <class T, class Operator>
  static auto call(void* workspace, std::size_t& bytes, const Given& given) {
    return onepass::reduce<Operator>(workspace, bytes, static_cast<const T*>(given.values),
                                     static_cast<T*>(given.results), given.n, given.stream);
  }
};
struct ReduceExact {
  template <class T, class>
  static auto call(void* workspace, std::size_t& bytes, const Given& given) {
    return onepass::reduce_exact(workspace, bytes, static_cast<const T*>(given.values),
                                 static_cast<T*>(given.results), given.n, given.stream);
  }
};
struct Multireduce {
  template <class T, class Operator>
  static auto call(void* workspace, std::size_t& bytes, const Given& given) {
    return onepass::multireduce<Operator>(workspace, bytes, static_cast<const T*>(given.values),
                                          static_cast<const Label*>(given.labels),
                                          static_cast<T*>(given.results), given.n, given.buckets,
                                          given.stream);
  }
};
struct Histogram {
  template <class L, class>
  static auto call(void* workspace, std::size_t& bytes, const Given& given) {
    return onepass::histogram(workspace, bytes, static_cast<const L*>(given.labels),
                              static_cast<Count*>(given.results), given.n, given.buckets,
                              given.stream);
  }
};
struct Multiscan {
  template <class T, class Operator>
  static auto call(void* workspace, std::size_t& bytes, const Given& given) {
    return onepass::multiscan<Operator>(workspace, bytes, static_cast<const T*>(given.values),
                                        static_cast<const Label*>(given.labels),
                                        static_cast<T*>(given.results), given.n, given.buckets,
                                        given.scan, given.stream);
  }
};

/// What the variants have in common.
Variant called(std::string_view id, std::string_view title, Operation operation) {
  return {.id = id,
          .title = title,
          .source = "the example of docs/library.md",
          .operation = operation,
          .fidelity = Fidelity::kBeyond,
          .depth = [](const Problem& p) -> std::uint64_t { return p.n; }};
}
using Operators = OpList<Sum, Max>;

}  // namespace library_calls

namespace mine_library_reduce {
using namespace library_calls;
Variant variant() {
  Variant v = called("mine/library-reduce", "onepass::reduce", Operation::kReduce);
  v.workspace = workspace_of<Reduce, std::int32_t, float>;
  v.enqueue = instantiate_for<Launch<Reduce>, Operators, std::int32_t, float>();
  return v;
}
}  // namespace mine_library_reduce

namespace mine_library_reduce_exact {
using namespace library_calls;
Variant variant() {
  Variant v = called("mine/library-reduce-exact", "onepass::reduce_exact", Operation::kReduce);
  v.correctly_rounded = true;
  v.workspace = workspace_of<ReduceExact, float, double>;
  v.enqueue = instantiate_for<Launch<ReduceExact>, OpList<Sum>, float, double>();
  return v;
}
}  // namespace mine_library_reduce_exact

namespace mine_library_multireduce {
using namespace library_calls;
Variant variant() {
  Variant v = called("mine/library-multireduce", "onepass::multireduce", Operation::kMultireduce);
  v.workspace = workspace_of<Multireduce, std::int32_t, float>;
  v.enqueue = instantiate_for<Launch<Multireduce>, Operators, std::int32_t, float>();
  return v;
}
}  // namespace mine_library_multireduce

namespace mine_library_histogram {
using namespace library_calls;
Variant variant() {
  Variant v = called("mine/library-histogram", "onepass::histogram", Operation::kHistogram);
  v.workspace = workspace_of<Histogram, std::uint8_t, std::uint32_t>;
  v.enqueue = instantiate_histogram<Launch<Histogram>>();
  return v;
}
}  // namespace mine_library_histogram

namespace mine_library_multiscan {
using namespace library_calls;
Variant variant() {
  Variant v = called("mine/library-multiscan", "onepass::multiscan", Operation::kMultiscan);
  v.params = {scan_axis()};
  v.workspace = workspace_of<Multiscan, std::int32_t, float>;
  v.enqueue = instantiate_for<Launch<Multiscan>, Operators, std::int32_t, float>();
  return v;
}
}  // namespace mine_library_multiscan

}  // namespace reduce_bench::BACKEND

REDUCE_BENCH_VARIANT(mine_library_reduce)
REDUCE_BENCH_VARIANT(mine_library_reduce_exact)
REDUCE_BENCH_VARIANT(mine_library_multireduce)
REDUCE_BENCH_VARIANT(mine_library_histogram)
REDUCE_BENCH_VARIANT(mine_library_multiscan)
