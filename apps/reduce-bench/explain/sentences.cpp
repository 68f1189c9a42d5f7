#include "explain/sentences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "common/text.hpp"
#include "explain/model.hpp"

namespace reduce_bench {
namespace {

constexpr double kMovedBy = 1.05;       ///< what differs by less has not moved
constexpr double kSameTime = 1.02;      ///< times whose ratio is within it, or noise, are the same
constexpr double kAgrees = 1.1;         ///< how near to the measured ratio the model's must come
constexpr double kLeastOfTime = 0.5;    ///< a need below this share of the time is no cause of it
constexpr double kMostOfTime = 1.1;     ///< a need beyond this share of the time refutes the model
constexpr std::size_t kShownMoves = 5;  ///< a sentence can be read

/// What a sentence can tell of a point.
struct Quantity {
  enum class Kind { kTotal, kMean, kShare };
  std::string_view name;
  Kind kind = Kind::kTotal;
  std::optional<double> (*of)(const Evidence&) = nullptr;
  bool tells_unchanged = false;  ///< worth a word also where it did not move
};

std::optional<double> quotient(std::optional<double> of, std::optional<double> by) {
  return of && by && *by > 0 ? std::optional(*of / *by) : std::nullopt;
}
std::optional<double> either(std::optional<double> first, std::optional<double> second) {
  return first ? first : second;
}

using Kind = Quantity::Kind;
constexpr std::array kQuantities{
    Quantity{"instructions", Kind::kTotal,
             [](const Evidence& e) { return e.sum({"instructions_issued"}); }, true},
    Quantity{"bytes of device memory", Kind::kTotal,
             [](const Evidence& e) { return e.sum({"dram_read_bytes", "dram_written_bytes"}); },
             true},
    Quantity{"sectors of L2", Kind::kTotal,
             [](const Evidence& e) {
               return e.sum({"l2_read_sectors", "l2_written_sectors", "l2_atomic_sectors"});
             }},
    Quantity{"requests of memory", Kind::kTotal,
             [](const Evidence& e) { return e.sum({"requests"}); }},
    Quantity{
        "sectors of global memory", Kind::kTotal,
        [](const Evidence& e) { return e.sum({"global_load_sectors", "global_store_sectors"}); },
        true},
    Quantity{"wavefronts of shared memory", Kind::kTotal,
             [](const Evidence& e) {
               return e.sum({"shared_load_wavefronts", "shared_store_wavefronts"});
             }},
    Quantity{"bank conflicts", Kind::kTotal,
             [](const Evidence& e) { return e.sum({"bank_conflicts"}); }},
    Quantity{"atomics", Kind::kTotal,
             [](const Evidence& e) {
               return either(e.sum({"global_atomics", "shared_atomics"}),
                             e.sum({"global_atomic_requests", "shared_atomic_requests"}));
             }},
    Quantity{"most atomics on one address", Kind::kMean,
             [](const Evidence& e) { return e.sum({"most_atomics_on_one_address"}); }},
    Quantity{"barriers", Kind::kTotal, [](const Evidence& e) { return e.sum({"barriers"}); }},
    Quantity{"barriers of a warp", Kind::kTotal,
             [](const Evidence& e) { return e.sum({"warp_barriers"}); }},
    Quantity{"shuffles and votes", Kind::kTotal,
             [](const Evidence& e) { return e.sum({"shuffles", "votes"}); }},
    Quantity{"lanes in an instruction", Kind::kMean,
             [](const Evidence& e) {
               return quotient(e.sum({"thread_instructions"}), e.sum({"instructions_executed"}));
             }},
    Quantity{
        "lanes in a request", Kind::kMean,
        [](const Evidence& e) { return quotient(e.sum({"active_lanes"}), e.sum({"requests"})); }},
    Quantity{"sectors in a load", Kind::kMean,
             [](const Evidence& e) {
               return quotient(e.sum({"global_load_sectors"}), e.sum({"global_load_requests"}));
             }},
    Quantity{"hit rate of L2", Kind::kShare,
             [](const Evidence& e) {
               return quotient(e.sum({"l2_hit_sectors"}),
                               e.sum({"l2_hit_sectors", "l2_missed_sectors"}));
             }},
    Quantity{"occupancy", Kind::kShare, [](const Evidence& e) {
               return quotient(e.sum({"warp_cycles"}), e.sum({"warp_slot_cycles"}));
             }}};

/// `40,840`.
std::string grouped(double count) {
  std::string digits = fmt::format("{:.0f}", count);
  for (std::size_t end = digits.size(); end > 3;) digits.insert(end -= 3, 1, ',');
  return digits;
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

/// Ratio of the larger to the smaller: what is in one place only moved without bound.
double moved_by(double from, double to) {
  if (from == to) return 1;
  const auto [less, more] = std::minmax(from, to);
  return less > 0 ? more / less : std::numeric_limits<double>::infinity();
}

bool per_element(const Evidence& e, const Quantity& quantity) {
  return quantity.kind == Kind::kTotal && e.counted_by == CountedBy::kGpu && e.point.n > 0;
}

std::string value_text(const Evidence& e, const Quantity& quantity, double value) {
  if (quantity.kind == Kind::kShare) return percent(value);
  if (per_element(e, quantity))
    return fmt::format("{:.3g}", value / static_cast<double>(e.point.n));
  if (quantity.kind == Kind::kTotal) return grouped(value);
  return value < 1000 ? fmt::format("{:.3g}", value) : grouped(value);
}

/// Whether a share differs by a hundredth, which is what is shown of it.
bool differs_visibly(const Quantity& quantity, double before, double after) {
  return quantity.kind != Kind::kShare || std::abs(after - before) >= 0.01;
}

/// Whether a total is large enough to matter: one for a thousand elements.
bool matters(const Evidence& e, const Quantity& quantity, double value) {
  return quantity.kind != Kind::kTotal || value * 1000 >= static_cast<double>(e.point.n);
}

/// A sentence of the list; nothing of an empty one.
std::string listed(std::string_view before, const std::vector<std::string>& parts) {
  if (parts.empty()) return {};
  std::string text = fmt::format("{}{}.", before, fmt::join(parts, ", "));
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

/// What moved, the most first, and what did not and is worth a word.
std::vector<std::string> count_sentences(const Evidence& from, const Evidence& to) {
  if (from.counted_by != to.counted_by) return {};
  std::vector<std::pair<double, std::string>> moves;
  std::vector<std::string> unchanged;
  for (const Quantity& quantity : kQuantities) {
    const auto before = quantity.of(from), after = quantity.of(to);
    if (!before || !after) continue;
    const std::string name =
        fmt::format("{}{}", quantity.name, per_element(to, quantity) ? " per element" : "");
    const std::string now = value_text(to, quantity, *after);
    if (const double factor = moved_by(*before, *after); factor > kMovedBy) {
      if (differs_visibly(quantity, *before, *after) &&
          (matters(from, quantity, *before) || matters(to, quantity, *after)))
        moves.emplace_back(
            factor, fmt::format("{} {} to {}", name, value_text(from, quantity, *before), now));
    } else if (quantity.tells_unchanged) {
      unchanged.push_back(fmt::format("{} {}", name, now));
    }
  }
  std::stable_sort(moves.begin(), moves.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (moves.size() > kShownMoves) moves.resize(kShownMoves);
  std::vector<std::string> moved;
  for (auto& [unused, text] : moves) moved.push_back(std::move(text));
  std::vector<std::string> sentences;
  for (const std::string& sentence :
       {listed("", moved), listed("unchanged within 5 %: ", unchanged)})
    if (!sentence.empty()) sentences.push_back(sentence);
  if (moved.empty() && from.counted_by != CountedBy::kNobody)
    sentences.insert(sentences.begin(), "No count moved.");
  return sentences;
}

std::string time_clause(const Evidence& from, const Evidence& to, const Limits& limits) {
  if (!from.time_ns || !to.time_ns) return {};
  const double ratio = *from.time_ns / *to.time_ns;
  const std::string times =
      fmt::format("{} to {}", duration_text(*from.time_ns), duration_text(*to.time_ns));
  if (moved_by(*from.time_ns, *to.time_ns) <= std::max(kSameTime, 1 + limits.noise_floor))
    return fmt::format("as fast ({})", times);
  return fmt::format("{:.2f} times {} ({})", std::max(ratio, 1 / ratio),
                     ratio > 1 ? "faster" : "slower", times);
}

/// Whether the need is a part of the time that can be called its cause.
bool accounts(const Need& need) { return need.share >= kLeastOfTime && need.share <= kMostOfTime; }

/// What binds a point, in a clause; empty where nothing is known of it.
std::string binding_clause(const Evidence& evidence, const Limits& limits) {
  const std::vector<Need> all = needs(evidence, limits);
  const auto most = binding(all);
  if (!most) return {};
  const std::string& variant = evidence.point.variant;
  if (most->share > kMostOfTime)
    return fmt::format("the model does not hold for {}, which took less than its need of {}",
                       variant, name_of(most->resource));
  if (most->share < kLeastOfTime)
    return fmt::format("nothing counted accounts for half of the time of {} (the most is {}, {})",
                       variant, name_of(most->resource), percent(most->share));
  // Which of two needs is the larger is not known where they differ by less than counts do.
  std::vector<std::string_view> names{name_of(most->resource)};
  for (const Need& need : all)
    if (need.resource != most->resource && need.resource != Resource::kLatency &&
        need.ns <= most->ns && moved_by(need.ns, most->ns) <= kMovedBy)
      names.push_back(name_of(need.resource));
  std::string clause = fmt::format("{} binds {} ({} of its time)", fmt::join(names, " or "),
                                   variant, percent(most->share));
  if (const auto wait = longest_wait(evidence); wait && most->resource == Resource::kLatency)
    clause +=
        fmt::format(", whose warps waited {} of theirs for {}", percent(wait->share), wait->reason);
  return clause;
}

/// Whether the times that the model gives stand in the measured ratio.
std::string model_sentence(const Evidence& from, const Evidence& to, const Limits& limits) {
  const auto before = binding(needs(from, limits)), after = binding(needs(to, limits));
  if (!before || !after || !accounts(*before) || !accounts(*after)) return {};
  const double measured = *from.time_ns / *to.time_ns, given = before->ns / after->ns;
  if (moved_by(measured, given) <= kAgrees)
    return fmt::format("What binds them needs {:.2f} times as long before: the ratio of the times.",
                       given);
  return fmt::format(
      "What binds them needs {:.2f} times as long before: the counts do not explain the step.",
      given);
}

}  // namespace

std::string explain_step(const Evidence& from, const Evidence& to, const Limits& limits) {
  std::vector<std::string> sentences = count_sentences(from, to);
  std::vector<std::string> clauses;
  for (const Evidence* each : {&from, &to})
    if (std::string clause = binding_clause(*each, limits); !clause.empty())
      clauses.push_back(std::move(clause));
  if (!clauses.empty()) {
    std::string text = fmt::format("{}.", fmt::join(clauses, "; "));
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    sentences.push_back(std::move(text));
  }
  if (std::string sentence = model_sentence(from, to, limits); !sentence.empty())
    sentences.push_back(std::move(sentence));
  const std::string time = time_clause(from, to, limits);
  std::string text = fmt::format("{} to {}{}{}\n", from.point.variant, to.point.variant,
                                 time.empty() ? "" : ": ", time);
  for (const std::string& sentence : sentences) text += fmt::format("  {}\n", sentence);
  return text;
}

std::string explain_steps(std::span<const Evidence> sequence, const Limits& limits) {
  PointIdentity problem = sequence.front().point;
  problem.variant.clear();
  problem.params = {};
  std::string text = printable(problem.line().substr(1)) + '\n';  // no variant stands first
  for (std::size_t i = 1; i < sequence.size(); ++i)
    text += fmt::format("\n{}", explain_step(sequence[i - 1], sequence[i], limits));
  std::vector<double> shares;
  for (const Evidence& each : sequence)
    if (const auto most = binding(needs(each, limits))) shares.push_back(most->share);
  std::sort(shares.begin(), shares.end());
  const std::size_t middle = shares.size() / 2;
  if (!shares.empty())
    text += fmt::format("\nThe model accounts for {} of the time in the median of {}, {} to {}.\n",
                        percent(shares.size() % 2 == 1 ? shares[middle]
                                                       : (shares[middle - 1] + shares[middle]) / 2),
                        counted(shares.size(), "point"), percent(shares.front()),
                        percent(shares.back()));
  for (const Evidence& each : sequence) {
    if (each.counted_by == CountedBy::kEmulator) {
      text += "\nThe emulator counted; it times nothing, so its counts name no cause.\n";
      break;
    }
    if (each.counted_by == CountedBy::kNobody) {
      text += fmt::format("\nNot counted: {}.\n", printable(each.uncounted));
      break;
    }
  }
  return text;
}

}  // namespace reduce_bench
