// Defined in the executable, these functions come before the loader's of the same names. Each does
// what the loader's does and counts.
#include "opencl_objects.hpp"

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>

#include <atomic>

namespace {

struct Kind {
  const char* name;
  std::atomic<long> references{0};
};
Kind contexts{"context"}, queues{"queue"}, buffers{"buffer"}, programs{"program"},
    kernels{"kernel"}, events{"event"};
std::atomic<long> builds{0};

/// The loader's function of that name.
template <class Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

template <class Object>
Object made(Kind& kind, Object object) {
  if (object != nullptr) ++kind.references;
  return object;
}
cl_int with_event(cl_int status, const cl_event* event) {
  if (status == CL_SUCCESS && event != nullptr) ++events.references;
  return status;
}

}  // namespace

namespace reduce_bench {

std::map<std::string, long> opencl_objects_alive() {
  std::map<std::string, long> alive;
  for (const Kind* kind : {&contexts, &queues, &buffers, &programs, &kernels, &events})
    if (kind->references != 0) alive[kind->name] = kind->references;
  return alive;
}
long opencl_builds() { return builds; }

}  // namespace reduce_bench

#define REAL(function) real(&function, #function)
#define COUNTED(kind, type, Name)                        \
  cl_int clRetain##Name(type object) {                   \
    const cl_int status = REAL(clRetain##Name)(object);  \
    if (status == CL_SUCCESS) ++kind.references;         \
    return status;                                       \
  }                                                      \
  cl_int clRelease##Name(type object) {                  \
    const cl_int status = REAL(clRelease##Name)(object); \
    if (status == CL_SUCCESS) --kind.references;         \
    return status;                                       \
  }

extern "C" {

COUNTED(contexts, cl_context, Context)
COUNTED(queues, cl_command_queue, CommandQueue)
COUNTED(buffers, cl_mem, MemObject)
COUNTED(programs, cl_program, Program)
COUNTED(kernels, cl_kernel, Kernel)
COUNTED(events, cl_event, Event)

cl_context clCreateContext(const cl_context_properties* properties, cl_uint count,
                           const cl_device_id* devices,
                           void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*),
                           void* data, cl_int* status) {
  return made(contexts, REAL(clCreateContext)(properties, count, devices, notify, data, status));
}
cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties, cl_int* status) {
  return made(queues, REAL(clCreateCommandQueue)(context, device, properties, status));
}
cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host,
                      cl_int* status) {
  return made(buffers, REAL(clCreateBuffer)(context, flags, size, host, status));
}
cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** strings,
                                     const size_t* lengths, cl_int* status) {
  return made(programs, REAL(clCreateProgramWithSource)(context, count, strings, lengths, status));
}
cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                      const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                      void* data) {
  ++builds;
  return REAL(clBuildProgram)(program, count, devices, options, notify, data);
}
cl_kernel clCreateKernel(cl_program program, const char* name, cl_int* status) {
  return made(kernels, REAL(clCreateKernel)(program, name, status));
}
cl_event clCreateUserEvent(cl_context context, cl_int* status) {
  return made(events, REAL(clCreateUserEvent)(context, status));
}
cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t* offset, const size_t* global, const size_t* local,
                              cl_uint count, const cl_event* awaited, cl_event* event) {
  return with_event(REAL(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local,
                                                 count, awaited, event),
                    event);
}
cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern,
                           size_t pattern_size, size_t offset, size_t size, cl_uint count,
                           const cl_event* awaited, cl_event* event) {
  return with_event(REAL(clEnqueueFillBuffer)(queue, buffer, pattern, pattern_size, offset, size,
                                              count, awaited, event),
                    event);
}
cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                           size_t to_offset, size_t size, cl_uint count, const cl_event* awaited,
                           cl_event* event) {
  return with_event(REAL(clEnqueueCopyBuffer)(queue, from, to, from_offset, to_offset, size, count,
                                              awaited, event),
                    event);
}
cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                           size_t size, void* to, cl_uint count, const cl_event* awaited,
                           cl_event* event) {
  return with_event(
      REAL(clEnqueueReadBuffer)(queue, buffer, blocking, offset, size, to, count, awaited, event),
      event);
}
cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                            size_t size, const void* from, cl_uint count, const cl_event* awaited,
                            cl_event* event) {
  return with_event(REAL(clEnqueueWriteBuffer)(queue, buffer, blocking, offset, size, from, count,
                                               awaited, event),
                    event);
}
cl_int clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint objects, const cl_mem* buffer,
                                  cl_mem_migration_flags flags, cl_uint count,
                                  const cl_event* awaited, cl_event* event) {
  return with_event(
      REAL(clEnqueueMigrateMemObjects)(queue, objects, buffer, flags, count, awaited, event),
      event);
}
cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* awaited,
                                    cl_event* event) {
  return with_event(REAL(clEnqueueBarrierWithWaitList)(queue, count, awaited, event), event);
}

}  // extern "C"
