// The machine code of kernels, by hash: whether two builds run the same instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace reduce_bench {

/// The machine code of all kernels that a call launches.
struct MachineCode {
  std::optional<std::uint64_t> hash;
  std::uint64_t kernels = 0;  ///< launched by a call
  std::string unavailable;    ///< why there is none
};

/// The hash of each kernel's code, by its mangled name.
using KernelCode = std::map<std::string, std::uint64_t>;

/// Adds the kernels of an ELF file of machine code (a cubin), with the constants that the code has
/// for itself. What is no such file adds nothing.
void add_kernels(std::span<const std::byte> cubin, KernelCode& known);

/// The code of these kernels in the order in which they were launched. Their names have no part in
/// it: one that stands in an unnamed namespace is called after its file.
MachineCode machine_code(std::span<const std::string> launched, const KernelCode& known);

}  // namespace reduce_bench
