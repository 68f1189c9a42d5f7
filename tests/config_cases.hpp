// Configurations that the reader and the published schema must agree on.
#pragma once

#include <string>
#include <vector>

namespace reduce_bench {

struct BadConfig {
  const char* name;
  const char* text;
  const char* pointer;    ///< where the fault is
  const char* found;      ///< what the message says of it
  const char* advice;     ///< and of what to do
  bool in_schema = true;  ///< whether a JSON Schema can express the rule
};

/// `text` as the only sweep of an otherwise complete configuration.
#define SWEEP(text) R"({"schema": 1, "sweeps": [)" text "]}"
#define AXIS(text) SWEEP(R"({"variants": ["harris/7"], "n": [1024], )" text "}")
#define KEYED(text) AXIS(R"("operation": "multireduce", )" text)
#define MEASURED(text)                     \
  R"({"schema": 1, "measurement": {)" text \
  R"(}, "sweeps": [{"variants": ["harris/7"], "n": [1024]}]})"

inline const std::vector<BadConfig> kBadConfigs{
    {"NoObject", "[]", ": /: ", "found []", "expected an object"},
    {"NoSchema", R"({"sweeps": [{"variants": ["harris/7"], "n": [1]}]})", ": /: ", "'schema'",
     "missing"},
    {"OtherSchema", R"({"schema": 2, "sweeps": [{"variants": ["harris/7"], "n": [1]}]})",
     "/schema: ", "found 2", "an integer from 1 to 1"},
    {"NoSweeps", R"({"schema": 1})", ": /: ", "'sweeps'", "missing"},
    {"EmptySweeps", R"({"schema": 1, "sweeps": []})", "/sweeps: ", "found []", "not empty"},
    {"UnknownKey", R"({"schema": 1, "sweep": []})", ": /: ", "unknown key 'sweep'",
     "did you mean 'sweeps'?"},
    {"KeyLikeNoOther", R"({"schema": 1, "x": []})", ": /: ", "unknown key 'x'", "allowed are"},
    {"EmptyDescription",
     R"({"schema": 1, "description": "", "sweeps": [{"variants": ["harris/7"], "n": [1]}]})",
     "/description: ", "found \"\"", "a string that is not empty"},
    {"UnknownSweepKey", AXIS(R"("types": ["i32"])"), "/sweeps/0: ", "unknown key 'types'",
     "did you mean 'type'?"},
    {"NoVariants", SWEEP(R"({"n": [1]})"), "/sweeps/0: ", "'variants'", "missing"},
    {"NoN", SWEEP(R"({"variants": ["harris/7"]})"), "/sweeps/0: ", "'n'", "missing"},
    {"VariantsTwice", SWEEP(R"({"variants": ["harris/7", "harris/7"], "n": [1]})"),
     "/sweeps/0/variants/1: ", "\"harris/7\"", "listed twice"},
    {"VariantNoString", SWEEP(R"({"variants": [7], "n": [1]})"),
     "/sweeps/0/variants/0: ", "found 7", "a string"},
    {"SecondSweep",
     SWEEP(R"({"variants": ["harris/7"], "n": [1]}, {"variants": ["harris/7"], "n": []})"),
     "/sweeps/1/n: ", "found []", "not empty"},
    {"NegativeN", SWEEP(R"({"variants": ["harris/7"], "n": [1, -1]})"),
     "/sweeps/0/n/1: ", "found -1", "an integer from 0 to 1099511627776"},
    {"FractionalN", SWEEP(R"({"variants": ["harris/7"], "n": [1.5]})"),
     "/sweeps/0/n/0: ", "found 1.5", "an integer"},
    {"PowerTooLarge", SWEEP(R"({"variants": ["harris/7"], "n": ["2^41"]})"),
     "/sweeps/0/n/0: ", "found \"2^41\"", "or a power of two as \"2^20\""},
    {"PowerOfTen", SWEEP(R"({"variants": ["harris/7"], "n": ["10^3"]})"),
     "/sweeps/0/n/0: ", "found \"10^3\"", "or a power of two as \"2^20\""},
    {"TextualN", SWEEP(R"({"variants": ["harris/7"], "n": ["1024"]})"),
     "/sweeps/0/n/0: ", "found \"1024\"", "an integer"},
    {"HugeN", SWEEP(R"({"variants": ["harris/7"], "n": [1099511627777]})"),
     "/sweeps/0/n/0: ", "found 1099511627777", "an integer from 0"},
    {"Pow2WithOneEnd", SWEEP(R"({"variants": ["harris/7"], "n": [{"pow2": [10]}]})"),
     "/sweeps/0/n/0/pow2: ", "found [10]", "at least 2"},
    {"Pow2OfFour", SWEEP(R"({"variants": ["harris/7"], "n": [{"pow2": [1, 2, 1, 1]}]})"),
     "/sweeps/0/n/0/pow2: ", "found [1,2,1,1]", "[first, last, step]"},
    {"Pow2TooLarge", SWEEP(R"({"variants": ["harris/7"], "n": [{"pow2": [10, 41]}]})"),
     "/sweeps/0/n/0/pow2/1: ", "found 41", "an integer from 0 to 40"},
    {"Pow2StepZero", SWEEP(R"({"variants": ["harris/7"], "n": [{"pow2": [10, 20, 0]}]})"),
     "/sweeps/0/n/0/pow2/2: ", "found 0", "an integer from 1 to 40"},
    {"Pow2Backwards", SWEEP(R"({"variants": ["harris/7"], "n": [{"pow2": [20, 10]}]})"),
     "/sweeps/0/n/0/pow2: ", "first exponent 20", "above the last 10", false},
    {"SizeObjectWithoutPow2", SWEEP(R"({"variants": ["harris/7"], "n": [{"pow": [1, 2]}]})"),
     "/sweeps/0/n/0: ", "unknown key 'pow'", "did you mean 'pow2'?"},
    {"UnknownType", AXIS(R"("type": ["f33"])"), "/sweeps/0/type/0: ", "found \"f33\"",
     "expected 'i32', 'i64', 'f32', 'f64'"},
    {"TypeNoList", AXIS(R"("type": "i32")"), "/sweeps/0/type: ", "found \"i32\"", "an array"},
    {"TypeTwice", AXIS(R"("type": ["i32", "i32"])"), "/sweeps/0/type/1: ", "\"i32\"",
     "listed twice"},
    {"UnknownOp", AXIS(R"("op": ["average"])"), "/sweeps/0/op/0: ", "found \"average\"",
     "'sum', 'min'"},
    {"UnknownOperation", AXIS(R"("operation": "scan")"), "/sweeps/0/operation: ", "found \"scan\"",
     "'reduce'"},
    {"UnknownBackend", AXIS(R"("backends": ["gpu"])"), "/sweeps/0/backends/0: ", "found \"gpu\"",
     "expected 'cuda' or 'cpu'"},
    {"EmuIsNeverTimed", AXIS(R"("backends": ["cpu", "emu"])"),
     "/sweeps/0/backends/1: ", "never timed", "reduce-bench verify"},
    {"UnknownDistribution", AXIS(R"("distribution": ["unifrom"])"),
     "/sweeps/0/distribution/0: ", "found \"unifrom\"", "did you mean 'uniform'?"},
    {"NamelessDistribution", AXIS(R"("distribution": [{"condition": 10}])"),
     "/sweeps/0/distribution/0: ", "'name'", "missing"},
    {"DistributionNumber", AXIS(R"("distribution": [3])"), "/sweeps/0/distribution/0: ", "found 3",
     "a distribution's name"},
    {"ConditionOfAnother", AXIS(R"("distribution": [{"name": "ones", "condition": 10}])"),
     "/sweeps/0/distribution/0: ", "unknown key 'condition'", "allowed are 'name'"},
    {"ConditionBelowOne", AXIS(R"("distribution": [{"name": "cancelling", "condition": 0.5}])"),
     "/sweeps/0/distribution/0/condition: ", "found 0.5", "at least 1"},
    {"BucketsOfAReduce", AXIS(R"("buckets": [16])"),
     "/sweeps/0/buckets: ", "'reduce' has no labels", "name a keyed operation", false},
    {"LabelsOfAReduce", AXIS(R"("labels": ["uniform"])"),
     "/sweeps/0/labels: ", "'reduce' has no labels", "name a keyed operation", false},
    {"ValuesOfAHistogram", AXIS(R"("operation": "histogram", "distribution": ["ones"])"),
     "/sweeps/0/distribution: ", "'histogram' reads labels alone", "leave it out", false},
    {"NoBucket", KEYED(R"("buckets": [0])"), "/sweeps/0/buckets/0: ", "found 0",
     "an integer from 1 to 4294967296"},
    {"TooManyBuckets", KEYED(R"("buckets": [{"pow2": [1, 33]}])"),
     "/sweeps/0/buckets/0/pow2/1: ", "found 33", "an integer from 0 to 32"},
    {"UnknownLabels", KEYED(R"("labels": ["unifrom"])"),
     "/sweeps/0/labels/0: ", "found \"unifrom\"", "did you mean 'uniform'?"},
    {"LabelsNumber", KEYED(R"("labels": [3])"), "/sweeps/0/labels/0: ", "found 3",
     "a label distribution's name"},
    {"ExponentOfRuns", KEYED(R"("labels": [{"name": "runs", "exponent": 2}])"),
     "/sweeps/0/labels/0: ", "unknown key 'exponent'", "allowed are 'name' or 'length'"},
    {"ExponentOfNothing", KEYED(R"("labels": [{"name": "zipf", "exponent": 0}])"),
     "/sweeps/0/labels/0/exponent: ", "found 0", "above 0"},
    {"RunsOfNothing", KEYED(R"("labels": [{"name": "runs", "length": 0}])"),
     "/sweeps/0/labels/0/length: ", "found 0", "an integer from 1"},
    {"ImageWithoutAFile", KEYED(R"("labels": ["image"])"), "/sweeps/0/labels/0: ", "needs its file",
     "picture.pgm"},
    {"ImageWithoutItsKey", KEYED(R"("labels": [{"name": "image"}])"),
     "/sweeps/0/labels/0: ", "'file'", "missing"},
    {"ParamNoList", AXIS(R"("params": {"block": 128})"), "/sweeps/0/params/block: ", "found 128",
     "an array"},
    {"FractionalParam", AXIS(R"("params": {"block": [1.5]})"),
     "/sweeps/0/params/block/0: ", "found 1.5", "a string or a non-negative integer"},
    {"NegativeParam", AXIS(R"("params": {"block": [-64]})"),
     "/sweeps/0/params/block/0: ", "found -64", "non-negative"},
    {"ZipWithoutParams", AXIS(R"("zip": [["block", "blocks_per_sm"]])"), "/sweeps/0: ", "'zip'",
     "no 'params'"},
    {"ZipOfOne", AXIS(R"("params": {"block": [64]}, "zip": [["block"]])"),
     "/sweeps/0/zip/0: ", "found [\"block\"]", "at least 2"},
    {"ZipOfUnlisted", AXIS(R"("params": {"block": [64]}, "zip": [["block", "blocks_per_sm"]])"),
     "/sweeps/0/zip/0/1: ", "'blocks_per_sm'", "not a key of 'params'", false},
    {"ZipOfUnequal",
     AXIS(
         R"("params": {"block": [64, 128], "blocks_per_sm": [1]}, "zip": [["block", "blocks_per_sm"]])"),
     "/sweeps/0/zip/0/1: ", "'blocks_per_sm' has 1 values but 'block' has 2", "one length", false},
    {"ZippedTwice",
     AXIS(R"("params": {"a": [1], "b": [1], "c": [1]}, "zip": [["a", "b"], ["c", "a"]])"),
     "/sweeps/0/zip/1/1: ", "'a'", "zipped twice", false},
    {"UnknownMode", MEASURED(R"("modes": ["cool"])"), "/measurement/modes/0: ", "found \"cool\"",
     "expected 'cold', 'hot' or 'graph'"},
    {"OpLikeAnother", AXIS(R"("op": ["argmin"])"), "/sweeps/0/op/0: ", "found \"argmin\", expected",
     "'min'"},
    {"TypeLikeAnother", AXIS(R"("type": ["u64"])"), "/sweeps/0/type/0: ", "found \"u64\", expected",
     "'i64'"},
    {"OpCutShort", AXIS(R"("op": ["affin"])"),
     "/sweeps/0/op/0: ", "found \"affin\" (did you mean 'affine'?), expected", "'sum', 'min'"},
    {"NoMode", MEASURED(R"("modes": [])"), "/measurement/modes: ", "found []", "not empty"},
    {"TimeBudgetZero", MEASURED(R"("max_time_ms": 0)"), "/measurement/max_time_ms: ", "found 0",
     "a number above 0"},
    {"TimeBudgetText", MEASURED(R"("max_time_ms": "1s")"),
     "/measurement/max_time_ms: ", "found \"1s\"", "a number"},
    {"TooFewSamples", MEASURED(R"("min_samples": 9)"), "/measurement/min_samples: ", "found 9",
     "an integer from 10"},
    {"MaxBelowMin", MEASURED(R"("min_samples": 30, "max_samples": 20)"),
     "/measurement: ", "max_samples (20)", "below min_samples (30)", false},
    {"IntervalAboveOne", MEASURED(R"("relative_ci": 2)"), "/measurement/relative_ci: ", "found 2",
     "at most 1"},
    {"ClockFloorAboveOne", MEASURED(R"("clock_floor": 90)"),
     "/measurement/clock_floor: ", "found 90", "at most 1"},
    {"InterleaveZero", MEASURED(R"("interleave": 0)"), "/measurement/interleave: ", "found 0",
     "an integer from 1"},
    {"UnknownSetting", MEASURED(R"("min_time_ms": 5)"),
     "/measurement: ", "unknown key 'min_time_ms'", "did you mean 'max_time_ms'?"},
    {"SweepSetting", AXIS(R"("measurement": {"interleave": 1.5})"),
     "/sweeps/0/measurement/interleave: ", "found 1.5", "an integer"},
};

struct GoodConfig {
  const char* name;
  const char* text;
};

inline const std::vector<GoodConfig> kGoodConfigs{
    {"Smallest", R"({"schema": 1, "sweeps": [{"variants": ["*"], "n": [0]}]})"},
    {"EveryKey", R"({
      "$schema": "config.schema.json", "schema": 1, "description": "all of it",
      "measurement": {"modes": ["hot", "graph", "cold"], "min_samples": 10, "max_samples": 10,
                      "max_time_ms": 0.5, "relative_ci": 1, "interleave": 1000, "clock_floor": 0},
      "sweeps": [{
        "variants": ["harris/7"], "operation": "reduce", "backends": ["cpu", "cuda"],
        "n": [1099511627776, {"pow2": [0, 40, 40]}, {"pow2": [3, 3]}],
        "type": ["i32", "i64", "f32", "f64"],
        "op": ["sum", "min", "max", "prod", "and", "or", "xor", "right", "affine"],
        "distribution": ["uniform", {"name": "ones"}, "ramp", "normal", "zeros", "extremes",
                         {"name": "cancelling", "condition": 1}, {"name": "cancelling"}],
        "params": {"block": [64, "128"], "blocks_per_sm": [1, 2], "form": ["corrected"]},
        "zip": [["block", "blocks_per_sm"]],
        "measurement": {"modes": ["hot"]}}]})"},
    {"EveryKeyOfLabels", R"({"schema": 1, "sweeps": [
      {"variants": ["atomic/global"], "operation": "multireduce", "n": [1],
       "buckets": [4294967296, {"pow2": [0, 32, 16]}],
       "labels": ["uniform", "degenerate", "ends", "sequential", "sorted", "zipf", "normal", "runs",
                  "permutation", "photo", {"name": "graphic"}, {"name": "zipf", "exponent": 10},
                  {"name": "runs", "length": 3}]},
      {"variants": ["cpu/histogram"], "operation": "histogram", "n": [1], "type": ["u8", "u32"],
       "op": ["none"]}]})"},
};

}  // namespace reduce_bench
