// Preloaded, it lets the wall clock jump by an hour, back and forth, at every look.
#include <dlfcn.h>
#include <time.h>

#include <atomic>

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  using Function = int (*)(clockid_t, timespec*);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "clock_gettime"));
  static std::atomic<unsigned> looks{0};
  const int status = real(clock, now);
  if (status == 0 && clock == CLOCK_REALTIME) now->tv_sec += looks++ % 2 == 0 ? 3600 : -3600;
  return status;
}
