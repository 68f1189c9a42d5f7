// An array of values or labels.
#include "common/npy.hpp"

#include "common/inputs.hpp"
#include "common/labels.hpp"
#include "reader.hpp"

using namespace reduce_bench;

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return feed(bytes, size, [](const std::filesystem::path& file) {
    const auto array = std::make_shared<const NpyArray>(file);
    // Whatever it holds is refused in words, or can be read to its end.
    const std::size_t n = array->count();
    if (is_label(array->type())) {
      const LabelKey key{.distribution = {.kind = LabelDistribution::Kind::kFile, .array = array},
                         .type = array->type(),
                         .n = n,
                         .buckets = 256};
      const std::string why = unsuited(key);
      check_text(why);
      if (why.empty()) generate(key);
    } else {
      const InputKey key{.distribution = {.kind = Distribution::Kind::kFile, .array = array},
                         .type = array->type(),
                         .n = n};
      const std::string why = unsuited(key);
      check_text(why);
      if (why.empty()) generate(key);
    }
  });
}
