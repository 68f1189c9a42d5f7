// What the driver and its worker tell each other: points, options, records and ceilings, lossless.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "point/execute.hpp"
#include "results/results.hpp"

namespace reduce_bench {

Json to_wire(const Point& point);
/// Throws std::exception for what is no point of this build's catalog.
Point point_from_wire(const Json& json);

Json to_wire(const ExecuteOptions& options);
ExecuteOptions options_from_wire(const Json& json);

Json to_wire(const DeviceTraits& traits);
DeviceTraits traits_from_wire(const Json& json);

/// Everything but the point, which the receiver asked for and has.
Json to_wire(const Record& record);
Record record_from_wire(const Json& json, const Point& point);

/// One end of a stream socket over which whole messages go: a length, then CBOR, which unlike JSON
/// text keeps infinities, NaNs and strings that are not UTF-8. Owns the descriptor.
class Channel {
 public:
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  int descriptor() const { return descriptor_; }
  /// False where the other end is closed.
  bool send(const Json& message);
  /// Waits for bytes of the other end and takes them; false where it is closed.
  bool receive_some();
  /// The next message, if all of it was received. Throws std::exception for what is no message.
  std::optional<Json> next();

 private:
  int descriptor_;
  std::string received_;
};

}  // namespace reduce_bench
