#include "results/older.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <system_error>

#include "common/error.hpp"
#include "plan/identity.hpp"

namespace reduce_bench {
namespace {

bool is_nothing(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return !error;
  return std::filesystem::file_size(file, error) == 0 && !error;
}

Json read(const std::filesystem::path& file) {
  return read_document(file, "the older result", "name another file with -o");
}

}  // namespace

std::optional<OlderResult> older_result(const std::filesystem::path& file, const Config& config,
                                        const std::vector<Point>& plan) {
  if (is_nothing(file)) return std::nullopt;
  OlderResult older;
  try {
    const Json document = read(file);
    const std::string name = file.string();
    const Node root{document, "", name};
    const auto points = root.at("points").elements(0);
    older.points = points.size();
    std::set<PointIdentity> planned;
    for (const Point& point : plan) planned.insert(identity_of(point));
    older.of_this_plan = root.at("config").json() == to_json(config) &&
                         std::all_of(points.begin(), points.end(), [&](const Node& point) {
                           return planned.contains(read_identity(point));
                         });
  } catch (const UsageError&) {
    older.of_this_plan = false;  // a damaged file is nobody's
  }
  return older;
}

bool holds_all_of(const Json& document, const std::filesystem::path& file) {
  if (is_nothing(file)) return true;
  try {
    const Json older = read(file);
    const std::string name = file.string();
    const Node root{older, "", name};
    std::map<std::size_t, const Json*> held;
    for (const Json& point : document.at("points")) held[point.at("index")] = &point;
    const auto points = root.at("points").elements(0);
    return std::all_of(points.begin(), points.end(), [&](const Node& point) {
      const auto found = held.find(point.at("index").integer(0, kMostCount));
      return found != held.end() && *found->second == point.json();
    });
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace reduce_bench
