#include "point/check.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "common/text.hpp"

namespace reduce_bench {
namespace {

std::string misalignment(const Lead& lead) {
  if (lead == Lead{}) return {};
  if (lead.values == lead.labels) return fmt::format(" misaligned by {}", lead.values);
  return fmt::format(" with values misaligned by {} and labels by {}", lead.values, lead.labels);
}

/// How often the emulator reschedules a case whose defect is a race before it counts as not shown.
constexpr unsigned kRaceSeeds = 40;

/// What of a defect's reason is the same for all problems: no numbers, nothing in brackets.
std::string without_numbers(const std::string& text) {
  std::string kept;
  for (const char c : text.substr(0, text.find('(')))
    if (c < '0' || c > '9') kept += c;
  return kept;
}

/// Whether a documented defect made the result wrong, or left none.
bool shows_defect(const Record& record) {
  return record.known_wrong && (record.status == Status::kFailed ||
                                (record.verification && !record.verification->passed_before));
}

class Checker {
 public:
  Checker(const Subject& subject, const Execute& execute)
      : subject_(subject),
        variant_(subject.variant()),
        emulated_(subject.backend == Backend::kEmu),
        execute_(execute) {}

  void check(const Case& c) {
    std::string setting;
    for (const auto& entry : c.point.params.entries())
      setting += fmt::format(" {}={}", entry.name, entry.value);
    Setting& of = settings_[setting];
    const unsigned schedules =
        emulated_ && subject_.full && c.point.n < large_size(Backend::kEmu) ? 3 : 1;
    for (unsigned seed = 1; seed <= schedules; ++seed)
      // A second call accesses what the first did; only its result may differ.
      of.ran |= check_once(
          c, of.why_skipped,
          {.timed = false,
           .lead = c.lead,
           .check_determinism = !subject_.races && !kSanitized,
           .emu_seed = seed + c.point.index,
           .emu_sm_count = c.sm_count,
           .tracing = subject_.races ? std::optional(emu::Tracing::kRaces) : std::nullopt});
  }

  Tally conclude() {
    for (const auto& [setting, of] : settings_)
      if (!of.ran)
        tally_.failures.push_back(
            fmt::format("{}{}: every case was skipped, so nothing is known; the first: {}",
                        variant_.id, setting, of.why_skipped));
    // On hardware a race may never show; among the races looked for here not every defect is one.
    for (const auto& [reason, shown] : defects_)
      if (!shown && reschedules())
        tally_.failures.push_back(fmt::format(
            "{}: documented as wrong ({}), but every result was right", variant_.id, reason));
    return std::move(tally_);
  }

 private:
  /// Whether a defect is looked for under one schedule after another.
  bool reschedules() const { return emulated_ && !subject_.races; }

  /// Whether the case ran, or cannot on this device, rather than being skipped.
  bool check_once(const Case& c, std::string& why_skipped, ExecuteOptions options) {
    Record record = execute_(c.point, options);
    const auto defect = variant_.defect != nullptr && record.status != Status::kSkipped
                            ? variant_.defect(c.problem(subject_.traits))
                            : std::nullopt;
    if (defect) {
      bool& shown = defects_[without_numbers(defect->reason)];
      for (unsigned again = 0;
           reschedules() && !shown && !shows_defect(record) && again < kRaceSeeds; ++again) {
        options.emu_seed = 1000 + again;
        record = execute_(c.point, options);
      }
      shown = shown || shows_defect(record);
      if (record.known_wrong) {
        ++tally_.known_wrong;
        return true;
      }
    }
    if (record.status == Status::kSkipped) {
      ++tally_.skipped;
      if (why_skipped.empty()) why_skipped = record.reason;
      if (record.device_lacks) tally_.lacks.insert(record.reason);
      return record.device_lacks;  // nothing else could be known here
    }
    if (record.status == Status::kOk) {
      ++tally_.passed;
      if (record.verification->deterministic == false) tally_.deterministic = false;
    } else {
      tally_.failures.push_back(
          fmt::format("{}{}{}{}: {}", describe(c.point), misalignment(c.lead),
                      c.sm_count ? fmt::format(" with {}", counted(*c.sm_count, "SM")) : "",
                      emulated_ ? fmt::format(" with scheduling seed {}", *options.emu_seed) : "",
                      record.reason));
    }
    return true;
  }

  const Subject& subject_;
  const Variant& variant_;
  const bool emulated_;
  const Execute& execute_;
  Tally tally_;
  std::map<std::string, bool> defects_;  ///< reason without numbers -> shown at least once
  struct Setting {
    bool ran = false;
    std::string why_skipped;  ///< of the first case
  };
  std::map<std::string, Setting> settings_;  ///< parameters -> run at least once
};

}  // namespace

std::vector<Case> all_cases(const Subject& subject) {
  std::vector<Case> cases;
  const Variant& variant = subject.variant();
  for (std::size_t t = 0; t < kTypeCount; ++t)
    for (std::size_t o = 0; o < kOpCount; ++o)
      if (variant.enqueue[t][o] != nullptr)
        for (Case& c : cases_of(subject, static_cast<Type>(t), static_cast<Op>(o)))
          cases.push_back(std::move(c));
  return cases;
}

Tally check_variant(const Subject& subject, const Execute& execute,
                    const std::function<void(const Case&)>& ended) {
  Checker checker(subject, execute);
  for (const Case& c : all_cases(subject)) {
    checker.check(c);
    ended(c);
  }
  return checker.conclude();
}

}  // namespace reduce_bench
