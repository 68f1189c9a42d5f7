// The OpenCL platform: what a GPU kernel file says of its host side, for a kernel in OpenCL C. The file
// declares `kernel` as a KernelOf with the parameters of its CUDA kernel and launches it alike.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/platform/opencl_queue.hpp"

#define __host__
#define __device__

namespace reduce_bench::opencl {

struct LaunchShape {
  unsigned grid;   ///< work-groups
  unsigned block;  ///< work-items of each
  std::size_t shared_bytes;
  Stream stream;
};

inline Queue& queue_of(const Stream& stream) { return *static_cast<Queue*>(stream.handle); }

inline constexpr std::string_view kF64 = "cl_khr_fp64";
inline constexpr std::string_view kAtomics64 = "cl_khr_int64_base_atomics";

/// A value as OpenCL C writes it, without blanks. Of floats there are 0, 1 and the infinities.
template <class T>
std::string literal(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
    return std::to_string(static_cast<int>(value));
  } else {
    // The lowest integer is no literal.
    const std::string suffix = sizeof(T) == 8 ? "L" : "";
    if (value == std::numeric_limits<T>::min())
      return "(" + std::to_string(value + 1) + suffix + "-1)";
    return std::to_string(value) + suffix;
  }
}

/// Where it is called at compile time, a type that has no kernel in OpenCL C does not compile.
constexpr std::string_view opencl_name(Type type) {
  switch (type) {
    case Type::kI32: return "int";
    case Type::kI64: return "long";
    case Type::kF32: return "float";
    case Type::kF64: return "double";
    case Type::kU8:
    case Type::kU16:
    case Type::kU32:
    case Type::kF16:
    case Type::kBf16: break;
  }
  throw std::logic_error("no kernel in OpenCL C takes " + std::string(name_of(type)));
}
/// The type in which sums and products wrap.
constexpr std::string_view wrapping_name(Type type) {
  switch (type) {
    case Type::kI32: return "uint";
    case Type::kI64: return "ulong";
    case Type::kF32:
    case Type::kF64:
    case Type::kU8:
    case Type::kU16:
    case Type::kU32:
    case Type::kF16:
    case Type::kBf16: break;
  }
  return opencl_name(type);
}

/// The compiler's options for one type and operator; `macros` of the kernel's own.
template <class T, class Op>
std::string options_of(const std::vector<std::pair<std::string_view, unsigned>>& macros) {
  const auto define = [](std::string_view name, std::string_view value) {
    return " -D " + std::string(name) + "=" + std::string(value);
  };
  constexpr std::string_view kName = opencl_name(kTypeOf<T>);
  constexpr std::string_view kWrapping = wrapping_name(kTypeOf<T>);
  std::string options = "-cl-std=CL1.2";
  options += define("T", kName);
  options += define("WRAPPING", kWrapping);
  options += define("T_BYTES", std::to_string(sizeof(T)));
  options += define("T_IS_FLOAT", std::is_floating_point_v<T> ? "1" : "0");
  options += define("OP_" + std::string(name_of(Op::kOp)), "1");
  options += define("IDENTITY", literal(Op::template identity<T>()));
  for (const auto& [name, value] : macros) options += define(name, std::to_string(value));
  return options;
}

/// The kernel of the file kernels/<operation>/<id>.cl for one type and operator.
template <class... Parameters>
struct KernelOf {
  KernelSource source;
};
template <class T, class Op, class... Parameters>
KernelOf<Parameters...> kernel_of(
    std::string_view id, const std::vector<std::pair<std::string_view, unsigned>>& macros = {},
    std::vector<std::string_view> extensions = {}) {
  if (std::is_same_v<T, double>) extensions.push_back(kF64);
  return {{id, source_of(id), options_of<T, Op>(macros), std::move(extensions), prelude()}};
}

template <class... Parameters, class... Arguments>
void launch(const KernelOf<Parameters...>& kernel, const LaunchShape& shape,
            Arguments... arguments) {
  Queue& queue = queue_of(shape.stream);
  BuiltKernel& built = queue.kernel(kernel.source);
  checked("passing the arguments of " + std::string(kernel.source.id), [&] {
    ArgumentList list(queue, built.kernel);
    (list.add(static_cast<Parameters>(arguments)), ...);
    if (shape.shared_bytes > 0) list.add_local(shape.shared_bytes);
  });
  queue.launch(built, {shape.grid, shape.block, shape.shared_bytes});
  if (LaunchLog* log = shape.stream.log)
    log->add(shape.grid, shape.block, shape.shared_bytes, shape.stream.is_aside);
}

/// Stores `value` n times: part of the timed operation.
template <class T>
void enqueue_fill(const Stream& stream, T* values, std::size_t n, std::type_identity_t<T> value) {
  queue_of(stream).fill(values, value, n);
  if (LaunchLog* log = stream.log) log->add(0, 0, 0, true);
}

}  // namespace reduce_bench::opencl
