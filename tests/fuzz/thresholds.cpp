// The threshold file of `compare`.
#include "compare/thresholds.hpp"

#include "reader.hpp"

using namespace reduce_bench;

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return feed(bytes, size, [](const std::filesystem::path& file) {
    const double threshold = read_thresholds(file).of("harris/7");
    if (!(threshold > 0)) finding("a threshold of " + std::to_string(threshold));
  });
}
