// What a plug-in says of itself, as data: the driver plans with it and runs nothing of the plug-in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/fields.hpp"
#include "kernels/api/catalog.hpp"

namespace reduce_bench {

struct Combination {
  Type type = Type::kI32;
  Op op = Op::kSum;
};

struct DeclaredVariant {
  std::string id, title, source, description;
  Backend backend = Backend::kCpu;
  Operation operation = Operation::kReduce;
  std::vector<Combination> combinations;
  std::vector<ParamSpec> params;
  std::uint64_t max_buckets = 0;  ///< 0: any number
  bool synchronous = false;
  unsigned launches = 0;  ///< of one call, at most
};

struct DeclaredPlugin {
  PluginFile file;
  std::vector<DeclaredVariant> variants;
};

FIELDS(Combination, type, op);
FIELDS(ParamSpec, name, default_value, allowed, meaning, cuda_only);
FIELDS(DeclaredVariant, id, title, source, description, backend, operation, combinations, params,
       max_buckets, synchronous, launches);
FIELDS(PluginFile, path, name, checksum, version);
FIELDS(DeclaredPlugin, file, variants);

/// What a refusal says of a plug-in, such as `the plug-in './mine.so': <fault>`.
std::string plugin_fault(const std::string& path, const std::string& fault);

}  // namespace reduce_bench
