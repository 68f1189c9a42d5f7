// onepass/multireduce-split's kernel and launch.
#pragma once

#include "kernels/multireduce/onepass/hot_table.hpp"
#include "kernels/shared/by_capability.hpp"
#include "kernels/shared/quads.hpp"
#include "kernels/shared/split_table.hpp"

namespace reduce_bench::BACKEND::onepass_multireduce_split {

using onepass_multireduce::HotTable;
using onepass_multireduce::kManySteps;
using onepass_multireduce::kQueues;

struct Policy90 {
  /// Quads in flight per thread where `quads` are asked for: values of 8 bytes and what updates of
  /// many steps need leave registers for half as many.
  template <class T, class Op>
  static constexpr unsigned quads(unsigned quads) {
    return kManySteps<T, Op> || sizeof(T) == 8 ? (quads + 1) / 2 : quads;
  }
};
using Policy = ByCapability<Row<90, Policy90>>;

/// Adds a block's share of the inputs to its table.
template <class T, class Table, bool kHot>
struct PutShare {
  const Share<kHot>& share;
  const Table& table;
  unsigned width;

  __device__ void operator()(bool present, Label label, T value) const {
    const unsigned place = share.place_of(label);
    if (present && place < width) table.add(place, value);
  }
  __device__ void each(const Label (&label)[kQuad], const T (&value)[kQuad]) const
    requires kHot
  {
    unsigned place[kQuad];
    bool present[kQuad];
#pragma unroll
    for (unsigned e = 0; e < kQuad; ++e) {
      place[e] = share.place_of(label[e]);
      present[e] = place[e] < width;
    }
    table.add_each(place, value, present);
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
  if constexpr (kHot)
    table.clear(n, [&](std::size_t s, unsigned samples) {
      return share.place_of(labels[n * s / samples]);
    });
  else table.clear();

  const PutShare<T, Table, kHot> put{share, table, width};
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
  // The inputs after the last whole tile, a warp at a time.
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

struct Tuning {
  SplitTuning split;
  unsigned quads =
      4;  ///< 16-byte loads of labels in flight per thread, as far as the type has room
};

template <class T, class Op>
SplitPlan plan_for(const Sizes& sizes, const Tuning& tuning) {
  std::size_t spare_bytes = 0;
  if constexpr (kQueues<T, Op>) spare_bytes = HotTable<T, Op>::bytes();
  const std::size_t tile =
      std::size_t{tuning.split.block} * kQuad * Policy::quads<T, Op>(tuning.quads);
  return split_plan<kQueues<T, Op>>(sizes, tuning.split, sizeof(T), tile, spare_bytes);
}

/// Puts the multireduce on the stream. The workspace is a Clearing.
template <class Op, class T>
void enqueue(const Arguments<T>& call, const Tuning& tuning) {
  if (call.n() == 0)
    return enqueue_fill(call.stream, call.results, call.buckets(), Op::template identity<T>());
  const SplitPlan plan = plan_for<T, Op>(call.sizes, tuning);
  const auto enqueue_quads = [&]<unsigned kQuads>() {
    launch(kernel<T, Op, kQuads>, plan.on(call.stream), call.values, call.labels, call.n(),
           call.aligned(), static_cast<unsigned>(call.buckets()), plan.ways, plan.width,
           call.template scratch<Clearing>(), call.results);
  };
  const unsigned quads = Policy::quads<T, Op>(tuning.quads);
  if constexpr (Policy::quads<T, Op>(4) == 2) with_value<1, 2>(quads, enqueue_quads);
  else with_value<1, 2, 4>(quads, enqueue_quads);
}

}  // namespace reduce_bench::BACKEND::onepass_multireduce_split
