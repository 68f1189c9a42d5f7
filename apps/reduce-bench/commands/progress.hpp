// Shows the progress of long work: one live line on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace reduce_bench {

class Progress {
 public:
  explicit Progress(std::size_t total);
  ~Progress();

  /// Point k (from 0) is about to run.
  void begin(std::size_t k, const std::string& what);
  /// It ended; `outcome` is a clause.
  void end(std::size_t k, const std::string& what, const std::string& outcome);

 private:
  std::string remaining(std::size_t done) const;

  std::size_t total_;
  bool live_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace reduce_bench
