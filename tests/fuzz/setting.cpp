// --set: the bytes are one setting of the command line.
#include "plan/config.hpp"
#include "reader.hpp"

using namespace reduce_bench;

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const Json good = Json::parse(
      R"({"schema": 1, "sweeps": [{"variants": ["harris/7"], "n": [1024], "params": {"block": [64]}}]})");
  const std::string setting(reinterpret_cast<const char*>(bytes), size);
  return feed(bytes, size, [&](const std::filesystem::path&) {
    check_text(to_json(parse_config(good, "good", {setting})).dump());
  });
}
