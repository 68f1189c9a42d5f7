// What a variant declares. The harness does the rest: memory, streams, timing, verification.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/api/operation.hpp"
#include "kernels/api/types.hpp"

namespace reduce_bench {

/// One tunable axis of a variant. All values are text; `Params::number` reads the numeric ones.
struct ParamSpec {
  std::string name;
  std::string default_value;
  std::vector<std::string> allowed;  ///< every value the variant accepts, the default among them
  std::string meaning;               ///< one clause; the publication's value where there is one
  std::vector<std::string> cuda_only = {};  ///< those values that call a library of CUDA

  bool runs_on(Backend backend, std::string_view value) const {
    return backend == Backend::kCuda ||
           std::find(cuda_only.begin(), cuda_only.end(), value) == cuda_only.end();
  }
};

/// The resolved value of every axis of one variant, in the order of its declaration.
class Params {
 public:
  void set(std::string name, std::string value) {
    const std::optional<unsigned> number = to_number(value);
    for (Entry& entry : entries_) {
      if (entry.name == name) {
        entry.value = std::move(value);
        entry.number = number;
        return;
      }
    }
    entries_.push_back({std::move(name), std::move(value), number});
  }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const std::string& text(std::string_view name) const { return get(name).value; }
  bool is(std::string_view name, std::string_view value) const { return text(name) == value; }
  bool is_number(std::string_view name) const { return get(name).number.has_value(); }
  /// The value of a numeric axis; parsed once, when it was set. Throws std::logic_error for a value
  /// that is a word, such as `auto`.
  unsigned number(std::string_view name) const {
    const Entry& entry = get(name);
    if (entry.number) return *entry.number;
    throw std::logic_error("parameter '" + entry.name + "' is '" + entry.value + "', no number");
  }

  struct Entry {
    std::string name, value;
    std::optional<unsigned> number;  ///< where all of the value is one
    bool operator==(const Entry&) const = default;
  };
  const std::vector<Entry>& entries() const { return entries_; }
  bool operator==(const Params&) const = default;

 private:
  static std::optional<unsigned> to_number(const std::string& value) {
    unsigned number = 0;
    const char* end = value.data() + value.size();
    const auto [last, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc{} || last != end) return std::nullopt;
    return number;
  }
  const Entry* find(std::string_view name) const {
    for (const Entry& entry : entries_)
      if (entry.name == name) return &entry;
    return nullptr;
  }
  const Entry& get(std::string_view name) const {
    if (const Entry* entry = find(name)) return *entry;
    throw std::logic_error("parameter '" + std::string(name) + "' is not declared");
  }
  std::vector<Entry> entries_;
};

/// The axis of kernels whose warps have a table each in shared memory.
inline ParamSpec warps_axis() {
  return {"warps",
          "auto",
          {"auto", "4", "8", "16", "24"},
          "warps of a block, at most; auto: as many as have room for a table, up to 32; of few "
          "inputs fewer"};
}
/// How many warps that allows where a block can have `most`.
inline unsigned most_warps_of(const Params& params, unsigned most) {
  return params.is("warps", "auto") ? most : std::min(most, params.number("warps"));
}
/// The axis that every variant of a scan has, and no other: it changes the result.
inline ParamSpec scan_axis() {
  return {"scan",
          "exclusive",
          {"exclusive", "inclusive"},
          "whether result i leaves input i out (the thesis's default) or takes it in"};
}
inline bool is_inclusive(const Params& params) {
  return params.has("scan") && params.is("scan", "inclusive");
}

/// The axis of scatters that may let any of equal labels win: it changes which results are right.
/// A scatter without it lets the last win.
inline ParamSpec winner_axis() {
  return {"winner",
          "any",
          {"any", "last"},
          "which of equal labels wins (any: the publication's, in one store per input)"};
}
inline bool any_wins(const Params& params) {
  return params.has("winner") && params.is("winner", "any");
}

/// Whether a setting keeps a variant to tables or partitions where it would have atomics for few inputs.
inline bool keeps_to_tables(const Params& params) {
  const auto is = [&](std::string_view name, std::string_view value) {
    return params.has(name) && params.is(name, value);
  };
  return is("copies", "1") || is("ways", "2") || is("launch", "partitioned");
}

/// The properties of a device that a launch shape may depend on.
struct DeviceTraits {
  unsigned sm_count = 1;
  unsigned max_threads_per_sm = 2048;
  unsigned max_blocks_per_sm = 32;
  std::size_t max_shared_bytes_per_block = 48 * 1024;
  unsigned max_blocks_per_cluster = 1;
  bool overlapping_launches = false;  ///< a launch may begin while the one before still runs
  unsigned devices = 1;  ///< alike, that reach each other's memory: this one and others
};

/// One problem as a variant sees it before any memory exists.
struct Problem {
  Operation operation = Operation::kReduce;
  std::size_t n = 0;        ///< elements
  std::size_t buckets = 0;  ///< labels lie in [0, buckets); 0 where the operation has none
  Type type = Type::kI32;   ///< of the values; of the labels where there are no values
  Op op = Op::kSum;
  std::string_view distribution;  ///< of the values, by name
  const Params& params;
  const DeviceTraits& device;

  Arrays arrays() const { return arrays_of(operation, n, buckets, type); }
  std::size_t element_bytes() const { return size_bytes(type); }
  /// The size of a partial result.
  std::size_t combined_bytes() const { return size_bytes(result_type(type)); }
  std::size_t input_bytes() const { return arrays().input_bytes(); }
};

/// Bytes of device memory traffic that the algorithm must cause, by its published structure.
struct Traffic {
  std::size_t read_bytes = 0;
  std::size_t written_bytes = 0;
  std::size_t link_bytes = 0;  ///< besides, between devices
};

/// Scratch memory of each device, aligned to 256 bytes. The first `zeroed_bytes` of the device part are zero
/// before the first call on a problem and never again: a variant that needs them zero leaves them
/// zero. The rest holds garbage.
struct Workspace {
  std::size_t device_bytes = 0;
  std::size_t zeroed_bytes = 0;
  std::size_t host_bytes = 0;  ///< page-locked, for variants that finish on the host
};

/// What one `enqueue` really launched, for the record: how many kernels, and the shape of the one
/// with the most threads (the first of equals). Launches aside are recorded where there is no other.
struct Launches {
  unsigned kernels = 0;
  unsigned grid = 0;   ///< blocks
  unsigned block = 0;  ///< threads per block
  std::size_t shared_bytes = 0;
  int registers = 0;  ///< per thread; 0 where the backend has none
};

/// What fills it while an `enqueue` runs.
struct LaunchLog : Launches {
  bool is_aside = true;  ///< the launch of that shape

  /// Counts a launch; true where its shape is now the one recorded.
  bool add(unsigned launch_grid, unsigned launch_block, std::size_t launch_shared_bytes,
           bool aside) {
    ++kernels;
    const bool larger = std::size_t{launch_grid} * launch_block > std::size_t{grid} * block;
    if (aside == is_aside ? !larger : aside) return false;
    is_aside = aside;
    grid = launch_grid;
    block = launch_block;
    shared_bytes = launch_shared_bytes;
    return true;
  }
};

/// A stream of the backend and, while a launch is being recorded, the log.
struct Stream {
  void* handle = nullptr;
  LaunchLog* log = nullptr;
  int device = 0;  ///< that it is of, as the backend numbers them
  /// Launches prepare or finish what the algorithm's kernels do: they fill, or add partial results up.
  bool is_aside = false;

  Stream aside() const {
    Stream stream = *this;
    stream.is_aside = true;
    return stream;
  }
};

/// What the device lacks for a launch, in numbers where there are some: an `enqueue` throws it, and
/// the point is skipped with this sentence.
struct DeviceLacks : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A known fault of a variant kept as published.
struct Defect {
  std::string reason;
  /// Wrong on every uniform random input; otherwise (a race, special data) right by luck is
  /// possible.
  bool certain = true;
};

/// What one of several devices has of a call: its share of the inputs, and a workspace and a stream of
/// its own. Every device can read and write the memory of the others.
struct DeviceShare {
  const void* values = nullptr;
  const void* labels = nullptr;
  std::size_t n = 0;        ///< inputs
  void* results = nullptr;  ///< null where this device is not to have them
  std::byte* workspace = nullptr;
  Stream stream;
};

/// One execution of a variant on memory that the harness owns: the arrays of `Problem::arrays`, null
/// where the operation has none. Inputs are never written. Outputs hold garbage and are device
/// memory, or host memory if the variant finishes on the host.
struct Call {
  const void* values = nullptr;
  const void* labels = nullptr;
  void* results = nullptr;
  void* result_labels = nullptr;
  void* result_count = nullptr;
  std::byte* workspace = nullptr;
  std::byte* host_workspace = nullptr;
  Stream stream;
  const Problem& problem;
  /// One for each device, if the variant has `devices_axis()` (devices.hpp): it uses these in the place
  /// of the arrays, the workspace and the stream above.
  std::span<const DeviceShare> shares;
};

/// Puts the whole operation on the stream. It never allocates or times, and waits only if the variant
/// is `synchronous`.
using Enqueue = void (*)(const Call&);
using EnqueueTable = std::array<std::array<Enqueue, kOpCount>, kTypeCount>;

/// Where the outputs lie: in device memory, or in the host's because the last step runs there, for
/// which the call waits: such a variant is `synchronous`.
enum class Finish { kDevice, kHost };

struct Variant {
  std::string_view id;      ///< `source/what`, permanent; also the path of the file
  std::string_view title;   ///< a few words
  std::string_view source;  ///< document and section
  Operation operation = Operation::kReduce;
  Fidelity fidelity = Fidelity::kAdapted;
  Finish finish = Finish::kDevice;
  /// The call returns only when the work is done: it cannot be queued behind a blocked stream or
  /// captured in a graph, and its time includes the launch latency.
  bool synchronous = false;
  std::vector<ParamSpec> params;
  /// Why this problem is outside what the publication supports; empty where it is inside.
  std::string (*restriction)(const Problem&) = nullptr;
  /// The fault that this problem (its `form`, mostly) has as published; nothing where the result
  /// must be right. A result with a defect is never ranked, right or wrong.
  std::optional<Defect> (*defect)(const Problem&) = nullptr;
  /// How many elements after the input the variant reads as published; the harness fills them with
  /// garbage (NaN for floats, labels beyond all buckets).
  std::size_t (*overread)(const Problem&) = nullptr;
  /// The sizes at which the launch changes its shape (another kernel, another split of the work): the
  /// largest n of each shape. `verify` checks both sides. Null: one shape.
  std::vector<std::size_t> (*borders)(const Problem&) = nullptr;
  /// Most operator applications between any input and the result: floating-point error bounds
  /// follow from it.
  std::uint64_t (*depth)(const Problem&) = nullptr;
  /// A float sum that is rounded once, so that no order of the inputs changes a bit of it: the
  /// result is compared bit for bit, of infinities and NaN too, and `depth` has no say.
  bool correctly_rounded = false;
  Traffic (*traffic)(const Problem&) = nullptr;
  Workspace (*workspace)(const Problem&) = nullptr;  ///< null: none
  /// The width of the counts that the library called is given, 0 if none is; null where none ever is.
  unsigned (*count_bits)(const Problem&) = nullptr;
  /// The name and version of the library that a call has loaded; null where none is loaded at run time.
  std::string (*loaded_library)() = nullptr;
  /// Holds a function for each type and operator; null where the combination is not provided.
  EnqueueTable enqueue{};

  bool supports(Type t, Op o) const { return enqueue[index_of(t)][index_of(o)] != nullptr; }
  /// Whether operators that do not commute are provided, that is, order is preserved.
  bool preserves_order() const {
    return supports(Type::kI32, Op::kRight) || supports(Type::kI64, Op::kAffine);
  }
};

constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }
constexpr unsigned log2_ceil(std::size_t n) {
  unsigned bits = 0;
  while ((std::size_t{1} << bits) < n) ++bits;
  return bits;
}

}  // namespace reduce_bench
