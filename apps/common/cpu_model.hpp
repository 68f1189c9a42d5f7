// The name of the host's processor.
#pragma once

#include <istream>
#include <string>

namespace reduce_bench {

/// The processor's name as the system tells it; `unknown` where it does not.
std::string cpu_model();

/// The name in text such as that of /proc/cpuinfo. ARM's processors have none there, but numbers of
/// who made them and of the design: `ARM 0x41 0xd4f`.
std::string cpu_model_in(std::istream& cpuinfo);

}  // namespace reduce_bench
