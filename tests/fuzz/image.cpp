// An image of labels.
#include "common/image.hpp"

#include "reader.hpp"

using namespace reduce_bench;

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return feed(bytes, size, [](const std::filesystem::path& file) {
    const Image image = read_image(file);
    if (image.pixels.size() != image.width * image.height) finding("pixels are missing");
  });
}
