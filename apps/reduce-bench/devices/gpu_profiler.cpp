#include "devices/gpu_profiler.hpp"

#include <dlfcn.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "devices/gpu_counts.hpp"
#include "kernels/platform/loaded_library.hpp"

// The build that has CUDA says where the library lies.
#if defined(CUPTI_MAJOR) && __has_include(<cupti_range_profiler.h>)
#include <cuda.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#define REDUCE_BENCH_HAS_CUPTI
#endif

namespace reduce_bench {
namespace {

/// Why nothing can be counted, and what to change.
struct Unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace

#ifdef REDUCE_BENCH_HAS_CUPTI

namespace {

const LoadedLibrary& cupti() {
  // Where the linker looks, then where the toolkit is that this was compiled with. CUPTI hooks into
  // the driver and does not come out again.
  static const LoadedLibrary library{"libcupti.so." CUPTI_MAJOR, "libcupti.so",
                                     CUPTI_LIBRARY_DIR "/libcupti.so",
                                     CUPTI_LIBRARY_DIR "/../extras/CUPTI/lib64/libcupti.so"};
  return library;
}

template <class Function>
Function* cupti_function(const char* name) {
  Function* function = nullptr;
  if (!cupti().find(name, function))
    throw Unavailable(std::string("the CUPTI library has no ") + name +
                      ": install that of CUDA 12.6 or newer");
  return function;
}

std::string advice_for(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "the system lets only administrators count: run as root, or load the kernel module "
             "nvidia with NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return "another profiler holds the counters: end it, and run again";
    default: return {};
  }
}

/// Takes what is no success for unavailable.
void check(CUptiResult result, const char* name) {
  if (result == CUPTI_SUCCESS) return;
  if (const std::string advice = advice_for(result); !advice.empty()) throw Unavailable(advice);
  const char* text = nullptr;
  cupti_function<decltype(cuptiGetResultString)>("cuptiGetResultString")(result, &text);
  throw Unavailable(std::string(name) + " failed: " + (text != nullptr ? text : "unknown error"));
}

void require_cupti() {
  if (!cupti().is_there())
    throw Unavailable(
        "the CUPTI library is not there (libcupti.so): install that of the CUDA Toolkit, or name "
        "its folder in LD_LIBRARY_PATH");
}

/// Calls a function of CUPTI by its name.
#define CALL_CUPTI_WITH(name, ...) check(cupti_function<decltype(name)>(#name)(__VA_ARGS__), #name)
#define CALL_CUPTI(name, parameters) CALL_CUPTI_WITH(name, &parameters)

/// Zeroed parameters of a call, with their size as CUPTI wants it.
template <class Parameters>
Parameters parameters_of(std::size_t size_bytes) {
  Parameters parameters;
  std::memset(&parameters, 0, sizeof(parameters));
  parameters.structSize = size_bytes;
  return parameters;
}
#define PARAMETERS(type) parameters_of<type##_Params>(type##_Params_STRUCT_SIZE)

}  // namespace

/// What stays from call to call: the metrics that this chip has, scheduled in passes.
class GpuProfiler::Session {
 public:
  explicit Session(int ordinal) {
    require_cupti();
    auto initialise = PARAMETERS(CUpti_Profiler_Initialize);
    CALL_CUPTI(cuptiProfilerInitialize, initialise);
    auto support = PARAMETERS(CUpti_Profiler_DeviceSupported);
    support.cuDevice = ordinal;
    support.api = CUPTI_PROFILER_RANGE_PROFILING;
    CALL_CUPTI(cuptiProfilerDeviceSupported, support);
    if (support.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
      throw Unavailable(why_unsupported(support));
    auto chip = PARAMETERS(CUpti_Device_GetChipName);
    chip.deviceIndex = static_cast<std::size_t>(ordinal);
    CALL_CUPTI(cuptiDeviceGetChipName, chip);
    context_ = current_context();
    choose_metrics(chip.pChipName, counter_availability());
    auto enable = PARAMETERS(CUpti_RangeProfiler_Enable);
    enable.ctx = context_;
    CALL_CUPTI(cuptiRangeProfilerEnable, enable);
    profiler_ = enable.pRangeProfilerObject;
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  // Nothing is given back: the process ends when it has counted.

  MetricValues count(const std::function<void()>& prepare, const std::function<void()>& work) {
    configure();
    // More passes than the metrics of any chip need.
    for (int pass = 0; pass < 200; ++pass)
      if (run_pass(prepare, work)) return values();
    throw Unavailable("CUPTI asks for pass after pass without an end");
  }

 private:
  static std::string why_unsupported(const CUpti_Profiler_DeviceSupported_Params& support) {
    const auto refuses = [](CUpti_Profiler_Support_Level level) {
      return level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
             level == CUPTI_PROFILER_CONFIGURATION_DISABLED;
    };
    if (refuses(support.architecture))
      return "CUPTI's range profiler needs a GPU of compute capability 7.5 or higher";
    if (refuses(support.vGpu))
      return "this is a virtual GPU whose host does not let it be profiled: enable profiling there";
    if (refuses(support.confidentialCompute))
      return "confidential computing is on: counters can be read only without it";
    if (refuses(support.sli))
      return "the GPUs are coupled by SLI: counters can be read only without";
    if (refuses(support.wsl)) return "Windows forbids it: allow developers to read counters there";
    return "the driver does not let this GPU be profiled";
  }

  static CUcontext current_context() {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    auto* const get = reinterpret_cast<decltype(&cuCtxGetCurrent)>(
        driver != nullptr ? dlsym(driver, "cuCtxGetCurrent") : nullptr);
    CUcontext context = nullptr;
    if (get == nullptr || get(&context) != CUDA_SUCCESS || context == nullptr)
      throw Unavailable("no CUDA context is current");
    return context;
  }

  std::vector<std::uint8_t> counter_availability() const {
    auto available = PARAMETERS(CUpti_Profiler_GetCounterAvailability);
    available.ctx = context_;
    CALL_CUPTI(cuptiProfilerGetCounterAvailability, available);
    std::vector<std::uint8_t> image(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = image.data();
    CALL_CUPTI(cuptiProfilerGetCounterAvailability, available);
    return image;
  }

  void choose_metrics(const char* chip, const std::vector<std::uint8_t>& available) {
    auto host = PARAMETERS(CUpti_Profiler_Host_Initialize);
    host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    host.pChipName = chip;
    host.pCounterAvailabilityImage = available.data();
    CALL_CUPTI(cuptiProfilerHostInitialize, host);
    host_ = host.pHostObject;
    // A name that the chip lacks would spoil the whole configuration.
    const auto properties_of = cupti_function<decltype(cuptiProfilerHostGetMetricProperties)>(
        "cuptiProfilerHostGetMetricProperties");
    names_ = gpu_metrics();
    std::erase_if(names_, [&](const std::string& name) {
      auto properties = PARAMETERS(CUpti_Profiler_Host_GetMetricProperties);
      properties.pHostObject = host_;
      properties.pMetricName = name.c_str();
      return properties_of(&properties) != CUPTI_SUCCESS;
    });
    for (const std::string& name : names_) metrics_.push_back(name.c_str());
    auto add = PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics);
    add.pHostObject = host_;
    add.ppMetricNames = metrics_.data();
    add.numMetrics = metrics_.size();
    CALL_CUPTI(cuptiProfilerHostConfigAddMetrics, add);
    auto size = PARAMETERS(CUpti_Profiler_Host_GetConfigImageSize);
    size.pHostObject = host_;
    CALL_CUPTI(cuptiProfilerHostGetConfigImageSize, size);
    config_.resize(size.configImageSize);
    auto image = PARAMETERS(CUpti_Profiler_Host_GetConfigImage);
    image.pHostObject = host_;
    image.configImageSize = config_.size();
    image.pConfigImage = config_.data();
    CALL_CUPTI(cuptiProfilerHostGetConfigImage, image);
  }

  /// Empty counters, and the passes from the first.
  void configure() {
    auto size = PARAMETERS(CUpti_RangeProfiler_GetCounterDataSize);
    size.pRangeProfilerObject = profiler_;
    size.pMetricNames = metrics_.data();
    size.numMetrics = metrics_.size();
    size.maxNumOfRanges = 1;
    size.maxNumRangeTreeNodes = 1;
    CALL_CUPTI(cuptiRangeProfilerGetCounterDataSize, size);
    counters_.assign(size.counterDataSize, 0);
    auto empty = PARAMETERS(CUpti_RangeProfiler_CounterDataImage_Initialize);
    empty.pRangeProfilerObject = profiler_;
    empty.counterDataSize = counters_.size();
    empty.pCounterData = counters_.data();
    CALL_CUPTI(cuptiRangeProfilerCounterDataImageInitialize, empty);
    auto config = PARAMETERS(CUpti_RangeProfiler_SetConfig);
    config.pRangeProfilerObject = profiler_;
    config.configSize = config_.size();
    config.pConfig = config_.data();
    config.counterDataImageSize = counters_.size();
    config.pCounterDataImage = counters_.data();
    config.range = CUPTI_UserRange;
    config.replayMode = CUPTI_UserReplay;
    config.maxRangesPerPass = 1;
    config.numNestingLevels = 1;
    config.minNestingLevel = 1;
    config.targetNestingLevel = 1;
    CALL_CUPTI(cuptiRangeProfilerSetConfig, config);
  }

  /// Counts in one pass of several; returns whether it was the last.
  bool run_pass(const std::function<void()>& prepare, const std::function<void()>& work) {
    auto start = PARAMETERS(CUpti_RangeProfiler_Start);
    start.pRangeProfilerObject = profiler_;
    CALL_CUPTI(cuptiRangeProfilerStart, start);
    prepare();  // kernels outside the range are not counted
    auto push = PARAMETERS(CUpti_RangeProfiler_PushRange);
    push.pRangeProfilerObject = profiler_;
    push.pRangeName = "operation";
    CALL_CUPTI(cuptiRangeProfilerPushRange, push);
    work();
    auto pop = PARAMETERS(CUpti_RangeProfiler_PopRange);
    pop.pRangeProfilerObject = profiler_;
    CALL_CUPTI(cuptiRangeProfilerPopRange, pop);
    auto stop = PARAMETERS(CUpti_RangeProfiler_Stop);
    stop.pRangeProfilerObject = profiler_;
    CALL_CUPTI(cuptiRangeProfilerStop, stop);
    return stop.isAllPassSubmitted != 0;
  }

  MetricValues values() {
    auto decode = PARAMETERS(CUpti_RangeProfiler_DecodeData);
    decode.pRangeProfilerObject = profiler_;
    CALL_CUPTI(cuptiRangeProfilerDecodeData, decode);
    std::vector<double> found(metrics_.size());
    auto evaluate = PARAMETERS(CUpti_Profiler_Host_EvaluateToGpuValues);
    evaluate.pHostObject = host_;
    evaluate.pCounterDataImage = counters_.data();
    evaluate.counterDataImageSize = counters_.size();
    evaluate.ppMetricNames = metrics_.data();
    evaluate.numMetrics = metrics_.size();
    evaluate.pMetricValues = found.data();
    CALL_CUPTI(cuptiProfilerHostEvaluateToGpuValues, evaluate);
    MetricValues named;
    for (std::size_t i = 0; i < found.size(); ++i) named[names_[i]] = found[i];
    return named;
  }

  CUcontext context_ = nullptr;
  CUpti_Profiler_Host_Object* host_ = nullptr;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  std::vector<std::string> names_;
  std::vector<const char*> metrics_;  ///< the same, as CUPTI takes them
  std::vector<std::uint8_t> config_, counters_;
};

/// Keeps the code of every module that is loaded, as the driver has it, and the names of the kernels
/// that are launched.
class GpuProfiler::CodeWatch {
 public:
  CodeWatch() {
    require_cupti();
    CALL_CUPTI_WITH(cuptiSubscribe, &subscriber_, &CodeWatch::hear, this);
    try {
      CALL_CUPTI_WITH(cuptiEnableCallback, 1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE,
                      CUPTI_CBID_RESOURCE_MODULE_LOADED);
    } catch (...) {
      unsubscribe();
      throw;
    }
  }
  CodeWatch(const CodeWatch&) = delete;
  CodeWatch& operator=(const CodeWatch&) = delete;
  ~CodeWatch() { unsubscribe(); }

  MachineCode code(const std::function<void()>& work) {
    launched_.clear();
    hear_launches(true);
    try {
      work();
    } catch (...) {
      hear_launches(false);
      throw;
    }
    hear_launches(false);
    return machine_code(launched_, known_);
  }

 private:
  static constexpr CUpti_driver_api_trace_cbid kLaunches[] = {
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz};

  void unsubscribe() {
    if (decltype(&cuptiUnsubscribe) end = nullptr; cupti().find("cuptiUnsubscribe", end))
      end(subscriber_);
  }
  void hear_launches(bool on) {
    for (const auto launch : kLaunches)
      CALL_CUPTI_WITH(cuptiEnableCallback, on ? 1 : 0, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API,
                      launch);
  }

  /// Called by CUPTI within the call of the driver, which no exception may cross.
  static void CUPTIAPI hear(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId,
                            const void* data) noexcept {
    auto& watch = *static_cast<CodeWatch*>(self);
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
      const auto* const resource = static_cast<const CUpti_ResourceData*>(data);
      const auto* const module =
          static_cast<const CUpti_ModuleResourceData*>(resource->resourceDescriptor);
      if (module->pCubin != nullptr)
        add_kernels({reinterpret_cast<const std::byte*>(module->pCubin), module->cubinSize},
                    watch.known_);
      return;
    }
    const auto* const launch = static_cast<const CUpti_CallbackData*>(data);
    if (launch->callbackSite == CUPTI_API_ENTER)
      watch.launched_.emplace_back(launch->symbolName != nullptr ? launch->symbolName
                                                                 : "a kernel without a name");
  }

  CUpti_SubscriberHandle subscriber_ = nullptr;
  KernelCode known_;
  std::vector<std::string> launched_;
};

#else  // REDUCE_BENCH_HAS_CUPTI

constexpr const char* kNoHeaders =
    "this build lacks the headers of CUPTI's range profiler: install CUPTI with the CUDA Toolkit, "
    "and build again";

class GpuProfiler::Session {
 public:
  explicit Session(int) { throw Unavailable(kNoHeaders); }
  MetricValues count(const std::function<void()>&, const std::function<void()>&) { return {}; }
};

class GpuProfiler::CodeWatch {
 public:
  CodeWatch() { throw Unavailable(kNoHeaders); }
  MachineCode code(const std::function<void()>&) { return {}; }
};

#endif

GpuProfiler::GpuProfiler(int ordinal, unsigned warp_slots)
    : ordinal_(ordinal), warp_slots_(warp_slots) {}
GpuProfiler::~GpuProfiler() = default;

void GpuProfiler::watch_code() {
  if (watch_ || !unwatched_.empty()) return;
  try {
    watch_ = std::make_unique<CodeWatch>();
  } catch (const Unavailable& why) {
    unwatched_ = why.what();
  }
}

MachineCode GpuProfiler::code(const std::function<void()>& work) {
  if (!watch_) return {.unavailable = unwatched_};
  try {
    return watch_->code(work);
  } catch (const Unavailable& why) {
    return {.unavailable = why.what()};
  }
}

std::vector<Counter> GpuProfiler::count(const std::function<void()>& prepare,
                                        const std::function<void()>& work) {
  try {
    if (!session_) session_ = std::make_unique<Session>(ordinal_);
    return gpu_counts(session_->count(prepare, work), warp_slots_);
  } catch (const Unavailable& why) {
    return {Counter{.name = std::string(kAllCounters), .unavailable = why.what()}};
  }
}

}  // namespace reduce_bench
