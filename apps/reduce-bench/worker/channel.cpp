#include "worker/channel.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "worker/system_failure.hpp"

namespace reduce_bench {

Channel::~Channel() { reset(-1); }

void Channel::reset(int descriptor) {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = descriptor;
}

bool Channel::send(const Json& message) {
  std::string bytes(sizeof(std::uint64_t), '\0');
  Json::to_cbor(message, bytes);
  const std::uint64_t length = bytes.size() - sizeof(length);
  std::memcpy(bytes.data(), &length, sizeof(length));
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t sent =
        ::send(descriptor_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    done += static_cast<std::size_t>(sent);
  }
  return true;
}

bool Channel::receive_some() {
  std::array<char, 1 << 16> bytes;
  ssize_t got = 0;
  do {
    got = ::recv(descriptor_, bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  received_.append(bytes.data(), static_cast<std::size_t>(got));
  return true;
}

std::optional<Json> Channel::next() {
  std::uint64_t length = 0;
  if (received_.size() < sizeof(length)) return std::nullopt;
  std::memcpy(&length, received_.data(), sizeof(length));
  if (length > std::uint64_t{1} << 32) throw std::runtime_error("a message beyond all size");
  if (received_.size() < sizeof(length) + length) return std::nullopt;
  Json message = Json::from_cbor(received_.begin() + sizeof(length),
                                 received_.begin() + sizeof(length) + static_cast<long>(length));
  received_.erase(0, sizeof(length) + length);
  return message;
}

namespace {

/// An address that begins with a zero is a name without a file.
socklen_t address_of(const std::string& name, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof(address.sun_path)) throw std::runtime_error("too long a name");
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

int make_socket() {
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) throw system_failure("cannot make a socket for the worker process");
  return made;
}

}  // namespace

MeetingPlace::MeetingPlace() : listening_(make_socket()) {
  static int number = 0;
  name_ = fmt::format("reduce-bench-{}-{}", ::getpid(), ++number);
  sockaddr_un address;
  const socklen_t size = address_of(name_, address);
  if (::bind(descriptor(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(descriptor(), 1) != 0)
    throw system_failure("cannot await the worker process");
}

std::optional<int> MeetingPlace::accept() const {
  const int came = ::accept4(descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
  if (came < 0) return std::nullopt;
  ucred who{};
  socklen_t size = sizeof(who);
  if (::getsockopt(came, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == ::getuid())
    return came;
  ::close(came);
  return std::nullopt;
}

int connect_to(const std::string& name) {
  Descriptor made(make_socket());
  sockaddr_un address;
  const socklen_t size = address_of(name, address);
  if (::connect(made.number(), reinterpret_cast<const sockaddr*>(&address), size) != 0)
    throw system_failure("cannot reach the driver");
  return made.release();
}

}  // namespace reduce_bench
