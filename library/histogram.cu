// onepass_histogram.

#include "library/calls.hpp"

using namespace onepass;
using namespace onepass::numbers;

ONEPASS_EXPORT int onepass_histogram(int device, int label_type, void* workspace,
                                     size_t* workspace_bytes, const void* labels, uint32_t* counts,
                                     size_t n, size_t buckets, void* stream) {
  const auto count = [&]<class L>() {
    return histogram(workspace, *workspace_bytes, typed<L>(labels), counts, n, buckets,
                     static_cast<cudaStream_t>(stream));
  };
  return on_device(device, [&] {
    switch (label_type) {
      case ONEPASS_U8: return count.operator()<std::uint8_t>();
      case ONEPASS_U16: return count.operator()<std::uint16_t>();
      case ONEPASS_U32: return count.operator()<std::uint32_t>();
      default: return cudaErrorInvalidValue;
    }
  });
}
