// A results document, compared with a good one in every format.
#include "compare/report.hpp"
#include "reader.hpp"

using namespace reduce_bench;

namespace {

void compare_and_report(const Side& base, const Side& new_) {
  std::vector<std::string> differences =
      environment_differences(base.rounds.front().environment, new_.rounds.front().environment);
  differences.push_back(clock_difference(base, new_));
  const ComparisonReport report{base, new_, differences, compare_sides(base, new_, Thresholds{})};
  check_text(report.text());
  check_text(report.markdown());
  check_text(report.junit());
  check_text(report.json().dump(1));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const Side good = read_side(CORPUS "/results/good.json");
  return feed(bytes, size, [](const std::filesystem::path& file) {
    const Side made_up = read_side(file);
    compare_and_report(made_up, made_up);
    compare_and_report(good, made_up);
  });
}
