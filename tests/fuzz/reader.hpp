// What the fuzzers of all readers share.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "common/document.hpp"
#include "common/error.hpp"

/// The interface of libFuzzer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace reduce_bench {

/// Ends the process as a finding.
[[noreturn]] inline void finding(const std::string& what) {
  std::cerr << "finding: " << what << std::endl;
  std::abort();
}

/// Whether people and programs can read it: UTF-8, without control characters but line ends.
inline void check_text(const std::string& text) {
  try {
    (void)Json(text).dump();
  } catch (const Json::exception&) {
    finding("not UTF-8: " + text);
  }
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n')
      finding("a control character in: " + text);
}

/// What `read` makes of the resolved form of what was read: it has to be good, so that a UsageError
/// is a finding.
template <class F>
Json read_again(F&& read) {
  try {
    return read();
  } catch (const UsageError& error) {
    finding(std::string("refused when read again: ") + error.what());
  }
}

/// Calls `read` on a file of these bytes. A UsageError is what a reader may answer; any other
/// exception ends the process.
template <class F>
int feed(const std::uint8_t* bytes, std::size_t size, F&& read) {
  // One file for all inputs: one for each took a third of the time of the image reader.
  static const int descriptor = memfd_create("input", MFD_CLOEXEC);
  if (descriptor < 0 || ::ftruncate(descriptor, 0) != 0 ||
      ::pwrite(descriptor, bytes, size, 0) != static_cast<ssize_t>(size))
    finding("no memory for the input");
  static const std::filesystem::path file = "/proc/self/fd/" + std::to_string(descriptor);
  try {
    read(file);
  } catch (const UsageError& error) {
    const std::string message = error.what();
    check_text(message);
    if (message.find('\n') != std::string::npos) finding("more than one line: " + message);
    if (message.size() >= 300) finding("too long: " + message);
  }
  return 0;
}

}  // namespace reduce_bench
