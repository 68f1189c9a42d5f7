#include "commands.hpp"
namespace reduce_bench {
void add_probe(CLI::App&, Action&) {}
}  // namespace reduce_bench
