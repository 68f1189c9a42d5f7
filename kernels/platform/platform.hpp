// One kernel source, and the ways to compile it. `BACKEND` names the namespace in which everything
// that depends on the way lives, so that the builds can meet in one program:
//   cuda  nvcc, for the GPU
//   emu   host compiler, every CUDA thread a fiber (kernels/platform/emu.hpp)
//   traced  the same once more, with every access reported (kernels/platform/trace.hpp)
//   opencl  host compiler, declaration and launches: the kernel is the .cl file beside
//   cpu   host compiler, ordinary functions: the CPU algorithms
// A build without nvcc compiles the variants that need it once more, in namespace cuda with
// REDUCE_BENCH_CUDA_DECLARATIONS: their declarations, for the catalog, without their code.
//
// A GPU kernel file writes plain CUDA C++ with few exceptions: `launch(kernel, {grid, block,
// shared_bytes, stream}, args...)` stands for <<<>>>, `dynamic_shared<T>()` for extern __shared__
// (static __shared__ is not used: give dynamic_shared a struct), `launch_on_devices` for one launch
// on each of several devices, `copy_to_host` brings what the host folds, and what is inline PTX for
// CUDA are functions (`held_shared`, `load_ahead`, `load_volatile`, `store_volatile`, `cluster_rank`,
// `cluster_sync`, `cluster_shared`, `let_next_launch_begin`, `wait_for_launch_before`).
#pragma once

#include "kernels/platform/warp.hpp"

#if defined(__CUDACC__)
#define BACKEND cuda
#include "kernels/platform/cuda.hpp"
#elif defined(REDUCE_BENCH_EMU)
#ifdef REDUCE_BENCH_TRACED
#define BACKEND traced
#else
#define BACKEND emu
#endif
#include "kernels/platform/emu.hpp"
#elif defined(REDUCE_BENCH_OPENCL)
#define BACKEND opencl
#include "kernels/platform/opencl.hpp"
#else
#ifdef REDUCE_BENCH_CUDA_DECLARATIONS
#define BACKEND cuda
#else
#define BACKEND cpu
#endif
#define __host__
#define __device__
#endif
