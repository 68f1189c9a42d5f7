// peers/reduce: onepass/reduce on every device, whose block 0 sends its result to the others
//
// Source: this project.
// Idea: every device reduces its share as onepass/reduce does. The block that has a device's result
//   writes it into the memory of the devices that are to have the results, as words that hold half
//   value, half the number of the call, so that both arrive together. There a lane for each other
//   device waits for its word, and the values are folded in the order of the devices: the result
//   has the same bits on all of them. No second kernel, no fence, no library.
// Fixes: nccl/reduce's second launch, and its way through a library's protocol for one word.
// Launch: on every device that of onepass/reduce for the largest share.
// Traffic: n elements read, one written on each device that has the result; between devices 8 bytes
//   per 4 of T for a result, and 8 bytes back that say it was taken. On two H100s the launch and a
//   word's way bind with few elements (in a graph 2^14 take 2.1 us, onepass/reduce on one of them
//   1.6, and a word's way 0.65), reading from 2^31 on: docs/kernels/peers.md
// Preconditions: all devices reach each other's memory; the workspaces are zero before the first
//   launch. At most 16 devices.
// Deviations: none, there is no publication. A device sends no result before the last one was
//   taken, so that one that only sends cannot run ahead by more than a call.

#include "kernels/reduce/onepass/one_launch.hpp"

namespace reduce_bench::BACKEND::peers_reduce {

using flagged::Slot;
using flagged::Word;

/// A device receives here, in its own memory: polling goes over no link.
template <class T>
struct Mailbox {
  Slot<T>
      from[kMostDevices];    ///< what each device sent last, with the number of its call as the tag
  Word taken[kMostDevices];  ///< `bits`: up to which call each device has taken what this one sent
  unsigned calls;            ///< that have ended
};

/// What becomes of a device's result: sent, combined with those of others, or both.
template <class T, class Op>
struct Exchange {
  Mailbox<T>* mailbox[kMostDevices];
  T* results;  ///< null where the device only sends
  unsigned devices, rank;
  bool all;  ///< whether every device has the results, not the first alone

  struct Early {
    unsigned call, taken;
  };

  __device__ bool is_other() const { return threadIdx.x < devices && threadIdx.x != rank; }
  /// Whether this lane's device is sent to.
  __device__ bool sends() const { return is_other() && (all || threadIdx.x == 0); }

  __device__ Early begin() const {
    if (devices == 1 || threadIdx.x >= kWarpSize) return {};
    return {mailbox[rank]->calls + 1,
            sends() ? load_volatile(&mailbox[rank]->taken[threadIdx.x]).bits : 0};
  }

  __device__ void operator()(T own, Early early) const {
    if (threadIdx.x >= kWarpSize) return;
    if (devices > 1) own = exchange(own, early);
    if (threadIdx.x == 0 && results != nullptr) *results = own;
  }

 private:
  __device__ T exchange(T own, Early early) const {
    const unsigned lane = threadIdx.x, call = early.call;
    if (sends()) {
      while (early.taken != call - 1) {
        wait_hint();
        early.taken = load_volatile(&mailbox[rank]->taken[lane]).bits;
      }
      flagged::publish(&mailbox[lane]->from[rank], own, call);
    }
    T total = own;
    if (results != nullptr) {
      T value = own;
      if (is_other()) {
        value = flagged::await(&mailbox[rank]->from[lane], call);
        store_volatile(&mailbox[lane]->taken[rank], Word{call, 0});
      }
      __syncwarp();
      total = __shfl_sync(kAllLanes, value, 0);
      for (unsigned other = 1; other < devices; ++other)
        total = Op::combine(total, __shfl_sync(kAllLanes, value, static_cast<int>(other)));
    }
    __syncwarp();
    if (lane == 0) mailbox[rank]->calls = call;
    return total;
  }
};

template <class T>
constexpr std::size_t mailbox_bytes() {
  return ceil_div(sizeof(Mailbox<T>), 256) * 256;
}

struct PeersReduce {
  template <class T, class Op>
  static void enqueue(const TypedCall<T>& call) {
    const auto plan = onepass_reduce::plan_of(largest_share(call.problem));
    Exchange<T, Op> end{.mailbox = {},
                        .results = nullptr,
                        .devices = static_cast<unsigned>(call.shares.size()),
                        .rank = 0,
                        .all = results_on_all(call.params())};
    for (unsigned rank = 0; rank < end.devices; ++rank)
      end.mailbox[rank] = reinterpret_cast<Mailbox<T>*>(call.shares[rank].workspace);
    const auto arguments = [&](unsigned rank) {
      const DeviceShare& share = call.shares[rank];
      const T* const values = call.values(share);
      end.results = call.results(share);
      end.rank = rank;
      return std::tuple(values, share.n, onepass_reduce::head_of(values, share.n), end);
    };
    with_value<256, 512, 1024>(plan.block, [&]<unsigned kBlock>() {
      const LaunchShape grid{plan.blocks, kBlock, kBlock * sizeof(T), {}};
      if (plan.regime == onepass_reduce::Regime::kOneBlock)
        return launch_on_devices(onepass_reduce::one_block_kernel<T, Op, kBlock, Exchange<T, Op>>,
                                 grid, call.shares, arguments);
      launch_on_devices(onepass_reduce::streaming_kernel<T, Op, kBlock, Exchange<T, Op>>(plan),
                        grid, call.shares, [&](unsigned rank) {
                          auto* const slots = reinterpret_cast<Slot<T>*>(
                              call.shares[rank].workspace + mailbox_bytes<T>());
                          return std::tuple_cat(arguments(rank), std::tuple(slots));
                        });
    });
  }
};

Variant variant() {
  std::vector<ParamSpec> params{devices_axis(), result_axis()};
  for (ParamSpec& spec : onepass_reduce::launch_params()) params.push_back(std::move(spec));
  return {
      .id = "peers/reduce",
      .title = "onepass/reduce on every device, results sent as flagged words",
      .source = "reduce-bench",
      .fidelity = Fidelity::kBeyond,
      .params = std::move(params),
      .borders = onepass_reduce::launch_borders,
      .depth = [](const Problem& p) -> std::uint64_t {
        return onepass_reduce::launch_depth(largest_share(p)) + devices_of(p);
      },
      .traffic = [](const Problem& p) -> Traffic {
        const std::size_t others = devices_of(p) - 1;
        const std::size_t having = results_on_all(p.params) ? others + 1 : 1;
        const std::size_t sent = others * having * (2 * p.element_bytes() + sizeof(Word));
        return {p.input_bytes(), having * p.element_bytes(), sent};
      },
      .workspace = [](const Problem& p) -> Workspace {
        const std::size_t bytes =
            mailbox_bytes<double>() + onepass_reduce::slots_bytes(largest_share(p));
        return {.device_bytes = bytes, .zeroed_bytes = bytes};
      },
      .enqueue = instantiate<PeersReduce, AllOps>(),
  };
}

}  // namespace reduce_bench::BACKEND::peers_reduce
