/* Plug-ins that are right as long as they are verified, and then do less than they are timed for
 * (tests/python/test_plugins.py). Each must be found out. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <reduce_bench_plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "slow_clock.h"

enum { HONEST_CALLS = 2, MOST_BUCKETS = 4096 };

/* How many calls on the same arrays came before. */
static uint64_t calls_before(const struct reduce_bench_call* call) {
  static const void* array;
  static uint64_t n, calls;
  const void* now = call->values != NULL ? call->values : call->labels;
  if (now != array || call->problem->n != n) calls = 0;
  array = now;
  n = call->problem->n;
  return calls++;
}

static uint32_t sum_of(const uint32_t* x, uint64_t n, uint64_t step) {
  uint32_t sum = 0;
  for (uint64_t i = 0; i < n; i += step) sum += x[i];
  return sum;
}

/* What an honest call does, on i32. */
static uint32_t sum(const struct reduce_bench_call* call) {
  return *(uint32_t*)call->results = sum_of(call->values, call->problem->n, 1);
}

/* Keeps the result of the first call. */
static const char* memo(const struct reduce_bench_call* call) {
  static uint32_t kept;
  if (calls_before(call) < HONEST_CALLS) kept = sum(call);
  *(uint32_t*)call->results = kept;
  return NULL;
}

/* Prepares the result in scratch memory, which is zero before the first call. */
static struct reduce_bench_workspace prepared_workspace(
    const struct reduce_bench_problem* problem) {
  (void)problem;
  return (struct reduce_bench_workspace){8, 8};
}
static const char* prepared(const struct reduce_bench_call* call) {
  uint32_t* scratch = call->workspace;
  if (scratch[0] == 0) {
    scratch[0] = 1;
    scratch[1] = sum(call);
  }
  *(uint32_t*)call->results = scratch[1];
  return NULL;
}

/* Returns before a thread has done the work. It begins late: a thread on the caller's core could else
   have it done by the time that the caller, preempted, has its turn again. */
static void* work_later(void* copy) {
  const struct timespec late = {.tv_nsec = 2000000};
  struct reduce_bench_call* call = copy;
  nanosleep(&late, NULL);
  *(uint32_t*)call->results = sum_of(call->values, call->problem->n, 1);
  free(call);
  return NULL;
}
static const char* host_thread(const struct reduce_bench_call* call) {
  static struct reduce_bench_problem problem; /* the caller's is gone when the thread reads it */
  struct reduce_bench_call* copy = malloc(sizeof(*copy));
  pthread_t thread;
  if (copy == NULL) return "no memory";
  problem = *call->problem;
  *copy = *call;
  copy->problem = &problem;
  if (pthread_create(&thread, NULL, work_later, copy) != 0) return "no thread";
  if (calls_before(call) < HONEST_CALLS) pthread_join(thread, NULL);
  else pthread_detach(thread);
  return NULL;
}

/* Leaves the result to be what the call before wrote. */
static const char* nothing(const struct reduce_bench_call* call) {
  if (calls_before(call) < HONEST_CALLS) sum(call);
  return NULL;
}

/* Works in every second call. */
static const char* every_second(const struct reduce_bench_call* call) {
  static uint32_t kept;
  const uint64_t before = calls_before(call);
  if (before < HONEST_CALLS || before % 2 == 0) kept = sum(call);
  *(uint32_t*)call->results = kept;
  return NULL;
}

/* Reads every second element, from the beginning. */
static const char* half(const struct reduce_bench_call* call) {
  *(uint32_t*)call->results = 2 * sum_of(call->values, call->problem->n, 2);
  return NULL;
}

/* Reads every second element, once it was verified, and corrects by what that gave before. */
static const char* half_later(const struct reduce_bench_call* call) {
  static uint32_t correction;
  const uint32_t part = sum_of(call->values, call->problem->n, 2);
  if (calls_before(call) < HONEST_CALLS) correction = sum(call) - part;
  *(uint32_t*)call->results = part + correction;
  return NULL;
}

/* Keeps the result while 64 elements, far apart, are what they were. */
static const char* sampled(const struct reduce_bench_call* call) {
  static uint32_t seen[64], kept;
  const uint32_t* x = call->values;
  const uint64_t n = call->problem->n, apart = n / 64;
  int same = calls_before(call) >= HONEST_CALLS;
  for (uint64_t i = 0; i < 64 && apart > 0; ++i) {
    same = same && seen[i] == x[i * apart];
    seen[i] = x[i * apart];
  }
  if (!same) kept = sum(call);
  *(uint32_t*)call->results = kept;
  return NULL;
}

/* Looks for the expected result in the memory of the process, and reads it there from then on. */
static const uint32_t* find_in_heap(uint32_t wanted, const void* own) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512];
  const uint32_t* found = NULL;
  while (maps != NULL && found == NULL && fgets(line, sizeof(line), maps) != NULL) {
    uintptr_t begin = 0, end = 0;
    if (strstr(line, "[heap]") == NULL ||
        sscanf(line, "%" SCNxPTR "-%" SCNxPTR " rw", &begin, &end) != 2)
      continue;
    for (const uint32_t* p = (const uint32_t*)begin; p < (const uint32_t*)end; ++p)
      if (*p == wanted && (const void*)p != own) found = p;
  }
  if (maps != NULL) fclose(maps);
  return found;
}
static const char* oracle(const struct reduce_bench_call* call) {
  static const uint32_t* place;
  const uint64_t before = calls_before(call);
  if (before < HONEST_CALLS || place == NULL) {
    const uint32_t result = sum(call);
    if (before == 0) place = find_in_heap(result, call->results);
  } else {
    *(uint32_t*)call->results = *place;
  }
  return NULL;
}

/* Marks inputs that it has seen by two elements in the other order. */
static const char* mark(const struct reduce_bench_call* call) {
  static uint32_t kept;
  uint32_t* x = (uint32_t*)call->values;
  if (call->problem->n < 2 || x[0] > x[1]) {
    kept = sum(call);
    if (call->problem->n >= 2) {
      const uint32_t first = x[0];
      x[0] = x[1];
      x[1] = first;
    }
  }
  *(uint32_t*)call->results = kept;
  return NULL;
}

/* Hides most of the time that it takes. */
static const char* clock_change(const struct reduce_bench_call* call) {
  const uint64_t start_ns = true_ns();
  if (!has_slow_clock()) return "the C++ library does not call a clock";
  sum(call);
  if (calls_before(call) >= HONEST_CALLS) hidden_ns += (true_ns() - start_ns) * 9 / 10;
  return NULL;
}

/* Rounds f32 to the digits of bf16. */
static const char* short_floats(const struct reduce_bench_call* call) {
  const float* x = call->values;
  const int is_short = calls_before(call) >= HONEST_CALLS;
  float sums[1024] = {0};
  for (uint64_t i = 0; i < call->problem->n; ++i) {
    uint32_t bits;
    float value;
    memcpy(&bits, x + i, 4);
    if (is_short) bits &= 0xffff0000u;
    memcpy(&value, &bits, 4);
    sums[i % 1024] += value;
  }
  for (unsigned k = 1; k < 1024; ++k) sums[0] += sums[k];
  *(float*)call->results = sums[0];
  return NULL;
}
/* Keeps a sum of floats. */
static const char* float_memo(const struct reduce_bench_call* call) {
  static float kept;
  const float* x = call->values;
  if (calls_before(call) < HONEST_CALLS) {
    kept = 0;
    for (uint64_t i = 0; i < call->problem->n; ++i) kept += x[i];
  }
  *(float*)call->results = kept;
  return NULL;
}

/* Keeps the greatest value. */
static const char* max_memo(const struct reduce_bench_call* call) {
  static int32_t kept;
  const int32_t* x = call->values;
  if (calls_before(call) < HONEST_CALLS) {
    kept = INT32_MIN;
    for (uint64_t i = 0; i < call->problem->n; ++i) kept = x[i] > kept ? x[i] : kept;
  }
  *(int32_t*)call->results = kept;
  return NULL;
}

/* Keeps the counts of the first calls. */
static const char* histogram_memo(const struct reduce_bench_call* call) {
  static uint32_t kept[MOST_BUCKETS];
  const uint32_t* labels = call->labels;
  if (calls_before(call) < HONEST_CALLS) {
    memset(kept, 0, sizeof(kept));
    for (uint64_t i = 0; i < call->problem->n; ++i) ++kept[labels[i]];
  }
  memcpy(call->results, kept, call->problem->buckets * sizeof(*kept));
  return NULL;
}

/* Leaves counts to be what the call before wrote. */
static const char* histogram_nothing(const struct reduce_bench_call* call) {
  uint32_t* counts = call->results;
  const uint32_t* labels = call->labels;
  if (calls_before(call) >= HONEST_CALLS) return NULL;
  memset(counts, 0, call->problem->buckets * sizeof(*counts));
  for (uint64_t i = 0; i < call->problem->n; ++i) ++counts[labels[i]];
  return NULL;
}

static const struct reduce_bench_combination i32[] = {{REDUCE_BENCH_I32, REDUCE_BENCH_SUM}};
static const struct reduce_bench_combination i32_max[] = {{REDUCE_BENCH_I32, REDUCE_BENCH_MAX}};
static const struct reduce_bench_combination f32[] = {{REDUCE_BENCH_F32, REDUCE_BENCH_SUM}};
static const struct reduce_bench_combination u32[] = {{REDUCE_BENCH_U32, REDUCE_BENCH_NO_OP}};

#define CHEAT(name, function, of, combination, ...)                \
  {.id = "cheat/" name,                                            \
   .title = name,                                                  \
   .source = "made up for tests",                                  \
   .backend = REDUCE_BENCH_CPU,                                    \
   .operation = of,                                                \
   .combinations = combination,                                    \
   .combination_count = 1,                                         \
   .max_buckets = of == REDUCE_BENCH_HISTOGRAM ? MOST_BUCKETS : 0, \
   .enqueue = function,                                            \
   __VA_ARGS__}
static const struct reduce_bench_variant variants[] = {
    CHEAT("memo", memo, REDUCE_BENCH_REDUCE, i32, .launches = 1),
    CHEAT("prepared", prepared, REDUCE_BENCH_REDUCE, i32, .workspace = prepared_workspace),
    CHEAT("host-thread", host_thread, REDUCE_BENCH_REDUCE, i32, .launches = 1),
    CHEAT("nothing", nothing, REDUCE_BENCH_REDUCE, i32, .launches = 1),
    CHEAT("every-second", every_second, REDUCE_BENCH_REDUCE, i32, .launches = 1),
    CHEAT("half", half, REDUCE_BENCH_REDUCE, i32, .launches = 1),
    CHEAT("half-later", half_later, REDUCE_BENCH_REDUCE, i32, .launches = 1),
    CHEAT("sampled", sampled, REDUCE_BENCH_REDUCE, i32, .launches = 1),
    CHEAT("oracle", oracle, REDUCE_BENCH_REDUCE, i32, .launches = 1),
    CHEAT("mark", mark, REDUCE_BENCH_REDUCE, i32, .launches = 1),
    CHEAT("clock", clock_change, REDUCE_BENCH_REDUCE, i32, .launches = 1),
    CHEAT("short-floats", short_floats, REDUCE_BENCH_REDUCE, f32, .launches = 1),
    CHEAT("float-memo", float_memo, REDUCE_BENCH_REDUCE, f32, .launches = 1),
    CHEAT("max-memo", max_memo, REDUCE_BENCH_REDUCE, i32_max, .launches = 1),
    CHEAT("histogram-memo", histogram_memo, REDUCE_BENCH_HISTOGRAM, u32, .launches = 1),
    CHEAT("histogram-nothing", histogram_nothing, REDUCE_BENCH_HISTOGRAM, u32, .launches = 1),
};

const struct reduce_bench_plugin reduce_bench_plugin = {
    .interface = REDUCE_BENCH_PLUGIN_INTERFACE,
    .version = "0.1",
    .variants = variants,
    .variant_count = sizeof(variants) / sizeof(*variants),
};
