#include "kernels/platform/opencl_queue.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <iterator>
#include <new>

namespace reduce_bench::opencl {
namespace {

std::string name_of_error(cl_int code) {
  switch (code) {
#define NAMED(error) \
  case error: return #error;
    NAMED(CL_DEVICE_NOT_FOUND)
    NAMED(CL_DEVICE_NOT_AVAILABLE)
    NAMED(CL_COMPILER_NOT_AVAILABLE)
    NAMED(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    NAMED(CL_OUT_OF_RESOURCES)
    NAMED(CL_OUT_OF_HOST_MEMORY)
    NAMED(CL_PROFILING_INFO_NOT_AVAILABLE)
    NAMED(CL_BUILD_PROGRAM_FAILURE)
    NAMED(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    NAMED(CL_INVALID_VALUE)
    NAMED(CL_INVALID_DEVICE)
    NAMED(CL_INVALID_CONTEXT)
    NAMED(CL_INVALID_COMMAND_QUEUE)
    NAMED(CL_INVALID_MEM_OBJECT)
    NAMED(CL_INVALID_BUILD_OPTIONS)
    NAMED(CL_INVALID_KERNEL_NAME)
    NAMED(CL_INVALID_ARG_INDEX)
    NAMED(CL_INVALID_ARG_VALUE)
    NAMED(CL_INVALID_ARG_SIZE)
    NAMED(CL_INVALID_KERNEL_ARGS)
    NAMED(CL_INVALID_WORK_GROUP_SIZE)
    NAMED(CL_INVALID_GLOBAL_WORK_SIZE)
    NAMED(CL_INVALID_BUFFER_SIZE)
    NAMED(CL_INVALID_OPERATION)
#undef NAMED
    case CL_PLATFORM_NOT_FOUND_KHR: return "CL_PLATFORM_NOT_FOUND_KHR";
    default: return "error " + std::to_string(code);
  }
}

/// The id as a name in OpenCL C.
std::string function_of(std::string_view id) {
  std::string name(id);
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '/' || c == '-'; }, '_');
  return name;
}

/// Whether the word stands in a list separated by blanks.
bool lists(const std::string& words, std::string_view word) {
  return (" " + words + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

}  // namespace

OpenclError::OpenclError(cl_int status, const std::string& what)
    : std::runtime_error(what + " failed: " + name_of_error(status)), code(status) {}

Queue::Queue(cl::Device device)
    : device_(std::move(device)),
      name_(device_.getInfo<CL_DEVICE_NAME>()),
      extensions_(device_.getInfo<CL_DEVICE_EXTENSIONS>()),
      local_bytes_(device_.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>()),
      most_work_items_(device_.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>()),
      largest_buffer_bytes_(device_.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>()),
      context_(device_),
      queue_(context_, device_, CL_QUEUE_PROFILING_ENABLE) {}

Queue::~Queue() {
  while (!memory_.empty()) release(const_cast<std::byte*>(memory_.begin()->first));
}

std::byte* Queue::allocate(std::size_t size_bytes) {
  if (size_bytes > largest_buffer_bytes_)
    throw DeviceLacks("needs a buffer of " + std::to_string(size_bytes) + " bytes, " + name_ +
                      " allows " + std::to_string(largest_buffer_bytes_));
  Allocation allocation{.size_bytes = size_bytes};
  checked("allocating " + std::to_string(size_bytes) + " bytes on " + name_, [&] {
    allocation.buffer =
        cl::Buffer(context_, CL_MEM_READ_WRITE, std::max<std::size_t>(size_bytes, 1));
    // Memory may be given only at the first use, which must not be a timed one.
    queue_.enqueueMigrateMemObjects({allocation.buffer}, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED);
    queue_.finish();
  });
  // A byte more, so that the end of one range is not the beginning of the next.
  allocation.reserved_bytes = size_bytes + 1;
  void* const range = mmap(nullptr, allocation.reserved_bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) throw std::bad_alloc();
  auto* const address = static_cast<std::byte*>(range);
  memory_.emplace(address, std::move(allocation));
  allocated_bytes_ += size_bytes;
  return address;
}

void Queue::release(std::byte* address) noexcept {
  const auto found = memory_.find(address);
  if (found == memory_.end()) return;
  allocated_bytes_ -= found->second.size_bytes;
  munmap(address, found->second.reserved_bytes);
  memory_.erase(found);
}

std::optional<Queue::Place> Queue::find(const void* address) const {
  const auto* const at = static_cast<const std::byte*>(address);
  auto after = memory_.upper_bound(at);
  if (after == memory_.begin()) return std::nullopt;
  const auto& [first, allocation] = *std::prev(after);
  const auto offset_bytes = static_cast<std::size_t>(at - first);
  if (offset_bytes > allocation.size_bytes) return std::nullopt;
  return Place{allocation.buffer, offset_bytes};
}

Queue::Place Queue::place_of(const void* address) const {
  if (auto place = find(address)) return *std::move(place);
  throw std::logic_error("an address that is not of " + name_ + "'s memory");
}

BuiltKernel& Queue::kernel(const KernelSource& source) {
  std::string key = std::string(source.id) + '\n' + source.options;
  if (const auto known = kernels_.find(key); known != kernels_.end()) return known->second;
  for (const std::string_view extension : source.extensions)
    if (!lists(extensions_, extension))
      throw DeviceLacks("needs the extension " + std::string(extension) + ", which " + name_ +
                        " lacks");
  const std::string function = function_of(source.id);
  const std::string what =
      "building " + std::string(source.id) + " for " + name_ + " (" + source.options + ")";
  // The compiler's messages then name the file and its lines.
  const std::string text = "#line 1 \"opencl.cl\"\n" + std::string(source.prelude) + "#line 1 \"" +
                           std::string(source.id) + ".cl\"\n" + std::string(source.text);
  cl::Program program(context_, text);
  try {
    program.build({device_}, source.options.c_str());
  } catch (const cl::BuildError& error) {
    std::string log;
    for (const auto& [unused, of_device] : error.getBuildLog()) log += of_device;
    throw OpenclError(error.err(), what + "\n" + log + "\nthe build");
  } catch (const cl::Error& error) {
    throw OpenclError(error.err(), what);
  }
  return checked(what, [&]() -> BuiltKernel& {
    BuiltKernel built{.kernel = cl::Kernel(program, function.c_str())};
    built.most_work_items = std::min<std::size_t>(
        most_work_items_, built.kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device_));
    return kernels_.emplace(std::move(key), std::move(built)).first->second;
  });
}

void Queue::launch(BuiltKernel& built, const NDRange& range) {
  if (range.work_items > built.most_work_items)
    throw DeviceLacks("needs work-groups of " + std::to_string(range.work_items) + " work-items, " +
                      name_ + " runs this kernel with at most " +
                      std::to_string(built.most_work_items));
  if (range.local_bytes > local_bytes_)
    throw DeviceLacks("needs " + std::to_string(range.local_bytes) + " bytes of local memory, " +
                      name_ + " has " + std::to_string(local_bytes_));
  checked("launching " + std::to_string(range.work_groups) + " work-groups on " + name_, [&] {
    queue_.enqueueNDRangeKernel(built.kernel, cl::NullRange,
                                cl::NDRange(range.work_groups * range.work_items),
                                cl::NDRange(range.work_items), nullptr, event());
  });
  keep_first();
}

void Queue::copy(void* to, const void* from, std::size_t size_bytes) {
  const Place target = place_of(to), source = place_of(from);
  checked("copying memory of " + name_, [&] {
    queue_.enqueueCopyBuffer(source.buffer, target.buffer, source.offset_bytes, target.offset_bytes,
                             size_bytes, nullptr, event());
  });
  keep_first();
}

void Queue::finish() {
  checked("waiting for " + name_, [&] { queue_.finish(); });
}

void Queue::start_timing() {
  first_ = last_ = {};
  timing_ = true;
}

void Queue::keep_first() {
  if (timing_ && first_() == nullptr) first_ = last_;
}

std::optional<double> Queue::elapsed_ns() {
  timing_ = false;
  const cl::Event first = std::exchange(first_, {}), last = std::exchange(last_, {});
  if (first() == nullptr) return std::nullopt;
  return checked("reading the times of " + name_, [&] {
    const cl_ulong start = first.getProfilingInfo<CL_PROFILING_COMMAND_START>();
    const cl_ulong end = last.getProfilingInfo<CL_PROFILING_COMMAND_END>();
    return end > start ? static_cast<double>(end - start) : 0.0;
  });
}

}  // namespace reduce_bench::opencl
