// onepass_reduce and onepass_reduce_exact.

#include "library/calls.hpp"

using namespace onepass;
using namespace onepass::numbers;

ONEPASS_EXPORT int onepass_reduce(int device, int type, int op, void* workspace,
                                  size_t* workspace_bytes, const void* values, void* result,
                                  size_t n, void* stream) {
  return on_device(device, [&] {
    return with_value_type(type, [&]<class T>() {
      return with_operator(op, [&]<class Op>() {
        return reduce<Op>(workspace, *workspace_bytes, typed<T>(values), typed<T>(result), n,
                          static_cast<cudaStream_t>(stream));
      });
    });
  });
}

ONEPASS_EXPORT int onepass_reduce_exact(int device, int type, void* workspace,
                                        size_t* workspace_bytes, const void* values, void* result,
                                        size_t n, void* stream) {
  return on_device(device, [&] {
    return with_value_type(type, [&]<class T>() {
      if constexpr (!std::is_floating_point_v<T>) return cudaErrorInvalidValue;
      else
        return reduce_exact(workspace, *workspace_bytes, typed<T>(values), typed<T>(result), n,
                            static_cast<cudaStream_t>(stream));
    });
  });
}
