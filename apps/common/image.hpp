// Images in the portable formats of Netpbm: PGM and PPM, plain and raw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace reduce_bench {

/// The brightness of every pixel, row by row. A PPM's is 0.299 red + 0.587 green + 0.114 blue,
/// rounded down.
struct Image {
  std::size_t width = 0, height = 0;
  std::vector<std::uint16_t> pixels;
};

/// Throws UsageError that names the file, what is wrong and where.
Image read_image(const std::filesystem::path& file);

}  // namespace reduce_bench
