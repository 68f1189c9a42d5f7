#include "devices/machine_code.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "common/mix.hpp"

namespace reduce_bench {
namespace {

/// Reads a structure at a place of the file; nothing beyond its end.
template <class T>
std::optional<T> read_at(std::span<const std::byte> file, std::uint64_t offset_bytes) {
  if (offset_bytes > file.size() || file.size() - offset_bytes < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset_bytes, sizeof(T));
  return value;
}

std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = mix(bytes.size());
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof(word), bytes.size() - at));
    hash = mix(hash * kGoldenGamma + word);
  }
  return hash;
}

/// The kernel that a section is of, by the section's name: `.text.<kernel>` has its instructions,
/// `.nv.constant<bank>.<kernel>` constants, of which bank 0 is filled by the launch.
std::string_view kernel_of(std::string_view section) {
  constexpr std::string_view kText = ".text.", kConstant = ".nv.constant";
  if (section.starts_with(kText)) return section.substr(kText.size());
  if (!section.starts_with(kConstant)) return {};
  section.remove_prefix(kConstant.size());
  const std::size_t dot = section.find('.');
  if (dot == std::string_view::npos || section.substr(0, dot) == "0") return {};
  return section.substr(dot + 1);
}

}  // namespace

void add_kernels(std::span<const std::byte> cubin, KernelCode& known) {
  const auto header = read_at<Elf64_Ehdr>(cubin, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64)
    return;
  const auto section_at = [&](std::size_t i) {
    return read_at<Elf64_Shdr>(cubin, header->e_shoff + i * sizeof(Elf64_Shdr));
  };
  const auto bytes_of = [&](const Elf64_Shdr& section) {
    const bool inside = section.sh_type != SHT_NOBITS && section.sh_offset <= cubin.size() &&
                        section.sh_size <= cubin.size() - section.sh_offset;
    return inside ? cubin.subspan(section.sh_offset, section.sh_size)
                  : std::span<const std::byte>();
  };
  const auto names_section = section_at(header->e_shstrndx);
  if (!names_section) return;
  const auto names = bytes_of(*names_section);
  KernelCode found;
  for (std::size_t i = 0; i < header->e_shnum; ++i) {
    const auto section = section_at(i);
    if (!section || section->sh_name >= names.size()) continue;
    const auto* const name = reinterpret_cast<const char*>(names.data()) + section->sh_name;
    const std::string_view kernel =
        kernel_of({name, ::strnlen(name, names.size() - section->sh_name)});
    // The sum, because the sections of a kernel stand in any order.
    if (!kernel.empty()) found[std::string(kernel)] += hash_of(bytes_of(*section));
  }
  for (const auto& [kernel, hash] : found) known[kernel] = hash;
}

MachineCode machine_code(std::span<const std::string> launched, const KernelCode& known) {
  if (launched.empty()) return {.unavailable = "no launch of a kernel was seen"};
  MachineCode code{.kernels = launched.size()};
  std::uint64_t hash = 0;
  for (const std::string& kernel : launched) {
    const auto of_kernel = known.find(kernel);
    if (of_kernel == known.end()) {
      code.unavailable = "the code of " + kernel + " was not seen";
      return code;
    }
    hash = mix(hash * kGoldenGamma + of_kernel->second);
  }
  code.hash = hash;
  return code;
}

}  // namespace reduce_bench
