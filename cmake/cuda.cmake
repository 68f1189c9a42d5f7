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

# 13.0 is what the project is built with. 12.9 is inferred: the first toolkit whose headers have
# ::cuda::minimum (kernels/shared/library.hpp; 12.8 lacks it). Device code in C++20 needs 12.0.
execute_process(COMMAND ${NVCC} --version OUTPUT_VARIABLE nvcc_version RESULT_VARIABLE failed)
if(failed OR NOT nvcc_version MATCHES "release ([0-9]+\\.[0-9]+)")
  message(FATAL_ERROR "${NVCC} --version fails or names no release: is the CUDA Toolkit complete?")
elseif(CMAKE_MATCH_1 VERSION_LESS 12.9)
  message(FATAL_ERROR "The CUDA backend needs CUDA 12.9 or newer, and ${NVCC} is of ${CMAKE_MATCH_1}: "
                      "name a newer toolkit with -DNVCC=<path of its nvcc>, or leave the backend out "
                      "with -DREDUCE_BENCH_CUDA=OFF")
endif()

execute_process(COMMAND ${NVCC} --list-gpu-arch OUTPUT_VARIABLE nvcc_archs RESULT_VARIABLE failed
                OUTPUT_STRIP_TRAILING_WHITESPACE)
if(failed)
  message(FATAL_ERROR "${NVCC} --list-gpu-arch failed: is the CUDA Toolkit complete?")
endif()
string(REGEX MATCHALL "[0-9]+" nvcc_archs "${nvcc_archs}")

# CMAKE_CUDA_ARCHITECTURES, or CUDAARCHS in the environment, as CMake understands them: 90, "80;90",
# 90-real, all-major, native.
set(archs ${CMAKE_CUDA_ARCHITECTURES})
if(NOT archs)
  set(archs $ENV{CUDAARCHS})
endif()
if(NOT archs OR archs STREQUAL "native")
  # The cards present, as the driver's own tool reports them.
  set(wanted "${archs}")
  set(archs "")
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE present RESULT_VARIABLE failed ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]+" present "${present}")
    string(REPLACE "." "" archs "${present}")
    list(REMOVE_DUPLICATES archs)
  endif()
  if(NOT archs AND wanted)
    message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES is native, but nvidia-smi reports no GPU: name "
                        "architectures, such as 90")
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
if(NOT archs MATCHES "^(all|all-major)$")
  foreach(arch ${archs})
    string(REGEX REPLACE "^([0-9]+)[af]?(-real|-virtual)?$" "\\1" number "${arch}")
    if(NOT number IN_LIST nvcc_archs)
      string(JOIN ", " supported ${nvcc_archs})
      message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES (CUDA_ARCHS of make) names ${arch}, which ${NVCC} "
                          "does not compile for: choose from ${supported}, or use another toolkit")
    endif()
  endforeach()
endif()

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
# nvcc compresses PTX by itself but not machine code, nine tenths of the driver: with -lineinfo it
# holds the kernels' PTX once more as text, twice the size of the instructions. -compress-all takes
# the largest file from 6.4 to 1.6 MB in the same time (--compress-mode=size: 1.4 MB).
target_compile_options(project_options INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --expt-relaxed-constexpr -Xcompiler=-Wall
  -Xfatbin=-compress-all>)

# CCCL, that is CUB and Thrust. The newest is what our kernels are compared with: a Python package of
# its headers, pinned in requirements-cuda.txt, which scripts/setup.sh installs into .venv.
set(cccl ${REDUCE_BENCH_CCCL})
if(NOT cccl)
  file(GLOB cccl ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu*/include/cccl)
endif()
if(cccl)
  list(GET cccl -1 cccl)
  if(NOT EXISTS ${cccl}/cub/version.cuh)
    message(FATAL_ERROR "REDUCE_BENCH_CCCL is ${cccl}, which has no cub/version.cuh: name the folder "
                        "in which cub, thrust and cuda lie, or leave it empty")
  endif()
  # Not as a system folder: those come after the toolkit's include folder, whose older nv/target
  # would be taken. CCCL's headers declare themselves system headers.
  target_include_directories(project_options BEFORE INTERFACE 
    $<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CUDA>:${cccl}>>)
else()
  set(cccl "the toolkit's")
endif()

string(JOIN ", " arch_text ${archs})
message(STATUS "CUDA backend: ${NVCC}, architectures ${arch_text}, CCCL ${cccl}")

# compile_together(<list> <name> <most> <sources>): appends to the list files that include up to
# <most> of the sources each. Every variant has a namespace of its own; macros must differ.
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
