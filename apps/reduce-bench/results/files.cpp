#include "results/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "common/error.hpp"

namespace reduce_bench {

void fail_io(const std::filesystem::path& file, const char* action) {
  throw UsageError(
      fmt::format("cannot {} '{}': {}", action, file.string(),
                  reason_and_advice(errno, "choose another place with -o or free space")));
}

void write_all(int descriptor, const std::filesystem::path& file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(descriptor, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail_io(file, "write");
    done += static_cast<std::size_t>(wrote);
  }
}

std::filesystem::path temporary_of(std::filesystem::path file) { return file += ".tmp"; }

void write_atomically(const std::filesystem::path& file, const std::string& text) {
  const std::filesystem::path temporary = temporary_of(file);
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) fail_io(file, "write");
  try {
    write_all(descriptor, file, text);
    if (::fsync(descriptor) != 0) fail_io(file, "write");
  } catch (...) {
    ::close(descriptor);
    ::unlink(temporary.c_str());
    throw;
  }
  if (::close(descriptor) != 0 || ::rename(temporary.c_str(), file.c_str()) != 0) {
    const int saved = errno;
    ::unlink(temporary.c_str());
    errno = saved;
    fail_io(file, "write");
  }
}

}  // namespace reduce_bench
