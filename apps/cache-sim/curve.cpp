#include "curve.hpp"

#include <algorithm>

namespace reduce_bench {

std::vector<Latency> plateaus(std::vector<Latency> curve) {
  constexpr double kWithin = 1.2;
  for (std::size_t i = curve.size(); i-- > 1;)
    curve[i - 1].ns = std::min(curve[i - 1].ns, curve[i].ns);
  std::vector<Latency> found;
  for (std::size_t i = 0; i < curve.size();) {
    const std::size_t octave_on = std::min(i + kPointsPerOctave, curve.size() - 1);
    if (curve[octave_on].ns > kWithin * curve[i].ns) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end + 1 < curve.size() && curve[end + 1].ns <= kWithin * curve[i].ns) ++end;
    found.push_back({curve[end].extent, curve[(i + end) / 2].ns});
    i = end + 1;
  }
  return found;
}

}  // namespace reduce_bench
