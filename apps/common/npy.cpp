#include "common/npy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "common/text.hpp"

namespace reduce_bench {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
/// No description of an array of numbers is as long.
constexpr std::size_t kMostHeaderBytes = 65536;
constexpr const char* kAdvice =
    "save one dimension of <i4, <i8, <f2, <f4, <f8, |u1, <u2 or <u4 with numpy.save";

/// What the header, a literal of Python, says: `{'descr': '<i4', 'fortran_order': False, 'shape':
/// (3,), }`.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

class HeaderReader {
 public:
  HeaderReader(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  Header read() {
    Header header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !has_descr) {
        has_descr = true;
        if (next() == '[') fail("it holds records, not numbers");
        header.descr = string();
      } else if (key == "fortran_order" && !has_order) {
        has_order = true;
        header.fortran_order = truth();
      } else if (key == "shape" && !has_shape) {
        has_shape = true;
        header.shape = numbers();
      } else {
        fail_damaged();
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    if (text_.find_first_not_of(" \n", at_) != std::string_view::npos) fail_damaged();
    if (!has_descr || !has_order || !has_shape) fail_damaged();
    return header;
  }

  [[noreturn]] void fail(const std::string& fault) const {
    throw UsageError(fmt::format("the array '{}': {}; {}", file_, fault, kAdvice));
  }

 private:
  [[noreturn]] void fail_damaged() const {
    fail(fmt::format("its header is damaged at character {}", at_));
  }

  char next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail_damaged();
  }
  std::string string() {
    const char quote = next();
    if (quote != '\'' && quote != '"') fail_damaged();
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail_damaged();
    std::string text(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return text;
  }
  bool truth() {
    next();
    for (const auto& [word, value] : {std::pair(std::string_view("True"), true), {"False", false}})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    fail_damaged();
  }
  std::vector<std::uint64_t> numbers() {
    std::vector<std::uint64_t> numbers;
    expect('(');
    while (!take(')')) {
      next();
      std::uint64_t number = 0;
      const char* const begin = text_.data() + at_;
      const auto read = std::from_chars(begin, text_.data() + text_.size(), number);
      if (read.ec != std::errc{}) fail_damaged();
      at_ += static_cast<std::size_t>(read.ptr - begin);
      numbers.push_back(number);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return numbers;
  }

  const std::string& file_;
  std::string_view text_;
  std::size_t at_ = 0;
};

/// The element type that the header's `descr` names: byte order, kind, and size.
Type type_of(const HeaderReader& reader, const std::string& descr) {
  static constexpr std::array kTypes{
      std::pair{std::string_view{"i4"}, Type::kI32}, std::pair{std::string_view{"i8"}, Type::kI64},
      std::pair{std::string_view{"f4"}, Type::kF32}, std::pair{std::string_view{"f8"}, Type::kF64},
      std::pair{std::string_view{"u1"}, Type::kU8},  std::pair{std::string_view{"u4"}, Type::kU32},
      std::pair{std::string_view{"f2"}, Type::kF16}, std::pair{std::string_view{"u2"}, Type::kU16}};
  const std::string shown = printable(std::string(first_bytes(descr, 20)));
  const std::string_view kind =
      std::string_view(descr).substr(std::min<std::size_t>(1, descr.size()));
  if (kind.starts_with('O')) reader.fail("it holds objects of Python, not numbers");
  for (const auto& [name, type] : kTypes) {
    if (kind != name) continue;
    if (descr[0] == '>' && type != Type::kU8) reader.fail("its numbers are big-endian");
    if (descr[0] == '<' || descr[0] == '|' || descr[0] == '>') return type;
  }
  reader.fail(fmt::format("its elements are '{}'", shown));
}

/// Little-endian, as all numbers of the format.
std::size_t number(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

template <class T>
Combined<T> element(const std::byte* data, std::size_t i) {
  T value;
  std::memcpy(&value, data + i * sizeof(T), sizeof(T));
  if constexpr (kIsHalf<T>) return to_float(value);
  else return value;
}

/// The first of n elements for which the test holds; n where none does.
template <class T, class F>
std::size_t first_that(const std::byte* data, std::size_t n, F&& test) {
  std::size_t first = n;
#pragma omp parallel for schedule(static) reduction(min : first) if (n > 65536)
  for (std::size_t i = 0; i < n; ++i)
    if (i < first && test(element<T>(data, i))) first = i;
  return first;
}

template <class T>
std::string unfit_floats(const std::byte* data, std::size_t n, bool for_sums) {
  const std::size_t bad =
      first_that<T>(data, n, [&](auto x) { return std::isnan(x) || (for_sums && std::isinf(x)); });
  if (bad < n)
    return fmt::format("element {} is {}, of which no result can be checked", bad,
                       element<T>(data, bad));
  if (!for_sums) return {};
  long double magnitude = 0;
#pragma omp parallel for schedule(static) reduction(+ : magnitude) if (n > 65536)
  for (std::size_t i = 0; i < n; ++i) magnitude += std::fabs(element<T>(data, i));
  // Half of the range is left for rounding.
  if (magnitude <= std::numeric_limits<Combined<T>>::max() / 2) return {};
  return fmt::format("the magnitudes of {} elements come to {:.3g}, so sums may overflow", n,
                     static_cast<double>(magnitude));
}

}  // namespace

NpyArray::NpyArray(const std::filesystem::path& file) {
  const std::string name = file.string();
  const auto fail_to_read = [&](const std::string& why) {
    throw UsageError(fmt::format("cannot read the array '{}': {}; name a .npy file", name, why));
  };
  // A device may never end. A pipe can be read only once, but the worker process reads the file,
  // too.
  std::error_code error;
  const auto there = std::filesystem::status(file, error);
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
    fail_to_read("it is not a regular file");
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail_to_read(std::generic_category().message(errno));
  struct stat found{};
  std::string start(kMagic.size() + 2 + 4 + kMostHeaderBytes, '\0');
  const bool known = ::fstat(descriptor, &found) == 0;
  const ssize_t got = known ? ::pread(descriptor, start.data(), start.size(), 0) : -1;
  const auto file_bytes = static_cast<std::size_t>(found.st_size);
  if (got > 0) mapped_ = ::mmap(nullptr, file_bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int reason = errno;
  ::close(descriptor);
  if (got < 0 || mapped_ == MAP_FAILED) {
    mapped_ = nullptr;
    fail_to_read(std::generic_category().message(reason));
  }
  mapped_bytes_ = file_bytes;
  start.resize(static_cast<std::size_t>(got));
  try {
    read(name, start);
  } catch (...) {
    unmap();
    throw;
  }
}

void NpyArray::read(const std::string& name, std::string_view start) {
  const HeaderReader file(name, {});
  if (!start.starts_with(kMagic)) file.fail("it does not begin as a .npy file does");
  const auto need = [&](std::size_t bytes) {
    if (start.size() < bytes) file.fail("it ends within its header");
  };
  std::size_t at = kMagic.size() + 2;
  need(at);
  const unsigned version = static_cast<unsigned char>(start[kMagic.size()]);
  if (version < 1 || version > 3)
    file.fail(fmt::format("version {} of the format is unknown here, 1 to 3 are not", version));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  need(at + length_bytes);
  const std::size_t header_bytes = number(start.substr(at, length_bytes));
  if (header_bytes > kMostHeaderBytes)
    file.fail(fmt::format("its header has {} bytes, and at most {} describe numbers", header_bytes,
                          kMostHeaderBytes));
  at += length_bytes;
  need(at + header_bytes);
  HeaderReader reader(name, start.substr(at, header_bytes));
  const Header header = reader.read();
  type_ = type_of(reader, header.descr);
  if (header.fortran_order) reader.fail("it is in Fortran order");
  if (header.shape.size() != 1)
    reader.fail(fmt::format("it has {} dimensions", header.shape.size()));
  const std::size_t held = (mapped_bytes_ - at - header_bytes) / size_bytes(type_);
  if (header.shape[0] > held)
    reader.fail(fmt::format("it ends after {} of its {} elements", held, header.shape[0]));
  count_ = header.shape[0];
  data_ = static_cast<const std::byte*>(mapped_) + at + header_bytes;
}

void NpyArray::unmap() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
}

NpyArray::~NpyArray() { unmap(); }

std::string NpyArray::unfit(Type type, std::size_t n) const {
  if (type != type_) return fmt::format("it holds {}, not {}", name_of(type_), name_of(type));
  if (n > count_) return fmt::format("it has {} elements, fewer than {}", count_, n);
  return {};
}

std::string NpyArray::unfit_as_values(Type type, std::size_t n, bool for_sums) const {
  if (std::string why = unfit(type, n); !why.empty()) return why;
  if (type == Type::kF16) return unfit_floats<F16>(data_, n, for_sums);
  if (type == Type::kF32) return unfit_floats<float>(data_, n, for_sums);
  if (type == Type::kF64) return unfit_floats<double>(data_, n, for_sums);
  return {};
}

std::string NpyArray::unfit_as_labels(Type type, std::size_t n, std::size_t buckets) const {
  if (std::string why = unfit(type, n); !why.empty()) return why;
  return with_label_type(type, [&]<class L>() {
    const std::size_t outside = first_that<L>(data_, n, [&](L label) { return label >= buckets; });
    if (outside == n) return std::string{};
    return fmt::format("the label {} of element {} is not below {} buckets",
                       element<L>(data_, outside), outside, buckets);
  });
}

}  // namespace reduce_bench
