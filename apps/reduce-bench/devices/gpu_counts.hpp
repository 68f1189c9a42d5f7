// What a record has of what a GPU counts, computed from the metrics of CUPTI.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "devices/counters.hpp"

namespace reduce_bench {

/// A count of a record, and the metrics of CUPTI whose sum it is. What the emulator counts as well
/// has the name that it has there (emu::Metric).
struct GpuCounter {
  std::string_view name;
  std::array<std::string_view, 2> metrics;
};
inline constexpr std::array kGpuCounters{
    GpuCounter{"dram_read_bytes", {"dram__bytes_read.sum"}},
    GpuCounter{"dram_written_bytes", {"dram__bytes_write.sum"}},
    GpuCounter{"l2_read_sectors", {"lts__t_sectors_srcunit_tex_op_read.sum"}},
    GpuCounter{"l2_written_sectors", {"lts__t_sectors_srcunit_tex_op_write.sum"}},
    GpuCounter{"l2_atomic_sectors",
               {"lts__t_sectors_srcunit_tex_op_atom.sum", "lts__t_sectors_srcunit_tex_op_red.sum"}},
    GpuCounter{"l2_hit_sectors", {"lts__t_sectors_srcunit_tex_lookup_hit.sum"}},
    GpuCounter{"l2_missed_sectors", {"lts__t_sectors_srcunit_tex_lookup_miss.sum"}},
    GpuCounter{"global_load_requests", {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"}},
    GpuCounter{"global_load_sectors", {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"}},
    GpuCounter{"global_store_requests", {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"}},
    GpuCounter{"global_store_sectors", {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"}},
    GpuCounter{"global_atomic_requests",
               {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
                "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"}},
    GpuCounter{"shared_load_requests", {"smsp__inst_executed_op_shared_ld_pred_on_any.sum"}},
    GpuCounter{"shared_load_wavefronts", {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"}},
    GpuCounter{"shared_store_requests", {"smsp__inst_executed_op_shared_st_pred_on_any.sum"}},
    GpuCounter{"shared_store_wavefronts", {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"}},
    GpuCounter{"bank_conflicts",
               {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"}},
    GpuCounter{"shared_atomic_requests", {"smsp__inst_executed_op_shared_atom.sum"}},
    GpuCounter{"l1_wavefronts", {"l1tex__data_pipe_lsu_wavefronts.sum"}},
    GpuCounter{"instructions_issued", {"smsp__inst_issued.sum"}},
    GpuCounter{"instructions_executed", {"smsp__inst_executed.sum"}},
    GpuCounter{"thread_instructions", {"smsp__thread_inst_executed.sum"}},
    GpuCounter{"busiest_sm_cycles", {"sm__cycles_active.max"}},
    GpuCounter{"scheduler_cycles", {"smsp__cycles_active.sum"}},
    GpuCounter{"warp_cycles", {"smsp__warps_active.sum"}}};

/// An SM has so many on every GPU that CUPTI's range profiler knows. Each issues an instruction per
/// cycle.
inline constexpr unsigned kSchedulersPerSm = 4;

/// How long the busiest of some parts of the GPU needs at its peak for what it did. CUPTI gives the
/// shares of their peaks.
struct BusyTime {
  std::string_view name;
  std::array<std::string_view, 4> shares;
};
inline constexpr std::string_view kL2BusyNs = "l2_busy_ns", kL1BusyNs = "l1_busy_ns",
                                  kArithmeticBusyNs = "arithmetic_busy_ns";
inline constexpr std::array kBusyTimes{
    BusyTime{kL2BusyNs, {"lts__throughput"}}, BusyTime{kL1BusyNs, {"l1tex__throughput"}},
    BusyTime{kArithmeticBusyNs,
             {"sm__pipe_alu_cycles_active", "sm__pipe_fma_cycles_active",
              "sm__pipe_fp64_cycles_active", "sm__inst_executed_pipe_xu"}}};

inline constexpr std::string_view kWarpSlotCycles = "warp_slot_cycles";

/// Counts those bytes written to device memory that the overwriting of L2 before a cold call left
/// there: a stream that only reads writes as much.
inline constexpr std::string_view kFlushWrittenBytes = "flush_written_bytes";

/// Why a warp did not issue, as CUPTI names it in smsp__warps_issue_stalled_<reason>.
inline constexpr std::array kStallReasons{std::string_view{"barrier"},
                                          std::string_view{"branch_resolving"},
                                          std::string_view{"dispatch_stall"},
                                          std::string_view{"drain"},
                                          std::string_view{"gmma"},
                                          std::string_view{"imc_miss"},
                                          std::string_view{"lg_throttle"},
                                          std::string_view{"long_scoreboard"},
                                          std::string_view{"math_pipe_throttle"},
                                          std::string_view{"membar"},
                                          std::string_view{"mio_throttle"},
                                          std::string_view{"misc"},
                                          std::string_view{"no_instruction"},
                                          std::string_view{"not_selected"},
                                          std::string_view{"short_scoreboard"},
                                          std::string_view{"sleeping"},
                                          std::string_view{"tex_throttle"},
                                          std::string_view{"wait"}};
inline constexpr std::string_view kStalledPrefix = "stalled_";

/// Metrics by CUPTI's names for them.
using MetricValues = std::map<std::string, double>;
/// All that the counts of a record are computed from.
std::vector<std::string> gpu_metrics();
/// The counts; those whose metrics are missing, because the GPU has none such, are unavailable.
/// `warp_slots` is how many warps a scheduler can hold.
std::vector<Counter> gpu_counts(const MetricValues& values, unsigned warp_slots);

/// The name of every count that a record can have.
std::vector<std::string> gpu_counter_names();

}  // namespace reduce_bench
