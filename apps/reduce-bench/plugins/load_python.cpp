#include "plugins/load_python.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "common/document.hpp"
#include "common/text.hpp"
#include "plugins/python_interface.hpp"

namespace reduce_bench {
namespace {

constexpr const char* kPythonAdvice = "let REDUCE_BENCH_PYTHON name a Python 3.10 or newer";

/// What the Python of the command line says of itself: where its shared library may lie, its home, and
/// where it looks for modules. A virtual environment's has a home elsewhere.
constexpr const char* kAskPython = R"sh(exec "${REDUCE_BENCH_PYTHON:-python3}" -c '
import json, os, site, sys, sysconfig
v = sysconfig.get_config_vars()
name = "libpython%d.%d.so.1.0" % sys.version_info[:2]
folders = [v.get("LIBDIR") or "", os.path.join(sys.base_prefix, "lib")]
print(json.dumps({
    "executable": sys.executable,
    "version": "%d.%d" % sys.version_info[:2],
    "new_enough": sys.version_info >= (3, 10),
    "libraries": [os.path.join(folder, name) for folder in folders] + [name],
    "home": sys.base_prefix + ":" + sys.base_exec_prefix,
    "path": sys.path,
    "sites": site.getsitepackages() + ([site.getusersitepackages()] if site.ENABLE_USER_SITE else []),
}))
' 2>/dev/null)sh";

/// The standard output of a command of the shell; empty where it failed.
std::string output_of(const char* command) {
  FILE* const pipe = ::popen(command, "re");
  if (pipe == nullptr) throw std::runtime_error("no process can be started to ask for Python");
  std::string text;
  std::array<char, 4096> bytes;
  while (const std::size_t got = std::fread(bytes.data(), 1, bytes.size(), pipe))
    text.append(bytes.data(), got);
  return ::pclose(pipe) == 0 ? text : std::string{};
}

Json ask_python() {
  // Its last line: what runs at the start of this Python may print, too.
  std::string text = output_of(kAskPython);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const Json answer = Json::parse(text.substr(text.rfind('\n') + 1), nullptr, false);
  if (!answer.is_object() || !answer.contains("libraries")) {
    const char* const named = std::getenv("REDUCE_BENCH_PYTHON");
    throw std::runtime_error(fmt::format("it is Python, and '{}' does not run; {}",
                                         named != nullptr && *named != '\0' ? named : "python3",
                                         kPythonAdvice));
  }
  if (!answer["new_enough"].get<bool>())
    throw std::runtime_error(fmt::format("it is Python, and {} has version {}; {}",
                                         answer["executable"].get<std::string>(),
                                         answer["version"].get<std::string>(), kPythonAdvice));
  return answer;
}

/// The interpreter as a library of this process. Extension modules look for its symbols in the whole
/// process.
void* load_interpreter(const Json& python) {
  std::string why;
  for (const Json& file : python["libraries"]) {
    if (void* const library = ::dlopen(file.get<std::string>().c_str(), RTLD_NOW | RTLD_GLOBAL))
      return library;
    why = ::dlerror();
  }
  throw std::runtime_error(
      fmt::format("it is Python, and {} has no shared library that loads ({}); install it (Debian, "
                  "Ubuntu: libpython3-dev), or let REDUCE_BENCH_PYTHON name another",
                  python["executable"].get<std::string>(), why));
}

template <class Function>
Function* function(void* library, const char* name) {
  void* const symbol = ::dlsym(library, name);
  if (symbol == nullptr) throw std::runtime_error(fmt::format("Python's library has no {}", name));
  return reinterpret_cast<Function*>(symbol);
}

/// `_Handover` in include/reduce_bench_plugin.py.
struct Handover {
  const char* path;
  const char* python;  ///< its answer
  const struct reduce_bench_plugin* plugin = nullptr;
  const char* fault = nullptr;
};

}  // namespace

const struct reduce_bench_plugin& load_python(const std::filesystem::path& file) {
  const Json python = ask_python();
  void* const library = load_interpreter(python);
  auto* const initialise = function<void(int)>(library, "Py_InitializeEx");
  auto* const run = function<int(const char*)>(library, "PyRun_SimpleString");
  auto* const release = function<void*()>(library, "PyEval_SaveThread");

  // The environment says it, because the functions that set it change with Python's versions.
  if (::setenv("PYTHONHOME", python["home"].get<std::string>().c_str(), 1) != 0)
    throw std::runtime_error("the environment has no room for PYTHONHOME");
  constexpr int kNoSignalHandlers = 0;
  initialise(kNoSignalHandlers);
  const std::string path = std::filesystem::absolute(file), answer = python.dump();
  Handover handover{.path = path.c_str(), .python = answer.c_str()};
  // The interface's module is the one that runs first, __main__.
  const std::string load =
      fmt::format("sys.modules['reduce_bench_plugin'] = sys.modules['__main__']\n_load({})\n",
                  reinterpret_cast<std::uintptr_t>(&handover));
  if (run(python_interface()) != 0 || run(load.c_str()) != 0)
    throw std::runtime_error(fmt::format("{} fails before it comes to the file; {}",
                                         python["executable"].get<std::string>(), kPythonAdvice));
  release();  // calls of the plug-in's functions take the interpreter's lock
  if (handover.plugin == nullptr)
    throw std::runtime_error(fmt::format("{}; mend it", printable(handover.fault)));
  return *handover.plugin;
}

}  // namespace reduce_bench
