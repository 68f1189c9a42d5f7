// The journal that --resume reads, and the tables of the points it holds.
#include "results/journal.hpp"
#include "reader.hpp"
#include "results/results.hpp"
#include "results/table.hpp"

using namespace reduce_bench;

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const Json header{{"journal", 1}};
  static const std::vector<Point> plan =
      make_plan(
          parse_config(
              Json::parse(
                  R"({"schema": 1, "sweeps": [{"variants": ["harris/*"], "n": [0, 1024, 4096]}]})"),
              "good", {}),
          {.automatic = {Backend::kCpu}})
          .points;
  return feed(bytes, size, [](const std::filesystem::path& file) {
    Restored restored;
    {
      Journal journal(file, header, true);
      restored = restore(journal, plan);
    }
    check_text(results_table(restored.points));
    check_text(problems_text(restored.points));
    for (const auto& [backend, ceilings] : restored.ceilings) {
      const Json resolved = to_json(ceilings);
      static const std::string name = "again";
      const Node node{resolved, "", name};
      if (read_again([&] { return to_json(read_ceilings(node)); }) != resolved)
        finding("other ceilings when read again");
    }
  });
}
