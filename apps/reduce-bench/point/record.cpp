#include "point/record.hpp"

namespace reduce_bench {

void Record::merge(const Record& round) {
  for (const auto& [mode, measurement] : round.timing) timing[mode].merge(measurement);
  const bool excused = status == Status::kOk || (known_wrong && !round.known_wrong);
  if (excused && round.status != Status::kOk) {
    status = round.status;
    known_wrong = round.known_wrong;
    reason = round.reason;
    verification = round.verification;
  }
  if (!may_have_timing()) timing.clear();
}

}  // namespace reduce_bench
