// Shows the progress of long work: one live line on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace reduce_bench {

class Progress {
 public:
  explicit Progress(std::size_t total);
  ~Progress();

  /// Point k (from 0) is about to run; `share` of the work is done.
  void begin(std::size_t k, const std::string& what, double share);
  /// Likewise of work that prints nothing at the end of a point: off a terminal, it prints a line at
  /// every tenth part of the way. `share` of the work is done, of even work k points of all.
  void pass(std::size_t k, const std::string& what, std::optional<double> share = {});
  /// Removes the live line, so that something else can be printed.
  void clear() const;
  /// It ended; `outcome` is a clause.
  void end(std::size_t k, const std::string& what, const std::string& outcome);

 private:
  double even_share(std::size_t k) const;
  std::string line(std::size_t k, const std::string& what, double share) const;
  void show(std::size_t k, const std::string& what, double share);

  std::size_t total_;
  bool live_;
  std::size_t passed_ = 0;  ///< the last point that was told of off a terminal
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), shown_{};
};

}  // namespace reduce_bench
