#include "curve.hpp"

#include <algorithm>

namespace reduce_bench {

std::vector<Latency> plateaus(std::vector<Latency> curve) {
  constexpr double kWithin = 1.2, kNextLevel = 1.5;
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
    const Latency plateau{curve[end].extent, curve[(i + end) / 2].ns};
    if (found.empty() || plateau.ns >= kNextLevel * found.back().ns) found.push_back(plateau);
    else found.back().extent = plateau.extent;
    i = end + 1;
  }
  for (std::size_t level = 0; level + 1 < found.size(); ++level)
    for (const Latency& point : curve)
      if (point.ns <= (found[level].ns + found[level + 1].ns) / 2)
        found[level].extent = point.extent;
  return found;
}

}  // namespace reduce_bench
