#include "results/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
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

int open_locked(const std::filesystem::path& file, const std::filesystem::path& shown,
                const char* action) {
  // A run that ends at this moment renames or removes the file. A lock on a file without its name
  // protects nothing, so try again until the file that is locked is the one that the name stands
  // for.
  struct stat opened{}, named{};
  int descriptor = -1;
  do {
    if (descriptor >= 0) ::close(descriptor);
    descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) fail_io(shown, action);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 || ::fstat(descriptor, &opened) != 0) {
      const int reason = errno;
      ::close(descriptor);
      if (reason == EWOULDBLOCK)
        throw UsageError(fmt::format("another run is writing '{}': choose another output with -o",
                                     shown.string()));
      errno = reason;
      fail_io(shown, action);
    }
  } while (::stat(file.c_str(), &named) != 0 || named.st_ino != opened.st_ino ||
           named.st_dev != opened.st_dev);
  return descriptor;
}

std::filesystem::path temporary_of(std::filesystem::path file) { return file += ".tmp"; }

void write_atomically(const std::filesystem::path& file, const std::string& text) {
  const std::filesystem::path temporary = temporary_of(file);
  const int descriptor = open_locked(temporary, file, "write");
  try {
    write_all(descriptor, file, text);
    // What a killed run left may be longer.
    if (::ftruncate(descriptor, static_cast<off_t>(text.size())) != 0 || ::fsync(descriptor) != 0 ||
        ::rename(temporary.c_str(), file.c_str()) != 0)
      fail_io(file, "write");
  } catch (...) {
    ::unlink(temporary.c_str());
    ::close(descriptor);
    throw;
  }
  // Last, because it gives up the lock. The file is on the disk: nothing more can fail.
  ::close(descriptor);
}

}  // namespace reduce_bench
