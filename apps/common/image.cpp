#include "common/image.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "common/error.hpp"

namespace reduce_bench {
namespace {

/// A limit that no image reaches and that keeps the product of two damaged sizes from wrapping.
constexpr std::size_t kMostPixels = std::size_t{1} << 31;

class Reader {
 public:
  Reader(const std::filesystem::path& file, std::string bytes)
      : file_(file.string()), bytes_(std::move(bytes)) {}

  [[noreturn]] void fail(const std::string& complaint) const {
    throw UsageError(fmt::format("image '{}': {} at byte {}; give a whole PGM or PPM file", file_,
                                 complaint, position_));
  }

  /// P2 and P5 are grey, P3 and P6 in colour; P2 and P3 write numbers as text.
  void read_magic() {
    const std::string magic = bytes_.substr(0, 2);
    if (magic != "P2" && magic != "P3" && magic != "P5" && magic != "P6")
      fail("it does not start with P2, P3, P5 or P6");
    position_ = 2;
    channels_ = magic == "P3" || magic == "P6" ? 3 : 1;
    plain_ = magic == "P2" || magic == "P3";
  }

  std::size_t number(const char* what, std::size_t least, std::size_t most) {
    while (
        position_ < bytes_.size() &&
        (std::isspace(static_cast<unsigned char>(bytes_[position_])) || bytes_[position_] == '#'))
      if (bytes_[position_++] == '#')
        while (position_ < bytes_.size() && bytes_[position_] != '\n') ++position_;
    std::size_t value = 0, digits = 0;
    for (; position_ < bytes_.size() && std::isdigit(static_cast<unsigned char>(bytes_[position_]));
         ++position_, ++digits)
      value = std::min(most + 1, 10 * value + static_cast<std::size_t>(bytes_[position_] - '0'));
    if (digits == 0) fail(fmt::format("the {} is missing", what));
    if (value < least || value > most)
      fail(fmt::format("the {} is not from {} to {}", what, least, most));
    return value;
  }

  Image read() {
    read_magic();
    Image image;
    image.width = number("width", 1, kMostPixels);
    image.height = number("height", 1, kMostPixels / image.width);
    most_ = number("largest value", 1, 65535);
    if (!plain_) ++position_;  // exactly one white space precedes raw samples
    const std::size_t pixels = image.width * image.height;
    const std::size_t needed = pixels * channels_ * (plain_ ? 1 : most_ > 255 ? 2 : 1);
    if (position_ > bytes_.size() || bytes_.size() - position_ < needed)
      fail(fmt::format("{} bytes of samples are missing", needed + position_ - bytes_.size()));
    image.pixels.reserve(pixels);
    for (std::size_t i = 0; i < pixels; ++i) {
      if (channels_ == 1) {
        image.pixels.push_back(static_cast<std::uint16_t>(sample()));
      } else {
        const std::size_t red = sample(), green = sample(), blue = sample();
        image.pixels.push_back(
            static_cast<std::uint16_t>((299 * red + 587 * green + 114 * blue) / 1000));
      }
    }
    return image;
  }

 private:
  std::size_t sample() {
    if (plain_) return number("sample", 0, most_);
    std::size_t value = static_cast<unsigned char>(bytes_[position_++]);
    if (most_ > 255) value = value << 8 | static_cast<unsigned char>(bytes_[position_++]);
    if (value > most_)
      fail(fmt::format("the sample {} is above the largest value {}", value, most_));
    return value;
  }

  std::string file_, bytes_;
  std::size_t position_ = 0, most_ = 0, channels_ = 1;
  bool plain_ = false;
};

}  // namespace

Image read_image(const std::filesystem::path& file) {
  const auto fail = [&](const std::string& why) {
    throw UsageError(
        fmt::format("cannot read the image '{}': {}; name a PGM or PPM file", file.string(), why));
  };
  std::error_code error;
  const auto there = std::filesystem::status(file, error);
  // A device may never end. A pipe can be read only once, but the worker process reads the file,
  // too.
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
    fail("it is not a regular file");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(std::generic_category().message(errno));
  return Reader(file, {std::istreambuf_iterator<char>(stream), {}}).read();
}

}  // namespace reduce_bench
