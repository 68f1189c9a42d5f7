// What an error says.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace reduce_bench {

/// The message with which `f` throws an Error; a test failure where it does not.
template <class Error, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another error: " << error.what();
    return {};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

#define EXPECT_CONTAINS(whole, part) EXPECT_PRED2(reduce_bench::contains, whole, part)
inline bool contains(const std::string& whole, const std::string& part) {
  return whole.find(part) != std::string::npos;
}

}  // namespace reduce_bench
