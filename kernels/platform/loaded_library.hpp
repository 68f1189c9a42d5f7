// A shared library that a program can do without: a build needs neither its header nor the library.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>

namespace reduce_bench {

/// Stays loaded as long as the process lives.
class LoadedLibrary {
 public:
  /// The first of the names that there is. `visibility`: RTLD_GLOBAL where what the library loads
  /// itself must find its symbols.
  explicit LoadedLibrary(std::initializer_list<const char*> names, int visibility = RTLD_LOCAL) {
    for (const char* name : names) {
      handle_ = dlopen(name, RTLD_NOW | visibility);
      if (handle_ != nullptr) return;
      why_not_ = dlerror();
    }
  }
  bool is_there() const { return handle_ != nullptr; }
  /// What the loader said of the last name.
  const std::string& why_not() const { return why_not_; }

  /// A function or an object, as the pointer's type says; false where the library has none of that
  /// name.
  template <class Pointer>
  bool find(const char* name, Pointer& pointer) const {
    pointer = reinterpret_cast<Pointer>(dlsym(handle_, name));
    return pointer != nullptr;
  }

 private:
  void* handle_ = nullptr;
  std::string why_not_;
};

}  // namespace reduce_bench
