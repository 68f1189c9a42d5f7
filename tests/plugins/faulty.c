/* A plug-in that sums, but for the fault that a macro chooses (tests/python/test_plugins.py). */
#include <reduce_bench_plugin.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef INTERFACE
#define INTERFACE REDUCE_BENCH_PLUGIN_INTERFACE
#endif
#ifndef VERSION
#define VERSION "0.1"
#endif
#ifndef ID
#define ID "faulty/sum"
#endif
#ifndef OPERATION
#define OPERATION REDUCE_BENCH_REDUCE
#endif
#ifndef TYPE
#define TYPE REDUCE_BENCH_I32
#endif
#ifndef BACKEND
#define BACKEND REDUCE_BENCH_CPU
#endif
#ifndef PARAM
#define PARAM "block"
#endif
#ifndef DEFAULT
#define DEFAULT "1"
#endif
#ifndef COUNT
#define COUNT 1
#endif
#ifndef SYMBOL
#define SYMBOL reduce_bench_plugin
#endif
#ifndef AT_LOAD
#define AT_LOAD
#endif
#ifndef AT_CALL
#define AT_CALL
#endif
#ifndef REFUSE
#define REFUSE NULL
#endif
#ifndef ENQUEUE
#define ENQUEUE enqueue
#endif

/* Defined nowhere. */
void missing(void);

__attribute__((constructor)) static void at_load(void) { AT_LOAD; }

static const char* refuse(const struct reduce_bench_problem* problem) {
  (void)problem;
  return REFUSE;
}

static struct reduce_bench_workspace workspace(const struct reduce_bench_problem* problem) {
  (void)problem;
#ifdef ZEROED
  return (struct reduce_bench_workspace){8, ZEROED};
#else
  return (struct reduce_bench_workspace){8, 0};
#endif
}

__attribute__((unused)) static const char* enqueue(const struct reduce_bench_call* call) {
  const int32_t* values = call->values;
  uint32_t sum = 0;
  for (uint64_t i = 0; i < call->problem->n; ++i) sum += (uint32_t)values[i];
  *(uint32_t*)call->results = sum;
  AT_CALL;
  return NULL;
}

static const struct reduce_bench_combination combinations[] = {{TYPE, REDUCE_BENCH_SUM}};
static const char* const allowed[] = {"1", "2"};
static const struct reduce_bench_param params[] = {{.name = PARAM,
                                                    .default_value = DEFAULT,
                                                    .allowed = allowed,
                                                    .allowed_count = 2,
                                                    .meaning = "x"}};
static const struct reduce_bench_variant variants[] = {{.id = ID,
                                                        .title = "a sum with a fault",
                                                        .source = "made up for tests",
                                                        .backend = BACKEND,
                                                        .operation = OPERATION,
                                                        .combinations = combinations,
                                                        .combination_count = 1,
                                                        .params = params,
                                                        .param_count = 1,
                                                        .refuse = refuse,
                                                        .workspace = workspace,
                                                        .enqueue = ENQUEUE},
                                                       {.id = ID}};

__attribute__((visibility("default"))) extern const struct reduce_bench_plugin SYMBOL;
const struct reduce_bench_plugin SYMBOL = {
    .interface = INTERFACE, .version = VERSION, .variants = variants, .variant_count = COUNT};
