// onepass_multireduce.

#include "library/calls.hpp"

using namespace onepass;
using namespace onepass::numbers;

ONEPASS_EXPORT int onepass_multireduce(int device, int type, int op, void* workspace,
                                       size_t* workspace_bytes, const void* values,
                                       const uint32_t* labels, void* results, size_t n,
                                       size_t buckets, void* stream) {
  return on_device(device, [&] {
    return with_value_type(type, [&]<class T>() {
      return with_operator(op, [&]<class Op>() {
        return multireduce<Op>(workspace, *workspace_bytes, typed<T>(values), labels,
                               typed<T>(results), n, buckets, static_cast<cudaStream_t>(stream));
      });
    });
  });
}
