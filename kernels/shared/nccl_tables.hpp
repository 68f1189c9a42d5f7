// Tables of several devices, combined by NCCL.
#pragma once

#include <vector>

#include "kernels/platform/nccl.hpp"
#include "kernels/shared/device_tables.hpp"

namespace reduce_bench::BACKEND {

/// Each device reduces its share by `Launch` with default parameters; NCCL combines the tables by
/// `Combine`.
template <class Launch, class Combine, class V, class Op>
void enqueue_nccl_tables(const TypedCall<V>& call) {
  using T = typename TypedCall<V>::Result;
  const TableLayout<T> layout(call.buckets(), static_cast<unsigned>(call.shares.size()), false);
  const Problem& p = call.problem;
  Params params = p.params;
  for (const ParamSpec& spec : table_params()) params.set(spec.name, spec.default_value);
  const Problem problem{.operation = p.operation,
                        .n = p.n,
                        .buckets = p.buckets,
                        .type = p.type,
                        .op = p.op,
                        .distribution = p.distribution,
                        .params = params,
                        .device = p.device};
  const TypedCall<V> local{Call{.problem = problem, .shares = call.shares}};
  std::vector<const void*> parts;
  for (const DeviceShare& share : call.shares) parts.push_back(layout.table(share.workspace));
  reduce_shares<Launch, V, Op>(
      local, layout, [&](unsigned rank) { return layout.table(call.shares[rank].workspace); });
  nccl_combine(call, parts, call.buckets(), kTypeOf<T>, Combine::kOp);
}

template <class T>
Workspace nccl_tables_workspace(const Problem& p) {
  const TableLayout<T> layout(p.buckets, devices_of(p), false);
  return {.device_bytes = layout.end, .zeroed_bytes = layout.table_begin};
}

}  // namespace reduce_bench::BACKEND
