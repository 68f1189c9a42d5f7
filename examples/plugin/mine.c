/* A plug-in in C for the CPU: `mine/sum` adds with several accumulators at once.
 *
 *   cc -O3 -shared -fPIC -I include examples/plugin/mine.c -o mine.so
 *   reduce-bench verify --plugin ./mine.so --filter mine/sum
 */
#include <reduce_bench_plugin.h>
#include <stddef.h>

enum { MOST_ACCUMULATORS = 8 };

/* Integers are added as unsigned ones, which may wrap. */
#define DEFINE_SUM(name, type, adds_as)                                                   \
  static void name(const void* values, uint64_t n, unsigned accumulators, void* result) { \
    const type* x = values;                                                               \
    adds_as sums[MOST_ACCUMULATORS] = {0}, sum = 0;                                       \
    uint64_t i = 0;                                                                       \
    for (; i + accumulators <= n; i += accumulators)                                      \
      for (unsigned k = 0; k < accumulators; ++k) sums[k] += (adds_as)x[i + k];           \
    for (unsigned k = 0; k < accumulators; ++k) sum += sums[k];                           \
    for (; i < n; ++i) sum += (adds_as)x[i];                                              \
    *(type*)result = (type)sum;                                                           \
  }
DEFINE_SUM(sum_i32, int32_t, uint32_t)
DEFINE_SUM(sum_i64, int64_t, uint64_t)
DEFINE_SUM(sum_f32, float, float)
DEFINE_SUM(sum_f64, double, double)

/* One digit: a call of strtoul would count in the time of small inputs. */
static unsigned accumulators_of(const struct reduce_bench_problem* problem) {
  return (unsigned)(problem->params[0][0] - '0');
}

static uint64_t depth(const struct reduce_bench_problem* problem) {
  return problem->n / accumulators_of(problem) + 2 * MOST_ACCUMULATORS;
}

static const char* enqueue(const struct reduce_bench_call* call) {
  const uint64_t n = call->problem->n;
  const unsigned accumulators = accumulators_of(call->problem);
  switch (call->problem->type) {
    case REDUCE_BENCH_I32: sum_i32(call->values, n, accumulators, call->results); break;
    case REDUCE_BENCH_I64: sum_i64(call->values, n, accumulators, call->results); break;
    case REDUCE_BENCH_F32: sum_f32(call->values, n, accumulators, call->results); break;
    default: sum_f64(call->values, n, accumulators, call->results);
  }
  return NULL;
}

static const struct reduce_bench_combination combinations[] = {
    {REDUCE_BENCH_I32, REDUCE_BENCH_SUM},
    {REDUCE_BENCH_I64, REDUCE_BENCH_SUM},
    {REDUCE_BENCH_F32, REDUCE_BENCH_SUM},
    {REDUCE_BENCH_F64, REDUCE_BENCH_SUM},
};
static const char* const accumulators_allowed[] = {"1", "4", "8"};
static const struct reduce_bench_param params[] = {{
    .name = "accumulators",
    .default_value = "8",
    .allowed = accumulators_allowed,
    .allowed_count = 3,
    .meaning = "sums that grow at the same time",
}};
static const struct reduce_bench_variant variants[] = {{
    .id = "mine/sum",
    .title = "several accumulators",
    .source = "the example of docs/plugins.md",
    .description =
        "Idea: additions of one accumulator wait for each other; those of several do not.",
    .backend = REDUCE_BENCH_CPU,
    .operation = REDUCE_BENCH_REDUCE,
    .combinations = combinations,
    .combination_count = 4,
    .params = params,
    .param_count = 1,
    .depth = depth,
    .enqueue = enqueue,
}};

const struct reduce_bench_plugin reduce_bench_plugin = {
    .interface = REDUCE_BENCH_PLUGIN_INTERFACE,
    .version = "1.0",
    .variants = variants,
    .variant_count = 1,
};
