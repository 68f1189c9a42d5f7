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
  /// Hangs up, and takes the end of another socket; -1: of none.
  void reset(int descriptor);
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

/// A socket of this machine without a file, at which one process of this user can be awaited.
class MeetingPlace {
 public:
  /// Waits under a name that no other process uses.
  MeetingPlace();
  const std::string& name() const { return name_; }
  int descriptor() const { return listening_.number(); }
  /// The end of one that came; nothing where none did.
  std::optional<int> accept() const;

 private:
  std::string name_;
  Descriptor listening_;
};
/// The other process's end. Throws where nobody awaits it.
int connect_to(const std::string& name);

}  // namespace reduce_bench
