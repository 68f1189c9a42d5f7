// How many OpenCL objects are alive: an interception layer between the program and the loader.
#pragma once

#include <map>
#include <string>

namespace reduce_bench {

/// By kind, references made or retained less those released. Kinds with none are left out.
std::map<std::string, long> opencl_objects_alive();
/// How many programs were built since the program began.
long opencl_builds();

}  // namespace reduce_bench
