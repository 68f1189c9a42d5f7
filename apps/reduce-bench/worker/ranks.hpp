// The ranks of a run that mpirun started (docs/adr/0019-ranks.md). Their workers are a job of
// mpirun of their own, which the driver starts anew where one of them ended.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/api/types.hpp"

namespace reduce_bench {

/// The processes that mpirun started together with this one.
struct Ranks {
  unsigned count = 1;
  std::string hosts;  ///< as mpirun's --host has them; empty: all are on this machine
};

/// Whether mpirun started this process, with others.
bool are_ranks_started();
/// Tells all of them where each is. From here on this process is the driver if it is rank 0; the
/// others have nothing left to do. Throws UsageError where MPI cannot be used.
struct Meeting {
  bool is_driver = true;
  Ranks ranks;
};
Meeting meet_ranks();

/// Becomes mpirun, which starts this program as ranks with these arguments and dies with the driver
/// `parent`. Throws UsageError where it cannot.
[[noreturn]] void start_ranks(const Ranks& ranks, int parent,
                              const std::vector<std::string>& arguments);

/// Says in a clause which rank ended a job of mpirun and how, by what mpirun printed. Where that does
/// not say, the clause is that mpirun `ended`.
std::string how_ranks_ended(std::string_view printed, const std::string& ended);

/// Lets this worker say on a signal, which mpirun passes to all ranks, whether it waits for others.
void tell_on_signal();
/// Says in a clause which of so many ranks the others wait for, by what they said then.
std::string ranks_at_work(std::string_view printed, unsigned count);
/// Whether every one of so many ranks has said it.
bool all_ranks_told(std::string_view printed, unsigned count);

}  // namespace reduce_bench
