// Plug-ins in CUDA that are right as long as they are verified, and then do less on the stream than
// they are timed for (tests/python/test_cuda_plugins.py). Each must be found out, or gain nothing.
#include <reduce_bench_plugin.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

#include "slow_clock.h"

namespace {

constexpr std::uint64_t kHonestCalls = 2;
constexpr unsigned kThreads = 256, kMostBuckets = 4096;

// ---- what an honest call does -----------------------------------------------------------------

template <class T>
__device__ T sum_of_block(T sum) {
  __shared__ T of_warps[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (lane == 0) of_warps[warp] = sum;
  __syncthreads();
  if (warp != 0) return sum;
  sum = lane < blockDim.x / 32 ? of_warps[lane] : T{0};
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  return sum;
}

/// Adds every `step`-th element, with only the bits of `mask`, to *total.
template <class T>
__global__ void sum_kernel(const T* x, std::uint64_t n, std::uint64_t step, unsigned mask,
                           T* total) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x * step;
  T sum{0};
  for (std::uint64_t i = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) * step; i < n;
       i += stride) {
    unsigned bits;
    memcpy(&bits, x + i, 4);
    bits &= mask;
    T value;
    memcpy(&value, &bits, 4);
    sum += value;
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) atomicAdd(total, sum);
}
__global__ void max_kernel(const int* x, std::uint64_t n, int* most) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    atomicMax(most, x[i]);
}
__global__ void count_kernel(const unsigned* labels, std::uint64_t n, unsigned* counts) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    atomicAdd(counts + labels[i], 1u);
}
__global__ void add_by_label_kernel(const unsigned* values, const unsigned* labels, std::uint64_t n,
                                    unsigned* sums) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    atomicAdd(sums + labels[i], values[i]);
}
template <class T>
__global__ void store_kernel(T* to, T value) {
  *to = value;
}

unsigned blocks_for(std::uint64_t n) {
  return static_cast<unsigned>(std::clamp<std::uint64_t>(n / kThreads / 4, 1, 1056));
}
cudaStream_t stream_of(const reduce_bench_call& call) {
  return static_cast<cudaStream_t>(call.stream);
}
template <class T = unsigned>
T* result_of(const reduce_bench_call& call) {
  return static_cast<T*>(call.results);
}
template <class T = unsigned>
void sum_on(cudaStream_t stream, const reduce_bench_call& call, std::uint64_t step = 1,
            unsigned mask = ~0u) {
  cudaMemsetAsync(call.results, 0, sizeof(T), stream);
  sum_kernel<<<blocks_for(call.problem->n / step), kThreads, 0, stream>>>(
      static_cast<const T*>(call.values), call.problem->n, step, mask, result_of<T>(call));
}

/// How many calls on the same arrays came before.
std::uint64_t calls_before(const reduce_bench_call& call) {
  static const void* array;
  static std::uint64_t n, calls;
  const void* now = call.values != nullptr ? call.values : call.labels;
  if (now != array || call.problem->n != n) calls = 0;
  array = now;
  n = call.problem->n;
  return calls++;
}
/// The result of what was queued. Only while a call is verified may it be waited for.
template <class T = unsigned>
T wait_for(const reduce_bench_call& call) {
  T value;
  cudaMemcpyAsync(&value, call.results, sizeof(T), cudaMemcpyDefault, stream_of(call));
  cudaStreamSynchronize(stream_of(call));
  return value;
}
const char* last_error() {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}
/// A stream that waits for no other.
cudaStream_t other_stream() {
  static cudaStream_t stream;
  if (stream == nullptr) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}

const char* honest(const reduce_bench_call* call) {
  sum_on(stream_of(*call), *call);
  return last_error();
}

// ---- results that were there before -----------------------------------------------------------

/// Keeps the result of the first calls.
template <class T>
const char* keep(const reduce_bench_call* call) {
  static T kept;
  if (calls_before(*call) < kHonestCalls) {
    sum_on<T>(stream_of(*call), *call);
    kept = wait_for<T>(*call);
  } else {
    store_kernel<<<1, 1, 0, stream_of(*call)>>>(result_of<T>(*call), kept);
  }
  return last_error();
}

/// Prepares the result in scratch memory, which is zero before the first call.
reduce_bench_workspace prepared_workspace(const reduce_bench_problem*) { return {8, 8}; }
__global__ void take_prepared(unsigned* scratch, unsigned* result, bool is_new) {
  if (is_new) {
    scratch[0] = 1;
    scratch[1] = *result;
  }
  *result = scratch[1];
}
const char* prepared(const reduce_bench_call* call) {
  const bool is_new = calls_before(*call) < kHonestCalls;
  if (is_new) sum_on(stream_of(*call), *call);
  take_prepared<<<1, 1, 0, stream_of(*call)>>>(static_cast<unsigned*>(call->workspace),
                                               result_of(*call), is_new);
  return last_error();
}

/// Leaves the result to be what the call before wrote.
const char* nothing(const reduce_bench_call* call) {
  if (calls_before(*call) < kHonestCalls) sum_on(stream_of(*call), *call);
  return last_error();
}

/// Works in every second call.
const char* every_second(const reduce_bench_call* call) {
  static unsigned* kept;
  if (kept == nullptr) cudaMalloc(&kept, 4);
  const std::uint64_t before = calls_before(*call);
  const bool works = before < kHonestCalls || before % 2 == 0;
  if (works) sum_on(stream_of(*call), *call);
  cudaMemcpyAsync(works ? kept : result_of(*call), works ? result_of(*call) : kept, 4,
                  cudaMemcpyDeviceToDevice, stream_of(*call));
  return last_error();
}

/// Looks for the expected result in the heap of the process, and takes it from there. Other mappings
/// end while it looks, and it with them.
const unsigned* find_in_heap(unsigned wanted) {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  const unsigned* found = nullptr;
  char line[512];
  while (maps != nullptr && found == nullptr && std::fgets(line, sizeof(line), maps) != nullptr) {
    unsigned long begin = 0, end = 0;
    if (std::strstr(line, "[heap]") == nullptr ||
        std::sscanf(line, "%lx-%lx rw", &begin, &end) != 2)
      continue;
    const auto* const last = reinterpret_cast<const unsigned*>(end);
    found = std::find(reinterpret_cast<const unsigned*>(begin), last, wanted);
    if (found == last) found = nullptr;
  }
  if (maps != nullptr) std::fclose(maps);
  return found;
}
const char* oracle(const reduce_bench_call* call) {
  static const unsigned* place;
  const std::uint64_t before = calls_before(*call);
  if (before < kHonestCalls || place == nullptr) {
    sum_on(stream_of(*call), *call);
    if (before < kHonestCalls) place = find_in_heap(wait_for(*call));
    if (place == nullptr) return "the oracle's memory was not found";
  } else {
    store_kernel<<<1, 1, 0, stream_of(*call)>>>(result_of(*call), *place);
  }
  return last_error();
}

// ---- a part of the input ----------------------------------------------------------------------

const char* half(const reduce_bench_call* call) {
  sum_on(stream_of(*call), *call, 2);
  return last_error();
}

/// Reads every second element, once it was verified, and corrects by what that gave before.
__global__ void add_kernel(unsigned* to, unsigned value) { *to += value; }
const char* half_later(const reduce_bench_call* call) {
  static unsigned correction;
  if (calls_before(*call) < kHonestCalls) {
    sum_on(stream_of(*call), *call, 2);
    const unsigned part = wait_for(*call);
    sum_on(stream_of(*call), *call);
    correction = wait_for(*call) - part;
  } else {
    sum_on(stream_of(*call), *call, 2);
    add_kernel<<<1, 1, 0, stream_of(*call)>>>(result_of(*call), correction);
  }
  return last_error();
}

/// Keeps the result while 64 elements, far apart, are what they were.
__device__ unsigned sampled_seen[64], sampled_sum;
__global__ void sampled_kernel(const unsigned* x, std::uint64_t n, unsigned* result, bool honest) {
  __shared__ unsigned total;
  __shared__ int differs;
  if (threadIdx.x == 0) {
    total = 0;
    differs = honest;
  }
  __syncthreads();
  if (threadIdx.x < 64 && n >= 64) {
    const unsigned value = x[threadIdx.x * (n / 64)];
    if (sampled_seen[threadIdx.x] != value) atomicExch(&differs, 1);
    sampled_seen[threadIdx.x] = value;
  }
  __syncthreads();
  if (differs) {
    for (std::uint64_t i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&total, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) sampled_sum = total;
  }
  if (threadIdx.x == 0) *result = sampled_sum;
}
const char* sampled(const reduce_bench_call* call) {
  sampled_kernel<<<1, 1024, 0, stream_of(*call)>>>(static_cast<const unsigned*>(call->values),
                                                   call->problem->n, result_of(*call),
                                                   calls_before(*call) < kHonestCalls);
  return last_error();
}

/// Marks inputs that it has seen by two elements in the other order.
__device__ unsigned marked_sum;
__global__ void mark_kernel(unsigned* x, std::uint64_t n, unsigned* result) {
  __shared__ unsigned total;
  const bool is_new = n < 2 || x[0] > x[1];
  __syncthreads();
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  if (is_new)
    for (std::uint64_t i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&total, x[i]);
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (is_new) {
    marked_sum = total;
    if (n >= 2) {
      const unsigned first = x[0];
      x[0] = x[1];
      x[1] = first;
    }
  }
  *result = marked_sum;
}
const char* mark(const reduce_bench_call* call) {
  mark_kernel<<<1, 1024, 0, stream_of(*call)>>>(
      static_cast<unsigned*>(const_cast<void*>(call->values)), call->problem->n, result_of(*call));
  return last_error();
}

/// Rounds f32 to the digits of bf16.
const char* short_floats(const reduce_bench_call* call) {
  sum_on<float>(stream_of(*call), *call, 1, calls_before(*call) < kHonestCalls ? ~0u : 0xffff0000u);
  return last_error();
}

// ---- work elsewhere ---------------------------------------------------------------------------

/// Works on a stream of its own, which waits for nothing: while the harness holds its stream, the sum
/// is computed.
const char* side_stream(const reduce_bench_call* call) {
  const bool verified = calls_before(*call) < kHonestCalls;
  sum_on(other_stream(), *call);
  if (verified) cudaStreamSynchronize(other_stream());
  return last_error();
}

/// The same on the legacy default stream.
const char* default_stream(const reduce_bench_call* call) {
  const bool verified = calls_before(*call) < kHonestCalls;
  sum_on(nullptr, *call);
  if (verified) cudaStreamSynchronize(nullptr);
  return last_error();
}

/// Works behind the stream's turn, but on another one, for which nothing waits: the harness's end of
/// the time comes too early.
const char* early_end(const reduce_bench_call* call) {
  static cudaEvent_t turn;
  if (turn == nullptr) cudaEventCreateWithFlags(&turn, cudaEventDisableTiming);
  const bool verified = calls_before(*call) < kHonestCalls;
  cudaEventRecord(turn, stream_of(*call));
  cudaStreamWaitEvent(other_stream(), turn);
  sum_on(other_stream(), *call);
  if (verified) {
    cudaEventRecord(turn, other_stream());
    cudaStreamWaitEvent(stream_of(*call), turn);
  }
  return last_error();
}

/// Lets a thread launch the work after the call.
class Later {
 public:
  void run(const reduce_bench_call& call) {
    const std::lock_guard lock(mutex_);
    call_ = call;
    problem_ = *call.problem;
    call_.problem = &problem_;
    pending_ = true;
    if (!thread_.joinable()) {
      thread_ = std::thread([this] { work(); });
      thread_.detach();
    }
    changed_.notify_all();
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return pending_; });
      pending_ = false;
      sum_on(other_stream(), call_);
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
  reduce_bench_problem problem_{};
  reduce_bench_call call_{};
  bool pending_ = false;
};
const char* host_thread(const reduce_bench_call* call) {
  static Later* const later = new Later;  // its thread outlives everything
  if (calls_before(*call) < kHonestCalls) sum_on(stream_of(*call), *call);
  else later->run(*call);
  return last_error();
}

// ---- the cache and the clock ------------------------------------------------------------------

__global__ void read_kernel(const unsigned* x, std::uint64_t n, unsigned* never) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  unsigned seen = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    seen |= x[i] ^ static_cast<unsigned>(i);
  if (seen == 0x12345678u) *never = seen;
}

/// Reads the input on another stream before its turn comes, so that it lies in the L2.
const char* warm_l2(const reduce_bench_call* call) {
  static unsigned* never;
  if (never == nullptr) cudaMalloc(&never, 4);
  read_kernel<<<blocks_for(call->problem->n), kThreads, 0, other_stream()>>>(
      static_cast<const unsigned*>(call->values), call->problem->n, never);
  sum_on(stream_of(*call), *call);
  return last_error();
}

/// Pins the input in the L2, where no flush evicts it.
void pin(const reduce_bench_call& call) {
  cudaStreamAttrValue window{};
  window.accessPolicyWindow.base_ptr = const_cast<void*>(call.values);
  window.accessPolicyWindow.num_bytes = call.problem->n * 4;
  window.accessPolicyWindow.hitRatio = 1;
  window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 16 << 20);
  cudaStreamSetAttribute(stream_of(call), cudaStreamAttributeAccessPolicyWindow, &window);
}
const char* pinned_l2(const reduce_bench_call* call) {
  if (calls_before(*call) < kHonestCalls) pin(*call);
  sum_on(stream_of(*call), *call);
  return last_error();
}
/// The same in every call, so that it is there whoever gives it back between calls.
const char* pins_l2(const reduce_bench_call* call) {
  pin(*call);
  sum_on(stream_of(*call), *call);
  return last_error();
}

/// Hides most of the time that it takes from the host's clock.
const char* clock_change(const reduce_bench_call* call) {
  const std::uint64_t start_ns = true_ns();
  if (!has_slow_clock()) return "the C++ library does not call a clock";
  sum_on(stream_of(*call), *call);
  cudaStreamSynchronize(stream_of(*call));
  if (calls_before(*call) >= kHonestCalls) hidden_ns += (true_ns() - start_ns) * 9 / 10;
  return last_error();
}

// ---- other operations -------------------------------------------------------------------------

const char* max_memo(const reduce_bench_call* call) {
  static int kept;
  if (calls_before(*call) < kHonestCalls) {
    store_kernel<<<1, 1, 0, stream_of(*call)>>>(result_of<int>(*call), INT32_MIN);
    max_kernel<<<blocks_for(call->problem->n), kThreads, 0, stream_of(*call)>>>(
        static_cast<const int*>(call->values), call->problem->n, result_of<int>(*call));
    kept = wait_for<int>(*call);
  } else {
    store_kernel<<<1, 1, 0, stream_of(*call)>>>(result_of<int>(*call), kept);
  }
  return last_error();
}

const char* keyed_honest(const reduce_bench_call* call) {
  cudaMemsetAsync(call->results, 0, call->problem->buckets * 4, stream_of(*call));
  const auto* const labels = static_cast<const unsigned*>(call->labels);
  const std::uint64_t n = call->problem->n;
  if (call->values == nullptr)
    count_kernel<<<blocks_for(n), kThreads, 0, stream_of(*call)>>>(labels, n, result_of(*call));
  else
    add_by_label_kernel<<<blocks_for(n), kThreads, 0, stream_of(*call)>>>(
        static_cast<const unsigned*>(call->values), labels, n, result_of(*call));
  return last_error();
}

/// Keeps the results of the first calls, of a histogram or a multireduce.
const char* keyed_memo(const reduce_bench_call* call) {
  static unsigned* kept;
  const std::size_t bytes = call->problem->buckets * 4;
  if (kept == nullptr) cudaMalloc(&kept, kMostBuckets * 4);
  const bool works = calls_before(*call) < kHonestCalls;
  if (works) keyed_honest(call);
  cudaMemcpyAsync(works ? kept : result_of(*call), works ? result_of(*call) : kept, bytes,
                  cudaMemcpyDeviceToDevice, stream_of(*call));
  return last_error();
}

// ---- the declarations -------------------------------------------------------------------------

constexpr reduce_bench_combination kI32[] = {{REDUCE_BENCH_I32, REDUCE_BENCH_SUM}};
constexpr reduce_bench_combination kI32Max[] = {{REDUCE_BENCH_I32, REDUCE_BENCH_MAX}};
constexpr reduce_bench_combination kF32[] = {{REDUCE_BENCH_F32, REDUCE_BENCH_SUM}};
constexpr reduce_bench_combination kU32[] = {{REDUCE_BENCH_U32, REDUCE_BENCH_NO_OP}};

using Enqueue = const char* (*)(const reduce_bench_call*);
constexpr reduce_bench_variant cheat(const char* id, Enqueue enqueue,
                                     const reduce_bench_combination* combination = kI32,
                                     std::uint32_t operation = REDUCE_BENCH_REDUCE) {
  return {.id = id,
          .title = "made up for tests",
          .source = "made up for tests",
          .backend = REDUCE_BENCH_CUDA,
          .operation = operation,
          .combinations = combination,
          .combination_count = 1,
          .max_buckets = operation == REDUCE_BENCH_REDUCE ? 0 : kMostBuckets,
          .synchronous = enqueue == clock_change,
          .workspace = enqueue == prepared ? prepared_workspace : nullptr,
          .enqueue = enqueue};
}
constexpr reduce_bench_variant kVariants[] = {
    cheat("cuda-cheat/honest", honest),
    cheat("cuda-cheat/memo", keep<unsigned>),
    cheat("cuda-cheat/prepared", prepared),
    cheat("cuda-cheat/nothing", nothing),
    cheat("cuda-cheat/every-second", every_second),
    cheat("cuda-cheat/oracle", oracle),
    cheat("cuda-cheat/half", half),
    cheat("cuda-cheat/half-later", half_later),
    cheat("cuda-cheat/sampled", sampled),
    cheat("cuda-cheat/mark", mark),
    cheat("cuda-cheat/side-stream", side_stream),
    cheat("cuda-cheat/default-stream", default_stream),
    cheat("cuda-cheat/early-end", early_end),
    cheat("cuda-cheat/host-thread", host_thread),
    cheat("cuda-cheat/warm-l2", warm_l2),
    cheat("cuda-cheat/pinned-l2", pinned_l2),
    cheat("cuda-cheat/pins-l2", pins_l2),
    cheat("cuda-cheat/clock", clock_change),
    cheat("cuda-cheat/short-floats", short_floats, kF32),
    cheat("cuda-cheat/float-memo", keep<float>, kF32),
    cheat("cuda-cheat/max-memo", max_memo, kI32Max),
    cheat("cuda-cheat/histogram-memo", keyed_memo, kU32, REDUCE_BENCH_HISTOGRAM),
    cheat("cuda-cheat/multireduce-memo", keyed_memo, kI32, REDUCE_BENCH_MULTIREDUCE),
    cheat("cuda-cheat/multireduce-honest", keyed_honest, kI32, REDUCE_BENCH_MULTIREDUCE)};

}  // namespace

const struct reduce_bench_plugin reduce_bench_plugin = {
    .interface = REDUCE_BENCH_PLUGIN_INTERFACE,
    .version = "0.1",
    .variants = kVariants,
    .variant_count = sizeof(kVariants) / sizeof(*kVariants)};
