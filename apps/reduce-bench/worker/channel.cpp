#include "worker/channel.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace reduce_bench {

Channel::~Channel() {
  if (descriptor_ >= 0) ::close(descriptor_);
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

}  // namespace reduce_bench
