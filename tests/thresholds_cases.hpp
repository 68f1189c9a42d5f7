// Threshold files that the reader and the published schema must agree on.
#pragma once

#include <vector>

#include "config_cases.hpp"

namespace reduce_bench {

inline const std::vector<BadConfig> kBadThresholds{
    {"NoObject", "[]", ": /: ", "found []", "expected an object"},
    {"NoSchema", R"({"threshold": 0.1})", ": /: ", "'schema'", "missing"},
    {"OtherSchema", R"({"schema": 2})", "/schema: ", "found 2", "an integer from 1 to 1"},
    {"UnknownKey", R"({"schema": 1, "treshold": 0.1})", ": /: ", "unknown key 'treshold'",
     "did you mean 'threshold'?"},
    {"EmptyDescription", R"({"schema": 1, "description": ""})", "/description: ", "found \"\"",
     "not empty"},
    {"NoChange", R"({"schema": 1, "threshold": 0})", "/threshold: ", "found 0", "above 0"},
    {"Percent", R"({"schema": 1, "threshold": 3})", "/threshold: ", "found 3",
     "at most 1, where 0.03 is 3 %"},
    {"Text", R"({"schema": 1, "threshold": "3 %"})", "/threshold: ", "found \"3 %\"", "a number"},
    {"NoLimits", R"({"schema": 1, "limits": []})", "/limits: ", "found []", "not empty"},
    {"NoVariants", R"({"schema": 1, "limits": [{"threshold": 0.1}]})", "/limits/0: ", "'variants'",
     "missing"},
    {"NoThreshold", R"({"schema": 1, "limits": [{"variants": ["*"]}]})",
     "/limits/0: ", "'threshold'", "missing"},
    {"UnknownLimitKey",
     R"({"schema": 1, "limits": [{"variants": ["*"], "threshold": 0.1, "n": 1}]})",
     "/limits/0: ", "unknown key 'n'", "allowed are"},
    {"GlobTwice", R"({"schema": 1, "limits": [{"variants": ["*", "*"], "threshold": 0.1}]})",
     "/limits/0/variants/1: ", "\"*\"", "listed twice"},
    {"GlobOfNothing",
     R"({"schema": 1, "limits": [{"variants": ["*", "haris/7"], "threshold": 0.1}]})",
     "/limits/0/variants/1: ", "no variant matches 'haris/7'", "did you mean 'harris/7'?", false},
};

inline const std::vector<GoodConfig> kGoodThresholds{
    {"Smallest", R"({"schema": 1})"},
    {"EveryKey", R"({
      "$schema": "thresholds.schema.json", "schema": 1, "description": "all of it",
      "threshold": 0.001,
      "limits": [{"variants": ["harris/7", "cpu/*"], "threshold": 0.25},
                 {"variants": ["harris/*"], "threshold": 1}]})"},
};

}  // namespace reduce_bench
