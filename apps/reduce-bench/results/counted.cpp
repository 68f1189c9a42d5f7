#include "results/counted.hpp"

#include <fmt/format.h>
#include <array>
#include <limits>

namespace reduce_bench {

Json counts_document(const std::vector<Record>& records, const Config& config,
                     const Json& environment) {
  Json points = Json::array();
  for (const Record& record : records) {
    Json counts = nullptr;
    if (!record.counted.empty()) {
      counts = Json::object();
      for (std::size_t i = 0; i < emu::kMetricNames.size(); ++i)
        counts[std::string(emu::kMetricNames[i])] = record.counted.front().counts[i];
    }
    Json entry = to_json(identity_of(record.point));
    entry.update({{"status", name_of(record.status)},
                  {"reason", record.reason.empty() ? Json(nullptr) : Json(record.reason)},
                  {"counts", std::move(counts)}});
    points.push_back(std::move(entry));
  }
  return {{"schema", 1},
          {"kind", kCountsKind},
          {"config", to_json(config)},
          {"environment", environment},
          {"points", std::move(points)}};
}

bool is_counts_document(const Json& document) {
  return document.is_object() && document.value("kind", Json()) == kCountsKind;
}

CountedRun parse_counted(const Json& document, const std::string& name) {
  const Node root{document, "", name};
  static constexpr std::array kKeys{std::string_view{"schema"}, std::string_view{"kind"},
                                    std::string_view{"config"}, std::string_view{"environment"},
                                    std::string_view{"points"}};
  root.check_keys(kKeys);
  root.at("schema").integer(1, 1);
  if (!root.at("environment").is_object()) root.at("environment").expected("an object");
  CountedRun run{.file = name, .environment = root.at("environment").json()};
  for (const Node& entry : root.at("points").elements()) {
    CountedPoint point{.status = entry.at("status").string()};
    if (const Node reason = entry.at("reason"); !reason.is_null()) point.reason = reason.string();
    if (const Node counts = entry.at("counts"); !counts.is_null())
      for (const auto& [metric, count] : counts.members())
        point.counts[metric] = count.integer(0, std::numeric_limits<std::uint64_t>::max());
    if (!run.points.try_emplace(read_identity(entry), std::move(point)).second)
      entry.fail("the point is there twice");
  }
  return run;
}

}  // namespace reduce_bench
