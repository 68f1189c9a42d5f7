// The messages between driver and worker, as bytes on a socket.
#pragma once

#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "common/document.hpp"

namespace reduce_bench {

/// The descriptor of the end that the worker process inherits.
inline constexpr int kWorkerDescriptor = 3;

/// A descriptor that is closed when it goes.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// One end of a stream socket, which carries whole messages: a length, then CBOR. Unlike JSON text
/// CBOR keeps infinities, NaNs and strings that are not UTF-8. Owns the descriptor.
class Channel {
 public:
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  int descriptor() const { return descriptor_; }
  /// False where the other end is closed.
  bool send(const Json& message);
  /// Waits for bytes from the other end and keeps them; false where that end is closed.
  bool receive_some();
  /// The next message, if all of it was received. Throws std::exception for bytes that are none.
  std::optional<Json> next();

 private:
  int descriptor_;
  std::string received_;
};

}  // namespace reduce_bench
