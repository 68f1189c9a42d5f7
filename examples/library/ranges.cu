// The least and the greatest value of each label, in one pass: a type of values and an operator that
// onepass does not have, given to onepass::multireduce.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <onepass.hpp>
#include <vector>

struct Range {
  float least, greatest;

  __host__ __device__ bool operator==(const Range& other) const {
    return least == other.least && greatest == other.greatest;
  }
};

/// Associative, and it commutes.
struct Union {
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  }
  template <class T>
  __host__ __device__ static constexpr T combine(T a, T b) {
    return {a.least < b.least ? a.least : b.least,
            a.greatest > b.greatest ? a.greatest : b.greatest};
  }
};

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* copy = nullptr;
  check(cudaMalloc(&copy, values.size() * sizeof(T)), "cudaMalloc");
  check(cudaMemcpy(copy, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
        "cudaMemcpy");
  return copy;
}

int main() {
  constexpr std::size_t n = 1 << 20, buckets = 1000;
  std::vector<Range> values(n), expected(buckets, Union::identity<Range>());
  std::vector<std::uint32_t> labels(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto value = static_cast<float>(i * 2654435761u % 100003);
    values[i] = {value, value};
    labels[i] = static_cast<std::uint32_t>(i * 40503 % buckets);
    expected[labels[i]] = Union::combine(expected[labels[i]], values[i]);
  }
  const Range* device_values = on_device(values);
  const std::uint32_t* device_labels = on_device(labels);
  Range* results = on_device(std::vector<Range>(buckets));

  std::size_t bytes = 0;
  void* workspace = nullptr;
  const auto call = [&] {
    return onepass::multireduce<Union>(workspace, bytes, device_values, device_labels, results, n,
                                       buckets);
  };
  check(call(), "asking for the workspace");
  check(cudaMalloc(&workspace, bytes), "cudaMalloc");
  check(cudaMemset(workspace, 0, onepass::kZeroedBytes), "cudaMemset");
  for (int times = 0; times < 2; ++times) check(call(), "onepass::multireduce");

  std::vector<Range> found(buckets);
  check(cudaMemcpy(found.data(), results, buckets * sizeof(Range), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  if (found != expected) {
    std::fprintf(stderr, "the ranges are wrong\n");
    return 1;
  }
  std::printf("%zu ranges of %zu values are right\n", buckets, n);
}
