# Decides whether the CUDA backend is built, and for which architectures.

set(HAVE_CUDA OFF)
if(NOT REDUCE_BENCH_CUDA STREQUAL "OFF" AND NOT REDUCE_BENCH_SANITIZE)
  find_program(NVCC nvcc HINTS /usr/local/cuda/bin ENV CUDA_PATH PATH_SUFFIXES bin)
  if(NVCC)
    set(HAVE_CUDA ON)
  elseif(REDUCE_BENCH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "REDUCE_BENCH_CUDA is ON but nvcc is neither on PATH nor in "
                        "/usr/local/cuda/bin: install the CUDA Toolkit or set CUDA_PATH")
  endif()
endif()

if(NOT HAVE_CUDA)
  message(STATUS "CUDA backend: left out (${REDUCE_BENCH_CUDA}, nvcc: ${NVCC})")
  return()
endif()

execute_process(COMMAND ${NVCC} --list-gpu-arch OUTPUT_VARIABLE nvcc_archs RESULT_VARIABLE failed
                OUTPUT_STRIP_TRAILING_WHITESPACE)
if(failed)
  message(FATAL_ERROR "${NVCC} --list-gpu-arch failed: is the CUDA Toolkit complete?")
endif()
string(REGEX MATCHALL "[0-9]+" nvcc_archs "${nvcc_archs}")

set(archs ${CUDA_ARCHS})
if(NOT archs)
  # The card present, as the driver's own tool reports it.
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE present RESULT_VARIABLE failed ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]+" present "${present}")
    string(REPLACE "." "" archs "${present}")
    list(REMOVE_DUPLICATES archs)
  endif()
endif()
if(NOT archs)
  # No card: one data-centre architecture keeps the build short; PTX in it serves newer cards.
  foreach(arch 90 80 75)
    if(arch IN_LIST nvcc_archs)
      set(archs ${arch})
      break()
    endif()
  endforeach()
endif()
foreach(arch ${archs})
  if(NOT arch IN_LIST nvcc_archs)
    string(JOIN ", " supported ${nvcc_archs})
    message(FATAL_ERROR "CUDA_ARCHS names ${arch}, which ${NVCC} does not compile for: choose from "
                        "${supported}, or use another toolkit")
  endif()
endforeach()

set(CMAKE_CUDA_COMPILER ${NVCC})
set(CMAKE_CUDA_ARCHITECTURES ${archs})
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
set(CMAKE_CUDA_STANDARD_REQUIRED OFF)
# CMake's -O3 is nvcc's option for the host's side alone; kernels are optimised without it. How far
# the host's side is worth optimising is said where the sources are.
set(CMAKE_CUDA_FLAGS_RELEASE "-DNDEBUG")
target_compile_definitions(project_options INTERFACE REDUCE_BENCH_HAS_CUDA)
# CMake 3.25 passes no flag for C++20 to nvcc 13, so the standard is named here and tested by a
# static_assert in the harness.
target_compile_options(project_options INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --expt-relaxed-constexpr -Xcompiler=-Wall>)
string(JOIN ", " arch_text ${archs})
message(STATUS "CUDA backend: ${NVCC}, architectures ${arch_text}")

# compile_together(<list> <name> <most> <sources>): appends to the list files that include up to
# <most> of the sources each. Names in their unnamed namespaces must differ.
function(compile_together list name most)
  set(sources ${ARGN})
  set(part 0)
  while(sources)
    list(SUBLIST sources 0 ${most} together)
    list(REMOVE_ITEM sources ${together})
    list(TRANSFORM together REPLACE "(.+)" "#include \"\\1\"")
    list(JOIN together "\n" together)
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/${name}-${part}.cu)
    file(CONFIGURE OUTPUT ${unit} CONTENT "@together@\n" @ONLY)  # untouched where it is the same
    list(APPEND ${list} ${unit})
    math(EXPR part "${part} + 1")
  endwhile()
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()
