// include/reduce_bench_plugin.py, which the build puts into the program.
#pragma once

namespace reduce_bench {

const char* python_interface();

}  // namespace reduce_bench
