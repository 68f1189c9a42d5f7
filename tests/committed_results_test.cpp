#include <gtest/gtest.h>

#include <filesystem>

#include "compare/sides.hpp"

namespace reduce_bench {
namespace {

namespace fs = std::filesystem;

TEST(Results, ThatAreCommittedCanBeRead) {
  std::size_t read_files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(SOURCE_DIR "/results")) {
    const fs::path& file = entry.path();
    if (file.extension() != ".json" || file.parent_path().extension() == ".simulated" ||
        *file.lexically_relative(SOURCE_DIR "/results").begin() == "local")
      continue;
    EXPECT_NO_THROW(EXPECT_FALSE(read_side(file).rounds.at(0).points.empty())) << file;
    ++read_files;
  }
  EXPECT_GT(read_files, 30u);
}

}  // namespace
}  // namespace reduce_bench
