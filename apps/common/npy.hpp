// Arrays in NumPy's format (.npy), versions 1.0 to 3.0: one dimension, in this machine's byte order.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "kernels/api/types.hpp"

namespace reduce_bench {

/// The elements of a file, mapped into memory: only those that are read are ever loaded.
class NpyArray {
 public:
  /// Throws UsageError that names the file, what is wrong with it, and what to do.
  explicit NpyArray(const std::filesystem::path& file);
  ~NpyArray();
  NpyArray(const NpyArray&) = delete;
  NpyArray& operator=(const NpyArray&) = delete;

  Type type() const { return type_; }
  std::size_t count() const { return count_; }
  /// The elements, which need not be aligned.
  const std::byte* data() const { return data_; }

  /// Why the first n elements cannot be values of the type, whose sums are asked for or not; empty
  /// where they can. No result of NaNs can be checked, nor a sum that may overflow.
  std::string unfit_as_values(Type type, std::size_t n, bool for_sums) const;
  /// Why they cannot be labels below `buckets`.
  std::string unfit_as_labels(Type type, std::size_t n, std::size_t buckets) const;

 private:
  void read(const std::string& name, std::string_view start);
  void unmap();
  std::string unfit(Type type, std::size_t n) const;

  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  Type type_ = Type::kI32;
  std::size_t count_ = 0;
  const std::byte* data_ = nullptr;
};

}  // namespace reduce_bench
