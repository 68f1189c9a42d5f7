// onepass/multireduce-split: buckets split over groups of blocks that read the same inputs
//
// Source: this project.
// Idea: buckets that do not fit into the shared memory of one SM fit into that of a few. A group of
//   blocks has one copy of all buckets, each block its share, and every block reads all inputs of
//   the group, at about the same time: device memory is read once, and the L2 cache serves the
//   others. A block updates the buckets that are its own. Where most threads' four neighbours have
//   one label, equal neighbours are combined in registers before. For float sums, whose updates are
//   loops of compare-and-swap, frequent labels have accumulators of their own as in
//   onepass/multireduce, and buckets are dealt out to the blocks in small pieces, so that frequent
//   labels that are neighbours do not all fall to one.
// Fixes: the limit of onepass/multireduce to the buckets that one block has room for, without the
//   second pass over all inputs of partition/multireduce.
// Launch: one block of 1024 threads per SM, in groups of as few as have room for the buckets. The
//   first eight clear the results meanwhile.
// Traffic: n labels and n values read from device memory, and `ways` times from the L2 cache; m
//   results written. The groups' buckets are combined by atomics in the L2 cache. On an H200 device
//   memory binds for integers with two ways, the blocks' instructions with more:
//   docs/kernels/onepass-multireduce-split.md
// Preconditions: the buckets fit into the shared memory of 16 blocks; the operator commutes.
// Deviations: none, there is no publication.

#include "kernels/multireduce/onepass/hot_table.hpp"
#include "kernels/shared/split_table.hpp"

namespace reduce_bench::BACKEND::onepass_multireduce_split {

using onepass_multireduce::HotTable;
using onepass_multireduce::kLoops;
using onepass_multireduce::kQueues;

struct Policy {
  /// Quads in flight per thread where `quads` are asked for: values of 8 bytes and what loops of
  /// compare-and-swap need leave registers for half as many.
  template <class T, class Op>
  static constexpr unsigned quads(unsigned quads) {
    return kLoops<T, Op> || sizeof(T) == 8 ? (quads + 1) / 2 : quads;
  }
};

template <class T, class Op, unsigned kQuads>
__global__ void __launch_bounds__(1024)
    kernel(const T* __restrict__ values, const Label* __restrict__ labels, std::size_t n,
           bool aligned, unsigned buckets, unsigned ways, unsigned width, Clearing* clearing,
           T* results) {
  constexpr bool kHot = kQueues<T, Op>;
  using Plain = PrivateTable<T, Op>;
  using Table = std::conditional_t<kHot, HotTable<T, Op>, Plain>;
  using Values = Vector16<T>;
  constexpr unsigned kValueLoads = kQuad / Values::kCount;
  const Share<kHot> share(buckets, ways, blockIdx.x % ways, width);
  const unsigned group = blockIdx.x / ways, groups = gridDim.x / ways;
  T* const slots = held_shared(dynamic_shared<T>());
  Table table{Plain{slots, width, 0}};
  clearing->begin(results, buckets, Op::template identity<T>());
  if constexpr (kHot) table.clear(n, [&](std::size_t i) { return share.place_of(labels[i]); });
  else table.clear();

  const auto put = [&](bool present, Label label, T value) {
    const unsigned place = share.place_of(label);
    if (present && place < width) table.add(place, value);
  };
  const std::size_t tile = std::size_t{blockDim.x} * kQuads;  // quads
  const std::size_t tiles = aligned ? n / kQuad / tile : 0;
  for (std::size_t t = group; t < tiles; t += groups) {
    Vector16<Label> l[kQuads];
    Values v[kQuads][kValueLoads];
#pragma unroll
    for (unsigned q = 0; q < kQuads; ++q) {
      const std::size_t at = t * tile + q * blockDim.x + threadIdx.x;
      l[q] = reinterpret_cast<const Vector16<Label>*>(labels)[at];
#pragma unroll
      for (unsigned part = 0; part < kValueLoads; ++part)
        v[q][part] = reinterpret_cast<const Values*>(values)[at * kValueLoads + part];
    }
#pragma unroll
    for (unsigned q = 0; q < kQuads; ++q) {
      T value[kQuad];
#pragma unroll
      for (unsigned e = 0; e < kQuad; ++e)
        value[e] = v[q][e / Values::kCount].at[e % Values::kCount];
      put_quads<Op>(l[q].at, value, put);
    }
  }
  // What no tile has, a warp at a time.
  for (std::size_t i = tiles * tile * kQuad + std::size_t{group} * blockDim.x +
                       threadIdx.x / kWarpSize * kWarpSize;
       i < n; i += std::size_t{groups} * blockDim.x) {
    const std::size_t at = i + threadIdx.x % kWarpSize;
    const bool present = at < n;
    put(present, present ? labels[at] : 0, present ? values[at] : Op::template identity<T>());
  }
  clearing->wait();
  if constexpr (kHot) table.take_back_marks();
  add_share_to<Op>(results, slots, share);
}

template <class T, class Op>
SplitPlan plan_for(const Problem& p) {
  const unsigned block = p.params.number("block");
  std::size_t spare_bytes = 0;
  if constexpr (kQueues<T, Op>) spare_bytes = HotTable<T, Op>::bytes();
  const std::size_t tile =
      std::size_t{block} * kQuad * Policy::quads<T, Op>(p.params.number("quads"));
  return split_plan<kQueues<T, Op>>(p, sizeof(T), tile, spare_bytes);
}
/// Whatever the type and the operator.
SplitPlan plan_of(const Problem& p) {
  return with_value_type(p.type, [&]<class T>() {
    return p.op == Op::kSum ? plan_for<T, Sum>(p) : plan_for<T, Min>(p);
  });
}

struct OnepassSplit {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    if (call.n() == 0)
      return enqueue_fill(call.stream, call.results(), call.buckets(), Op::template identity<T>());
    const SplitPlan plan = plan_for<T, Op>(call.problem);
    const auto address = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
    const bool aligned = address(call.values()) % 16 == 0 && address(call.labels()) % 16 == 0;
    const auto enqueue_quads = [&]<unsigned kQuads>() {
      launch(kernel<T, Op, kQuads>, plan.on(call.stream), call.values(), call.labels(), call.n(),
             aligned, static_cast<unsigned>(call.buckets()), plan.ways, plan.width,
             call.template scratch<Clearing>(), call.results());
    };
    const unsigned quads = Policy::quads<T, Op>(call.params().number("quads"));
    if constexpr (Policy::quads<T, Op>(4) == 2) with_value<1, 2>(quads, enqueue_quads);
    else with_value<1, 2, 4>(quads, enqueue_quads);
  }
};

Variant variant() {
  return {
      .id = "onepass/multireduce-split",
      .title = "buckets split over groups of blocks that read the same inputs",
      .source = "reduce-bench",
      .operation = Operation::kMultireduce,
      .fidelity = Fidelity::kBeyond,
      .params =
          [] {
            auto params = split_params();
            params.push_back({"quads",
                              "4",
                              {"1", "2", "4"},
                              "16-byte loads of labels in flight per thread; of 8-byte values and "
                              "where updates are loops half as many"});
            return params;
          }(),
      .restriction = [](const Problem& p) { return split_restriction(p, plan_of(p)); },
      // All of a group's inputs in one bucket, then the groups.
      .depth = [](const Problem& p) -> std::uint64_t {
        const SplitPlan plan = plan_of(p);
        return p.n / plan.groups + std::size_t{plan.block} * kQuad * 4 + kWarpSize + plan.groups;
      },
      .workspace = [](const Problem&) { return clearing_workspace(); },
      .enqueue = instantiate<OnepassSplit, BasicOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::onepass_multireduce_split
