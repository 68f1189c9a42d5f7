#include "common/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace reduce_bench {

void occupy_closed_streams() {
  // The order is ascending, since the lowest free number is the one that opening takes.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    if (::open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_RDWR) < 0)
      throw std::system_error(errno, std::generic_category(), "cannot open '/dev/null'");
  }
}

void complain(const std::string& line) noexcept {
  std::fputs(line.c_str(), stderr);
  std::fputc('\n', stderr);
}

}  // namespace reduce_bench
