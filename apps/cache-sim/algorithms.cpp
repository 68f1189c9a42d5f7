#include "algorithms.hpp"

#include <fmt/format.h>

#include <cstring>

#include "common/error.hpp"
#include "common/names.hpp"
#include "kernels/gather/cpu/gather.hpp"
#include "kernels/multireduce/cpu/multireduce.hpp"
#include "kernels/multiscan/one_loop.hpp"
#include "kernels/scatter/cpu/scatter.hpp"
#include "kernels/shared/cpu_radix_sort.hpp"
#include "traced.hpp"

namespace reduce_bench {
namespace {

/// The n labels of a workload, and as many values, all 1, as the algorithm reads.
template <class Value>
struct Inputs {
  Inputs(const Workload& workload, std::size_t values)
      : labels_data(labels_of(workload)), values_data(values, Value{1}) {}
  Elements<Label> labels_data;
  Elements<Value> values_data;
};

/// The arrays that a sort of labels with a T each needs besides what it sorts.
template <class T>
struct SortArrays {
  SortArrays(const cpu::CpuRadixSort& sort, AddressSpace& space)
      : labels_data(sort.n),
        spare_labels_data(sort.n),
        values_data(sort.n),
        spare_values_data(sort.n),
        offsets_data(sort.base()),
        labels(space.place(labels_data)),
        values(space.place(values_data)),
        spare{space.place(offsets_data), space.place(spare_labels_data),
              space.place(spare_values_data)} {}
  Elements<Label> labels_data, spare_labels_data;
  Elements<T> values_data, spare_values_data;
  Elements<std::size_t> offsets_data;
  Traced<Label> labels;
  Traced<T> values;
  cpu::SortSpace<Traced<std::size_t>, Traced<Label>, Traced<T>> spare;
};

Problem problem_of(const Workload& workload, const Params& params) {
  static const DeviceTraits traits;
  return {.operation = Operation::kSort,
          .n = workload.n,
          .buckets = workload.buckets,
          .params = params,
          .device = traits};
}
Params params_of(const Workload& workload) {
  Params params;
  params.set("sort_bits", workload.sort_bits);
  return params;
}

template <class Value>
std::vector<Value> multireduce(const Workload& workload, Memory& memory, std::uint64_t page_bytes) {
  Inputs<Value> inputs(workload, workload.n);
  Elements<Value> results(workload.buckets);
  AddressSpace space(memory, page_bytes);
  const Traced<const Label> labels = space.place(inputs.labels_data);
  const Traced<const Value> values = space.place(inputs.values_data);
  cpu::multireduce<cpu::Sum, Value>(workload.n, workload.buckets, labels, values,
                                    space.place(results, workload.sequential_fetch));
  return results.kept;
}

template <class Value>
std::vector<Value> multireduce_sorted(const Workload& workload, Memory& memory,
                                      std::uint64_t page_bytes) {
  const Params params = params_of(workload);
  const cpu::CpuRadixSort sort = cpu::plan_partial_cpu_sort(problem_of(workload, params));
  if (sort.runs() == 0) return multireduce<Value>(workload, memory, page_bytes);
  Inputs<Value> inputs(workload, workload.n);
  Elements<Value> results(workload.buckets);
  AddressSpace space(memory, page_bytes);
  const Traced<const Label> labels = space.place(inputs.labels_data);
  const Traced<const Value> values = space.place(inputs.values_data);
  SortArrays<Value> sorted(sort, space);
  cpu::sort_pairs<Value>(sort, labels, values, sorted.labels, sorted.values, sorted.spare);
  cpu::multireduce<cpu::Sum, Value>(workload.n, workload.buckets, sorted.labels, sorted.values,
                                    space.place(results, workload.sequential_fetch));
  return results.kept;
}

template <class Value>
std::vector<Value> scatter(const Workload& workload, Memory& memory, std::uint64_t page_bytes) {
  Inputs<Value> inputs(workload, workload.n);
  Elements<Value> results(workload.buckets);
  AddressSpace space(memory, page_bytes);
  const Traced<const Label> labels = space.place(inputs.labels_data);
  const Traced<const Value> values = space.place(inputs.values_data);
  cpu::scatter<Value>(workload.n, labels, values, space.place(results));
  return results.kept;
}

template <class Value>
std::vector<Value> scatter_sorted(const Workload& workload, Memory& memory,
                                  std::uint64_t page_bytes) {
  constexpr unsigned kBitsPerRun = 8;
  const cpu::CpuRadixSort sort = cpu::plan_cpu_radix_sort(
      workload.n, workload.buckets, params_of(workload).number("sort_bits"), kBitsPerRun);
  Inputs<Value> inputs(workload, workload.n);
  Elements<Value> results(workload.buckets);
  AddressSpace space(memory, page_bytes);
  const Traced<const Label> labels = space.place(inputs.labels_data);
  const Traced<const Value> values = space.place(inputs.values_data);
  SortArrays<Value> sorted(sort, space);
  cpu::sort_pairs<Value>(sort, labels, values, sorted.labels, sorted.values, sorted.spare);
  cpu::scatter<Value>(workload.n, sorted.labels, sorted.values, space.place(results));
  return results.kept;
}

template <class Value>
std::vector<Value> gather(const Workload& workload, Memory& memory, std::uint64_t page_bytes) {
  Inputs<Value> inputs(workload, workload.buckets);
  Elements<Value> results(workload.n);
  AddressSpace space(memory, page_bytes);
  const Traced<const Label> labels = space.place(inputs.labels_data);
  const Traced<const Value> values = space.place(inputs.values_data);
  cpu::gather<Value>(workload.n, labels, values, space.place(results));
  return results.kept;
}

template <class Value>
std::vector<Value> gather_sorted(const Workload& workload, Memory& memory,
                                 std::uint64_t page_bytes) {
  const unsigned sort_bits = params_of(workload).number("sort_bits");
  const cpu::CpuRadixSort sort =
      cpu::plan_cpu_radix_sort(workload.n, workload.buckets, sort_bits, sort_bits);
  Inputs<Value> inputs(workload, workload.buckets);
  Elements<Value> results(workload.n), fetched(workload.n);
  Elements<Label> sorted(workload.n);
  Elements<std::size_t> offsets(sort.base()), copy(sort.base());
  AddressSpace space(memory, page_bytes);
  const Traced<const Label> labels = space.place(inputs.labels_data);
  const Traced<const Value> values = space.place(inputs.values_data);
  const cpu::GatherSpace<Traced<std::size_t>, Traced<Label>, Traced<Value>> arrays{
      space.place(offsets), space.place(copy), space.place(sorted), space.place(fetched)};
  cpu::gather_sorted<Value>(sort, labels, values, space.place(results), arrays);
  return results.kept;
}

template <class Value>
std::vector<Value> multiscan(const Workload& workload, Memory& memory, std::uint64_t page_bytes) {
  Inputs<Value> inputs(workload, workload.n);
  Elements<Value> results(workload.n), buckets_data(workload.buckets);
  AddressSpace space(memory, page_bytes);
  const Traced<const Label> labels = space.place(inputs.labels_data);
  const Traced<const Value> values = space.place(inputs.values_data);
  const Traced<Value> buckets = space.place(buckets_data);
  cpu::fill(buckets, workload.buckets, Value{0});
  cpu::scan_in_order<cpu::Sum, Value>(buckets, labels, values, 0, workload.n, false,
                                      space.place(results));
  return results.kept;
}

template <class Value>
std::vector<Value> multiscan_sorted(const Workload& workload, Memory& memory,
                                    std::uint64_t page_bytes) {
  using Pair = cpu::IndexValue<Value>;
  const Params params = params_of(workload);
  const cpu::CpuRadixSort sort = cpu::plan_partial_cpu_sort(problem_of(workload, params));
  if (sort.runs() == 0) return multiscan<Value>(workload, memory, page_bytes);
  Inputs<Value> inputs(workload, workload.n);
  Elements<Value> results(workload.n), buckets_data(workload.buckets);
  Elements<Pair> pairs_data(workload.n);
  AddressSpace space(memory, page_bytes);
  const Traced<const Label> labels = space.place(inputs.labels_data);
  const Traced<const Value> values = space.place(inputs.values_data);
  const Traced<Value> buckets = space.place(buckets_data);
  const Traced<Pair> pairs = space.place(pairs_data);
  SortArrays<Pair> sorted(sort, space);
  cpu::fill(buckets, workload.buckets, Value{0});
  cpu::pair_with_positions<Value>(workload.n, values, pairs);
  cpu::sort_pairs<Pair>(sort, labels, pairs, sorted.labels, sorted.values, sorted.spare);
  cpu::scan_sorted<cpu::Sum, Value>(workload.n, buckets, sorted.labels, sorted.values, false,
                                    space.place(results));
  return results.kept;
}

constexpr std::array kAlgorithms{
    Algorithm{"cpu/multireduce", "", Axes{.fetch = true, .pages = true}, multireduce<std::int32_t>,
              multireduce<Blank>},
    Algorithm{"cpu/multireduce-sorted", "auto", Axes{.fetch = true},
              multireduce_sorted<std::int32_t>, multireduce_sorted<Blank>},
    Algorithm{"cpu/multiscan", "", Axes{.scan = true}, multiscan<std::int32_t>, multiscan<Blank>},
    Algorithm{"cpu/multiscan-sorted", "auto", Axes{.scan = true}, multiscan_sorted<std::int32_t>,
              multiscan_sorted<Blank>},
    Algorithm{"cpu/scatter", "", {}, scatter<std::int32_t>, scatter<Blank>},
    Algorithm{"cpu/scatter-sorted", "8", {}, scatter_sorted<std::int32_t>, scatter_sorted<Blank>},
    Algorithm{"cpu/gather", "", {}, gather<std::int32_t>, gather<Blank>},
    Algorithm{"cpu/gather-sorted", "8", {}, gather_sorted<std::int32_t>, gather_sorted<Blank>}};

}  // namespace

std::span<const Algorithm> algorithms() { return kAlgorithms; }

const Algorithm& find_algorithm(const std::string& id) {
  std::vector<std::string_view> ids;
  for (const Algorithm& algorithm : kAlgorithms) {
    if (algorithm.id == id) return algorithm;
    ids.push_back(algorithm.id);
  }
  throw UsageError(
      fmt::format("unknown algorithm '{}'{}, choose {}", id, suggestion(id, ids), one_of(ids)));
}

std::vector<std::uint32_t> labels_of(const Workload& workload) {
  const LabelKey key{.distribution = workload.labels,
                     .type = kTypeOf<Label>,
                     .n = workload.n,
                     .buckets = workload.buckets,
                     .seed = workload.seed};
  if (const std::string why = unsuited(key); !why.empty()) throw UsageError(why);
  const HostArray array = generate(key);
  std::vector<Label> labels(workload.n);
  if (workload.n > 0) std::memcpy(labels.data(), array.data(), workload.n * sizeof(Label));
  return labels;
}

}  // namespace reduce_bench
