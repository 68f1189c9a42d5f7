// Hashes of machine code, on made-up ELF files such as nvcc writes.
#include "devices/machine_code.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <utility>

namespace reduce_bench {
namespace {

using Sections = std::vector<std::pair<std::string, std::string>>;  ///< names and contents

/// An ELF file with these sections, the table of their names and the table of them behind.
std::vector<std::byte> elf_of(const Sections& sections) {
  std::vector<std::byte> file(sizeof(Elf64_Ehdr));
  const auto append = [&](const void* data, std::size_t size_bytes) {
    const auto* const bytes = static_cast<const std::byte*>(data);
    file.insert(file.end(), bytes, bytes + size_bytes);
  };
  std::string names(1, '\0');
  std::vector<Elf64_Shdr> table(1);
  const auto add = [&](const std::string& name, const std::string& content) {
    Elf64_Shdr section{};
    section.sh_name = static_cast<Elf64_Word>(names.size());
    section.sh_type = SHT_PROGBITS;
    section.sh_offset = file.size();
    section.sh_size = content.size();
    table.push_back(section);
    names += name + '\0';
    append(content.data(), content.size());
  };
  for (const auto& [name, content] : sections) add(name, content);
  add(".shstrtab", "");
  table.back().sh_size = names.size();
  table.back().sh_offset = file.size();
  append(names.data(), names.size());
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = file.size();
  header.e_shnum = static_cast<Elf64_Half>(table.size());
  header.e_shstrndx = static_cast<Elf64_Half>(table.size() - 1);
  append(table.data(), table.size() * sizeof(Elf64_Shdr));
  std::memcpy(file.data(), &header, sizeof(header));
  return file;
}

KernelCode code_of(const Sections& sections) {
  KernelCode known;
  add_kernels(elf_of(sections), known);
  return known;
}

TEST(MachineCode, IsOfEachKernelsInstructionsAndConstants) {
  const KernelCode known =
      code_of({{".text.a", "load add exit"}, {".nv.info.a", "x"}, {".text.b", "load mul exit"}});
  ASSERT_EQ(known.size(), 2u);
  EXPECT_NE(known.at("a"), known.at("b"));
  EXPECT_EQ(code_of({{".text.a", "load add exit"}, {".nv.info.a", "y"}}).at("a"), known.at("a"));
  EXPECT_EQ(code_of({{".nv.constant0.a", "12"}, {".text.a", "load add exit"}}).at("a"),
            known.at("a"));  // the launch writes them
  EXPECT_NE(code_of({{".text.a", "load sub exit"}}).at("a"), known.at("a"));
  const Sections with_constants{{".text.a", "load add exit"}, {".nv.constant2.a", "3.5"}};
  EXPECT_NE(code_of(with_constants).at("a"), known.at("a"));
  EXPECT_EQ(code_of({with_constants[1], with_constants[0]}), code_of(with_constants));
}

TEST(MachineCode, AModuleLoadedTwiceChangesNothing) {
  const auto file = elf_of({{".text.a", "load"}});
  KernelCode once, twice;
  add_kernels(file, once);
  for (int i = 0; i < 2; ++i) add_kernels(file, twice);
  EXPECT_EQ(once, twice);
}

TEST(MachineCode, OfACallIsThatOfItsKernelsInTheirOrder) {
  const KernelCode known = code_of({{".text.a", "load"}, {".text.b", "add"}});
  const KernelCode renamed = code_of({{".text.c", "load"}, {".text.d", "add"}});
  const auto hash = [](const std::vector<std::string>& launched, const KernelCode& code) {
    return machine_code(launched, code).hash;
  };
  EXPECT_TRUE(hash({"a", "b"}, known));
  EXPECT_EQ(hash({"a", "b"}, known), hash({"c", "d"}, renamed));
  EXPECT_NE(hash({"a", "b"}, known), hash({"b", "a"}, known));
  EXPECT_NE(hash({"a"}, known), hash({"a", "a"}, known));
  EXPECT_EQ(machine_code(std::array<std::string, 2>{"a", "b"}, known).kernels, 2u);
}

TEST(MachineCode, SaysWhyThereIsNoHash) {
  const MachineCode unseen = machine_code(std::array<std::string, 1>{"a"}, {});
  EXPECT_FALSE(unseen.hash);
  EXPECT_EQ(unseen.kernels, 1u);
  EXPECT_EQ(unseen.unavailable, "the code of a was not seen");
  EXPECT_EQ(machine_code({}, {}).unavailable, "no launch of a kernel was seen");
}

TEST(MachineCode, WhatIsCutShortIsReadAsFarAsItGoes) {
  const auto whole = elf_of({{".text.a", "load add exit"}, {".text.b", "load mul exit"}});
  for (std::size_t size_bytes = 0; size_bytes < whole.size(); ++size_bytes) {
    KernelCode known;
    add_kernels({whole.data(), size_bytes}, known);
    EXPECT_LE(known.size(), 2u);
  }
  KernelCode known;
  add_kernels(
      std::as_bytes(std::span("no ELF file, but as long as the header of one would be at the "
                              "least, and longer")),
      known);
  EXPECT_TRUE(known.empty());
}

}  // namespace
}  // namespace reduce_bench
