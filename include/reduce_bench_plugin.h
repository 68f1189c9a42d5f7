/* The C interface of plug-ins: shared libraries whose kernels reduce-bench verifies, times and
 * compares without being built with them. docs/plugins.md shows how to write one.
 *
 * A plug-in defines one constant, `reduce_bench_plugin`, and nothing else that reduce-bench looks
 * for. All its functions are called on one thread of a process of the plug-in's own, where no kernel
 * of the catalog runs. No exception may leave them. What pointers lead to stays as it is while the
 * plug-in is loaded. */
#ifndef REDUCE_BENCH_PLUGIN_H
#define REDUCE_BENCH_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. reduce-bench refuses a plug-in of another one. */
#define REDUCE_BENCH_PLUGIN_INTERFACE 1u

/* Where a variant runs. */
enum { REDUCE_BENCH_CUDA = 0, REDUCE_BENCH_CPU = 1 };

/* What a variant computes, from n values and n labels below `buckets`. docs/measure.md tells what
 * each gives; the members of `reduce_bench_call` tell which arrays it has. */
enum {
  REDUCE_BENCH_REDUCE = 0,
  REDUCE_BENCH_MULTIREDUCE = 1,
  REDUCE_BENCH_REDUCE_BY_KEY = 2,
  REDUCE_BENCH_HISTOGRAM = 3,
  REDUCE_BENCH_SCATTER = 4,
  REDUCE_BENCH_GATHER = 5,
  REDUCE_BENCH_SORT = 6,
  REDUCE_BENCH_MULTISCAN = 7,
  REDUCE_BENCH_SCAN_BY_KEY = 8
};

/* Element types: of values; u8, u16 and u32 of a histogram's labels. Values of 16 bits, f16 and
 * bfloat16, are those of a reduce by sum, min or max, whose result is a float and which combines them
 * in f32. */
enum {
  REDUCE_BENCH_I32 = 0,
  REDUCE_BENCH_I64 = 1,
  REDUCE_BENCH_F32 = 2,
  REDUCE_BENCH_F64 = 3,
  REDUCE_BENCH_U8 = 4,
  REDUCE_BENCH_U32 = 5,
  REDUCE_BENCH_F16 = 6,
  REDUCE_BENCH_BF16 = 7,
  REDUCE_BENCH_U16 = 8
};

/* Operators; integers wrap. The last stands for an operation that has none: histogram, scatter,
 * gather and sort. `right` (i32) and `affine` (i64) do not commute: the result is the last element
 * that is not the least i32; the composition of x -> m x + c modulo 2^32, m in the upper half. */
enum {
  REDUCE_BENCH_SUM = 0,
  REDUCE_BENCH_MIN = 1,
  REDUCE_BENCH_MAX = 2,
  REDUCE_BENCH_PROD = 3,
  REDUCE_BENCH_AND = 4,
  REDUCE_BENCH_OR = 5,
  REDUCE_BENCH_XOR = 6,
  REDUCE_BENCH_RIGHT = 7,
  REDUCE_BENCH_AFFINE = 8,
  REDUCE_BENCH_NO_OP = 9
};

/* One problem, before any memory exists. */
struct reduce_bench_problem {
  uint32_t operation, type, op; /* `type` of the values; of the labels where there are no values */
  uint32_t inclusive;           /* of a scan: whether result i takes input i in */
  uint32_t any_wins; /* of a scatter: whether any of equal labels may win, else the last */
  /* The GPU; on a CPU `multiprocessors` are its logical cores, and the others say nothing. */
  uint32_t multiprocessors, max_threads_per_multiprocessor, max_blocks_per_multiprocessor;
  uint64_t max_shared_bytes_per_block;
  uint64_t n;                /* inputs */
  uint64_t buckets;          /* labels lie below it; 0 where the operation has none */
  const char* const* params; /* the value of each parameter, in the order of the declaration */
};

/* Scratch memory, aligned to 256 bytes. Its first bytes are zero before the first call on a problem
 * and never again: a variant that needs them zero leaves them zero. The rest holds garbage. */
struct reduce_bench_workspace {
  uint64_t bytes, zeroed_bytes;
};

/* One execution. All arrays lie in the memory of the variant's backend, and are null where the
 * operation has none. Inputs may change between calls, and are never written by the variant. Outputs
 * hold garbage when the call begins. Labels and their results are uint32_t (a histogram's labels may
 * be uint8_t or uint16_t); the results of a histogram and `result_count`, the number of results of a
 * reduce-by-key, are uint32_t. */
struct reduce_bench_call {
  const struct reduce_bench_problem* problem;
  void* stream; /* the cudaStream_t, whose device is current; null on a CPU */
  const void *values, *labels;
  void *results, *result_labels, *result_count;
  void* workspace;
};

struct reduce_bench_combination {
  uint32_t type, op;
};

/* An axis that a configuration can sweep. All values are text. `scan` (of a scan: exclusive,
 * inclusive) and `winner` (of a scatter: last, any) mean the same as in the catalog; without the axis
 * a scan is exclusive, and the last of equal labels wins. */
struct reduce_bench_param {
  const char* name;
  const char* default_value; /* one of those allowed */
  const char* const* allowed;
  size_t allowed_count;
  const char* meaning; /* one clause */
};

struct reduce_bench_variant {
  const char* id;          /* `who/what`, in lower case; no variant of the catalog has it */
  const char* title;       /* a few words */
  const char* source;      /* the publication or project that it comes from */
  const char* description; /* what `reduce-bench show` prints; may be null */
  uint32_t backend, operation;
  const struct reduce_bench_combination* combinations; /* what it provides */
  size_t combination_count;
  const struct reduce_bench_param* params;
  size_t param_count;
  uint64_t max_buckets; /* the most that it takes; 0: any number */
  uint32_t synchronous; /* CUDA: whether a call returns only when its work is done */
  uint32_t launches;    /* CUDA: the most kernels, copies and fills of one call; 0 stands for 16 */

  /* Why the variant does not take the problem, in a sentence that stays valid until the next call;
   * null where it does. May be null: it takes all problems of its combinations. */
  const char* (*refuse)(const struct reduce_bench_problem* problem);
  /* The most applications of the operator between an input and a result, from which the error bound
   * of float sums follows. May be null: as many as inputs. */
  uint64_t (*depth)(const struct reduce_bench_problem* problem);
  /* May be null: no scratch memory. */
  struct reduce_bench_workspace (*workspace)(const struct reduce_bench_problem* problem);
  /* CUDA: puts the whole operation on the stream, and neither allocates nor synchronises (unless
   * `synchronous`). CPU: computes the results before it returns. Returns null, or in a sentence why it
   * failed. */
  const char* (*enqueue)(const struct reduce_bench_call* call);
};

/* `interface` stays the first member in every version. */
struct reduce_bench_plugin {
  uint32_t interface;  /* REDUCE_BENCH_PLUGIN_INTERFACE */
  const char* version; /* of the plug-in, such as "1.2"; results name it */
  const struct reduce_bench_variant* variants;
  size_t variant_count;
};

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const struct reduce_bench_plugin reduce_bench_plugin;

#ifdef __cplusplus
}
#endif

#endif
