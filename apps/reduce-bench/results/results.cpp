#include "results/results.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <iterator>
#include <limits>
#include <sstream>

#include "common/error.hpp"
#include "common/inputs.hpp"
#include "common/names.hpp"
#include "compare/runs.hpp"

namespace reduce_bench {
namespace {

[[noreturn]] void fail_io(const std::filesystem::path& file, const char* action) {
  throw UsageError(
      fmt::format("cannot {} '{}': {}", action, file.string(),
                  reason_and_advice(errno, "choose another place with -o or free space")));
}

[[noreturn]] void fail_damaged(const std::filesystem::path& journal, const std::string& where) {
  throw UsageError(
      fmt::format("the journal '{}' is damaged at {}: run without --resume to start anew",
                  journal.string(), where));
}

void write_all(int descriptor, const std::filesystem::path& file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(descriptor, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail_io(file, "write");
    done += static_cast<std::size_t>(wrote);
  }
}

/// JSON has no infinities: an error that is not finite is told by `actual` alone.
Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json finite(const std::optional<double>& value) { return value ? finite(*value) : Json(nullptr); }

Json to_json(const Verification& v) {
  return {{"expected", v.expected.to_text()},
          {"actual", v.actual.to_text()},
          {"error_abs", finite(v.comparison.error_abs)},
          {"error_relative", finite(v.comparison.error_relative)},
          {"error_ulp", finite(v.comparison.error_ulp)},
          {"bound_abs", finite(v.bound_abs)},
          {"condition", finite(v.condition)},
          {"passed_before", v.passed_before},
          {"passed_after", v.passed_after ? Json(*v.passed_after) : Json(nullptr)},
          {"deterministic", v.deterministic ? Json(*v.deterministic) : Json(nullptr)},
          {"array", v.array},
          {"index", v.index},
          {"elements", v.elements},
          {"mismatches", v.mismatches}};
}

Json to_json(const Measurement& m, const Summary& s, bool keep_samples) {
  Json json{{"median_ns", s.median_ns},
            {"min_ns", s.min_ns},
            {"max_ns", s.max_ns},
            {"p25_ns", s.p25_ns},
            {"p75_ns", s.p75_ns},
            {"p95_ns", s.p95_ns},
            {"mean_ns", s.mean_ns},
            {"stddev_ns", s.stddev_ns},
            {"ci_low_ns", s.ci_low_ns},
            {"ci_high_ns", s.ci_high_ns},
            {"samples", m.samples_ns.size()},
            {"discarded", m.discarded},
            {"throttled", m.throttled},
            {"stopped_by", kStoppedByNames[index_of(m.stopped_by)]}};
  if (keep_samples) json["samples_ns"] = m.samples_ns;
  if (m.sm_clocks_mhz.empty()) {
    json["sm_clock_mhz"] = nullptr;
  } else {
    const Summary clocks = summarise(m.sm_clocks_mhz);
    json["sm_clock_mhz"] = {{"median", clocks.median_ns}, {"min", clocks.min_ns}};
  }
  return json;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const std::vector<Counter>& counters) {
  if (counters.empty()) return nullptr;
  Json json = Json::object();
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const std::string& why = counters[i].unavailable;
    json[std::string(kCounterNames.at(i))] = {
        {"count", or_null(counters[i].count)},
        {"unavailable", why.empty() ? Json(nullptr) : Json(why)}};
  }
  return json;
}

constexpr std::size_t kLeastStreamBytes = 16;  // one load of the widest kind
constexpr std::string_view kJournalStart = "{\"journal\":";

}  // namespace

std::optional<double> Ceilings::read_ns(std::size_t size_bytes) const {
  const std::size_t wanted = std::max(size_bytes, kLeastStreamBytes);
  const auto above = std::find_if(reads.begin(), reads.end(),
                                  [&](const Read& r) { return r.size_bytes >= wanted; });
  if (above == reads.end()) return std::nullopt;
  if (above->size_bytes == wanted) return above->median_ns;
  if (above == reads.begin()) return std::nullopt;
  const Read& below = *std::prev(above);
  const double part = static_cast<double>(wanted - below.size_bytes) /
                      static_cast<double>(above->size_bytes - below.size_bytes);
  return below.median_ns + part * (above->median_ns - below.median_ns);
}

std::vector<std::size_t> ceiling_sizes(std::vector<std::size_t> sizes_bytes) {
  for (std::size_t& size : sizes_bytes) size = std::max(size, kLeastStreamBytes);
  std::sort(sizes_bytes.begin(), sizes_bytes.end());
  std::vector<std::size_t> kept;
  for (const std::size_t size : sizes_bytes)
    if (kept.empty() || size - kept.back() >= kept.back() / 8 + 1) kept.push_back(size);
  if (!kept.empty() && kept.back() != sizes_bytes.back()) kept.push_back(sizes_bytes.back());
  return kept;
}

Ceilings measure_ceilings(Device& device, const std::vector<std::size_t>& sizes_bytes) {
  Ceilings ceilings;
  std::vector<std::size_t> fitting;
  for (const std::size_t size : sizes_bytes)  // half of the memory, so that the copy fits too
    if (2 * size <= device.free_bytes()) fitting.push_back(size);
  const std::vector<std::size_t> sizes = ceiling_sizes(std::move(fitting));
  if (sizes.empty()) return ceilings;

  const std::size_t largest = sizes.back();
  const Memory data = device.allocate(largest);
  // Random contents, as the variants read.
  const HostArray random = generate({.distribution = {},
                                     .type = Type::kI64,
                                     .op = Op::kSum,
                                     .n = std::min<std::size_t>(largest / 8 + 1, 1 << 23),
                                     .seed = 1});
  for (std::size_t done = 0; done < largest; done += random.size_bytes)
    device.upload(data.data() + done, random.bytes.get(),
                  std::min(random.size_bytes, largest - done));

  MeasurementSettings quick;
  quick.max_time_ms = 10;
  quick.relative_ci = 0.01;
  MeasurementSettings careful;
  careful.max_time_ms = 100;
  for (const std::size_t size : sizes) {
    Ceilings::Read best{.size_bytes = size};
    const auto shapes = device.read_shapes(data.data(), size);
    const StreamShape* fastest = nullptr;
    for (const StreamShape& shape : shapes) {
      const Work work{.enqueue = shape.enqueue};
      work.enqueue();
      device.synchronize();
      const double ns = summarise(measure(device, Mode::kCold, work, quick).samples_ns).median_ns;
      if (fastest == nullptr || ns < best.median_ns) {
        fastest = &shape;
        best.median_ns = ns;
      }
    }
    if (fastest == nullptr) continue;
    // Measured again: the least of many noisy medians would flatter.
    best.shape = fastest->name;
    best.median_ns =
        summarise(
            measure(device, Mode::kCold, Work{.enqueue = fastest->enqueue}, careful).samples_ns)
            .median_ns;
    ceilings.reads.push_back(best);
  }

  const Memory copy = device.allocate(largest);
  const Work copy_work{.enqueue = device.copy(copy.data(), data.data(), largest)};
  copy_work.enqueue();
  device.synchronize();
  ceilings.copy_bytes = 2 * largest;
  ceilings.copy_median_ns =
      summarise(measure(device, Mode::kCold, copy_work, careful).samples_ns).median_ns;
  const Work empty{.enqueue = device.empty_launch()};
  empty.enqueue();
  device.synchronize();
  ceilings.empty_launch_ns =
      summarise(measure(device, Mode::kCold, empty, careful).samples_ns).median_ns;
  return ceilings;
}

Json to_json(const Ceilings& ceilings) {
  Json reads = Json::array();
  for (const Ceilings::Read& read : ceilings.reads)
    reads.push_back({{"bytes", read.size_bytes},
                     {"median_ns", read.median_ns},
                     {"gb_per_s", static_cast<double>(read.size_bytes) / read.median_ns},
                     {"shape", read.shape}});
  Json copy = nullptr;
  if (ceilings.copy_bytes > 0)
    copy = {{"bytes", ceilings.copy_bytes},
            {"median_ns", ceilings.copy_median_ns},
            {"gb_per_s", static_cast<double>(ceilings.copy_bytes) / ceilings.copy_median_ns}};
  return {{"read", reads}, {"copy", copy}, {"empty_launch_ns", ceilings.empty_launch_ns}};
}

Ceilings ceilings_from_json(const Json& json) {
  static const std::string name = "the ceilings";
  const Node root{json, "", name};
  const auto bytes = [](const Node& node) {
    return node.integer(0, std::numeric_limits<std::size_t>::max());
  };
  Ceilings ceilings;
  for (const Node& read : root.at("read").elements(0))
    ceilings.reads.push_back({.size_bytes = bytes(read.at("bytes")),
                              .median_ns = read.at("median_ns").positive_ns(),
                              .shape = read.at("shape").string()});
  if (const Node copy = root.at("copy"); !copy.is_null()) {
    ceilings.copy_bytes = bytes(copy.at("bytes"));
    ceilings.copy_median_ns = copy.at("median_ns").positive_ns();
  }
  ceilings.empty_launch_ns = root.at("empty_launch_ns").number(0, kMostNs, false);
  return ceilings;
}

Json to_json(const Record& record, const Ceilings& ceilings, std::optional<double> peak_gb_per_s,
             bool keep_samples) {
  const Point& point = record.point;
  const Variant& variant = point.entry->variant;
  Json json{{"index", point.index},
            {"variant", variant.id},
            {"title", variant.title},
            {"paper", variant.source},
            {"fidelity", point.params.has("form") ? Json(point.params.text("form"))
                                                  : Json(name_of(variant.fidelity))},
            {"operation", name_of(variant.operation)},
            {"backend", name_of(point.backend)},
            {"n", point.n},
            {"buckets", has_labels(point.operation()) ? Json(point.buckets) : Json(nullptr)},
            {"type", name_of(point.type)},
            {"op", name_of(point.op)},
            {"distribution", to_json(point.distribution)},
            {"labels", has_labels(point.operation()) ? to_json(point.labels) : Json(nullptr)},
            {"seed", point.seed},
            {"input_checksum", nullptr},
            {"params", Json::object()},
            {"launch", nullptr},
            {"finish", variant.finish == Finish::kHost ? "host" : "device"},
            {"synchronous", variant.synchronous},
            {"primary_mode", name_of(point.measurement.modes.front())},
            {"status", name_of(record.status)},
            {"known_wrong", record.known_wrong},
            {"reason", record.reason.empty() ? Json(nullptr) : Json(record.reason)},
            {"verification", nullptr},
            {"timing", Json::object()},
            {"pages", nullptr},
            {"counters", to_json(record.counters)}};
  if (record.pages)
    json["pages"] = {{"bytes", record.pages->bytes},
                     {"huge_bytes", or_null(record.pages->huge_bytes)}};
  if (record.input_checksum)
    json["input_checksum"] = fmt::format("{:016x}", *record.input_checksum);
  for (const auto& entry : point.params.entries()) json["params"][entry.name] = entry.value;
  if (record.launch)
    json["launch"] = {{"kernels", record.launch->kernels},
                      {"grid", record.launch->grid},
                      {"block", record.launch->block},
                      {"shared_bytes", record.launch->shared_bytes},
                      {"registers", record.launch->registers}};
  if (record.verification) json["verification"] = to_json(*record.verification);

  const bool ran = record.verification.has_value();
  const std::size_t moved = record.traffic.read_bytes + record.traffic.written_bytes;
  json["bytes"] = ran ? Json(moved) : Json(nullptr);
  json["bytes_read"] = ran ? Json(record.traffic.read_bytes) : Json(nullptr);
  json["bytes_written"] = ran ? Json(record.traffic.written_bytes) : Json(nullptr);
  for (const char* key : {"gb_per_s", "items_per_s", "ns_per_item", "ceiling_share", "peak_share"})
    json[key] = nullptr;

  for (const Mode mode : point.measurement.modes) {
    const auto found = record.timing.find(mode);
    if (found == record.timing.end()) continue;
    const Summary summary = summarise(found->second.samples_ns);
    json["timing"][std::string(name_of(mode))] = to_json(found->second, summary, keep_samples);
    if (mode != point.measurement.modes.front()) continue;
    const double gb_per_s = static_cast<double>(moved) / summary.median_ns;
    json["gb_per_s"] = gb_per_s;
    json["items_per_s"] = static_cast<double>(point.n) / summary.median_ns * 1e9;
    if (point.n > 0) json["ns_per_item"] = summary.median_ns / static_cast<double>(point.n);
    const std::size_t input_bytes = point.arrays().input_bytes();
    // Against the input's bytes, not the variant's traffic: moving more must not look better.
    if (const auto ceiling_ns = ceilings.read_ns(input_bytes); ceiling_ns && mode == Mode::kCold)
      json["ceiling_share"] = *ceiling_ns / summary.median_ns;
    if (peak_gb_per_s) json["peak_share"] = gb_per_s / *peak_gb_per_s;
  }
  return json;
}

std::filesystem::path temporary_of(std::filesystem::path file) { return file += ".tmp"; }

void write_atomically(const std::filesystem::path& file, const std::string& text) {
  const std::filesystem::path temporary = temporary_of(file);
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) fail_io(file, "write");
  try {
    write_all(descriptor, file, text);
    if (::fsync(descriptor) != 0) fail_io(file, "write");
  } catch (...) {
    ::close(descriptor);
    ::unlink(temporary.c_str());
    throw;
  }
  if (::close(descriptor) != 0 || ::rename(temporary.c_str(), file.c_str()) != 0) {
    const int saved = errno;
    ::unlink(temporary.c_str());
    errno = saved;
    fail_io(file, "write");
  }
}

Journal::Journal(std::filesystem::path file, const Json& header, bool resume)
    : file_(std::move(file)) {
  const auto refuse = [&](const char* why) {
    ::close(descriptor_);
    throw UsageError(fmt::format(fmt::runtime(why), file_.string()));
  };
  // A run that ends just now removes its journal: a lock on what is no longer there is worth
  // nothing.
  struct stat opened{}, named{};
  do {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ < 0) fail_io(file_, "write the journal");
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) fail_io(file_, "lock the journal");
      refuse("another run is writing '{}': choose another output with -o");
    }
    if (::fstat(descriptor_, &opened) != 0) fail_io(file_, "write the journal");
    if (!S_ISREG(opened.st_mode))
      refuse(
          "cannot write the journal '{}': it is not a regular file; remove it, or name another "
          "output with -o");
  } while (::stat(file_.c_str(), &named) != 0 || named.st_ino != opened.st_ino ||
           named.st_dev != opened.st_dev);
  std::ifstream stream(file_);
  if (!stream) fail_io(file_, "read the journal");
  // A kill may have cut off the header.
  std::string start(kJournalStart.size(), '\0');
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(stream.gcount()));
  if (!kJournalStart.starts_with(start))
    refuse(
        "'{}' exists and is not the journal of a run: remove it, or name another output with -o");
  stream.clear();
  stream.seekg(0);
  std::string line;
  std::size_t good_bytes = 0;
  if (!resume) {
    while (std::getline(stream, line) && !stream.eof())
      if (line.starts_with("{\"index\":")) ++overwritten_;
  } else {
    std::size_t number = 0;
    while (std::getline(stream, line)) {
      // The last line that a kill cut off has no newline or does not parse: that point runs again.
      if (stream.eof()) break;
      ++number;
      Json parsed;
      try {
        std::istringstream text(line);
        parsed = parse_document(text, file_.string());
      } catch (const UsageError&) {
        // What follows is not thrown away for it.
        if (std::getline(stream, line) && !stream.eof()) {
          ::close(descriptor_);
          fail_damaged(file_, fmt::format("line {}: not valid JSON", number));
        }
        break;
      }
      good_bytes += line.size() + 1;
      if (number == 1) {
        if (parsed != header) {
          refuse(
              "'{}' was written by another configuration, build or device: start anew without "
              "--resume, or run what wrote it");
        }
      } else {
        finished_.push_back(std::move(parsed));
      }
    }
  }
  if (::ftruncate(descriptor_, static_cast<off_t>(good_bytes)) != 0 ||
      ::lseek(descriptor_, 0, SEEK_END) < 0)
    fail_io(file_, "write the journal");
  if (good_bytes == 0) append(header);
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Journal::append(const Json& line) {
  write_all(descriptor_, file_, line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void Journal::remove() { std::filesystem::remove(file_); }

namespace {

/// What the tables and the document's readers rely on in the fields that only a run knows.
void check_outcome(const Node& line) {
  const auto status = static_cast<Status>(line.at("status").name(kStatusNames));
  line.at("known_wrong").boolean();
  if (const Node reason = line.at("reason"); !reason.is_null()) reason.string();
  const auto timing = line.at("timing").members();
  if (status == Status::kOk && timing.empty()) line.fail("'ok' without a time");
  for (const auto& [mode, summary] : timing) read_series(summary);
  for (const char* key : {"gb_per_s", "ceiling_share"})
    if (const Node share = line.at(key); !share.is_null()) share.number(0, 1e18, false);
}

/// The index of the point that the line is of, or nothing where it holds ceilings.
std::optional<std::size_t> restore_line(const Node& line, const std::vector<Point>& plan,
                                        Restored& restored) {
  if (line.has("ceilings")) {
    for (const auto& [name, ceilings] : line.at("ceilings").members()) {
      const auto backend = find_name(kBackendNames, name);
      if (!backend) line.fail(fmt::format("'{}' is no backend", name));
      restored.ceilings[static_cast<Backend>(*backend)] = ceilings_from_json(ceilings.json());
    }
    return std::nullopt;
  }
  const std::size_t index = line.at("index").integer(0, plan.size() - 1);
  // What a point that did not run would be written as has every field, and the right value in each
  // that identifies it.
  const Json expected = to_json(Record{.point = plan[index]}, Ceilings{}, std::nullopt, false);
  for (const auto& [key, value] : expected.items()) {
    const Node field = line.at(key);
    const bool identifies = key == "variant" || key == "backend" || key == "n" || key == "type" ||
                            key == "op" || key == "params" || key == "seed" ||
                            key == "distribution" || key == "buckets" || key == "labels" ||
                            key == "primary_mode";
    if (identifies && field.json() != value) field.fail("it is not of this plan");
  }
  check_outcome(line);
  return index;
}

}  // namespace

Restored restore(Journal& journal, const std::vector<Point>& plan) {
  Restored restored{.points = std::vector<Json>(plan.size())};
  std::size_t number = 1;  // the header's
  for (Json& line : journal.take_finished()) {
    const std::string where = fmt::format("line {}", ++number);
    try {
      if (const auto index = restore_line(Node{line, "", where}, plan, restored))
        restored.points[*index] = std::move(line);
    } catch (const UsageError& error) {
      fail_damaged(journal.file(), error.what());
    }
  }
  return restored;
}

}  // namespace reduce_bench
