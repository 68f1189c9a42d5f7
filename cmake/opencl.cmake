# Decides whether the OpenCL backend is built: where the C++ bindings and the loader are found. Which
# devices there are is asked of the loader when the program runs.

set(HAVE_OPENCL OFF)
# Not under AddressSanitizer: it would judge the drivers that the loader loads, and their compilers.
if(REDUCE_BENCH_OPENCL STREQUAL "OFF" OR REDUCE_BENCH_SANITIZE)
  message(STATUS "OpenCL backend: left out")
  return()
endif()

find_path(OPENCL_INCLUDE CL/opencl.hpp)
find_library(OPENCL_LIBRARY OpenCL)
if(OPENCL_INCLUDE AND OPENCL_LIBRARY)
  set(HAVE_OPENCL ON)
  message(STATUS "OpenCL backend: ${OPENCL_LIBRARY}")
elseif(REDUCE_BENCH_OPENCL STREQUAL "ON")
  message(FATAL_ERROR "REDUCE_BENCH_OPENCL is ON but CL/opencl.hpp or libOpenCL was not found: install "
                      "the Debian packages opencl-clhpp-headers and ocl-icd-opencl-dev")
else()
  message(STATUS "OpenCL backend: left out (CL/opencl.hpp or libOpenCL not found; Debian packages "
                 "opencl-clhpp-headers and ocl-icd-opencl-dev)")
endif()
