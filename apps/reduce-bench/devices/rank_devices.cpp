#include "devices/rank_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/document.hpp"
#include "kernels/api/catalog.hpp"
#include "kernels/api/devices.hpp"
#include "kernels/platform/mpi.hpp"
#include "plan/variants.hpp"

namespace reduce_bench {
namespace {

/// What every rank tells all others of its device.
struct Introduction {
  DeviceTraits traits;
  char why_not[256] = "";  ///< it has none; empty where it has one
};

/// What the first rank asks another for. Only what has a `reply` is answered.
struct Request {
  enum class Kind {
    kUse,          ///< `size` ranks take part in what follows
    kAllocate,     ///< `size` bytes; reply: the address
    kFree,         ///< what lies at `address`
    kUpload,       ///< `size` bytes, which follow, to `address`
    kDownload,     ///< `size` bytes from `address`, which follow the reply
    kFill,         ///< `size` bytes at `address` with `value`
    kChecksum,     ///< of `size` elements of `value` bytes at `address`; reply
    kFreeBytes,    ///< reply
    kSynchronize,  ///< reply, once the last calls are done
    kShare,        ///< a call and this rank's share of it, `size` bytes of JSON, follow
    kCall,         ///< that call, once
    kSample,       ///< `size` such calls, timed by the first rank in mode `value`
    kEndOfWork,
    kEnd
  };
  Kind kind = Kind::kEnd;
  std::uint64_t address = 0, size = 0, value = 0;
};
struct Reply {
  std::uint64_t value = 0;
  std::uint64_t refusal_bytes = 0;  ///< of a sentence that follows where the memory was refused
};

std::uint64_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }
template <class T>
T* at(std::uint64_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that this process gave to another
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

/// All ranks begin what the first one times when it says so. It says so after its clock began, so
/// no other is ahead of it, and where results are on all it waits for every end.
class TimedTogether final : public Together {
 public:
  explicit TimedTogether(bool ends_on_all) : ends_on_all_(ends_on_all) {}
  void ready() override { mpi::barrier(); }
  void begin(const std::function<void()>& release) override {
    if (mpi::rank() == 0) release();
    char word = 0;
    mpi::broadcast(&word, sizeof(word));
    if (mpi::rank() != 0) release();
  }
  bool ends_on_all() const override { return ends_on_all_; }
  void end() override { mpi::barrier(); }

 private:
  bool ends_on_all_;
};

/// The memory of another rank's device. Its addresses mean nothing in this process.
class OtherRank final : public Device {
 public:
  OtherRank(unsigned rank, Backend backend, const DeviceTraits& traits)
      : rank_(rank), backend_(backend), traits_(traits) {}

  void tell(const Request& request) { mpi::send(&request, sizeof(request), rank_); }
  std::uint64_t ask(const Request& request) {
    tell(request);
    Reply reply;
    mpi::receive(&reply, sizeof(reply), rank_);
    if (reply.refusal_bytes == 0) return reply.value;
    std::string refusal(reply.refusal_bytes, '\0');
    mpi::receive(refusal.data(), refusal.size(), rank_);
    throw OutOfMemory(fmt::format("on rank {}, {}", rank_, refusal));
  }
  void share(const std::string& call) {
    tell({.kind = Request::Kind::kShare, .size = call.size()});
    mpi::send(call.data(), call.size(), rank_);
  }

  Backend backend() const override { return backend_; }
  const DeviceTraits& traits() const override { return traits_; }
  std::size_t free_bytes() const override {
    return const_cast<OtherRank*>(this)->ask({.kind = Request::Kind::kFreeBytes});
  }
  Memory allocate(std::size_t size_bytes) override {
    const std::uint64_t address = ask({.kind = Request::Kind::kAllocate, .size = size_bytes});
    return {at<void>(address), size_bytes, [this](void* data) {
              tell({.kind = Request::Kind::kFree, .address = address_of(data)});
            }};
  }
  Memory allocate_host(std::size_t) override { throw_not_here(); }
  void upload(void* to, const void* from, std::size_t size_bytes) override {
    tell({.kind = Request::Kind::kUpload, .address = address_of(to), .size = size_bytes});
    mpi::send(from, size_bytes, rank_);
  }
  void download(void* to, const void* from, std::size_t size_bytes) override {
    ask({.kind = Request::Kind::kDownload, .address = address_of(from), .size = size_bytes});
    mpi::receive(to, size_bytes, rank_);
  }
  void fill(void* to, unsigned char byte, std::size_t size_bytes) override {
    tell({.kind = Request::Kind::kFill,
          .address = address_of(to),
          .size = size_bytes,
          .value = byte});
  }
  std::uint64_t checksum(const void* data, std::size_t n, std::size_t element_bytes) override {
    return ask({.kind = Request::Kind::kChecksum,
                .address = address_of(data),
                .size = n,
                .value = element_bytes});
  }
  Stream stream() override { return {}; }
  void synchronize() override { ask({.kind = Request::Kind::kSynchronize}); }
  bool has_mode(Mode, const Work&) const override { throw_not_here(); }
  Sample sample(Mode, const Work&, unsigned) override { throw_not_here(); }
  std::vector<StreamShape> read_shapes(const std::byte*, std::size_t) override { return {}; }
  std::function<void()> copy(std::byte*, const std::byte*, std::size_t) override { return {}; }
  std::function<void()> empty_launch() override { return {}; }

 private:
  [[noreturn]] static void throw_not_here() {
    throw std::logic_error("another rank's device only holds memory");
  }

  unsigned rank_;
  Backend backend_;
  DeviceTraits traits_;
};

/// A call without its arrays, and the share of one rank.
Json to_json(const Variant& variant, const Problem& problem, const DeviceShare& share) {
  Json params = Json::array();
  for (const Params::Entry& entry : problem.params.entries())
    params.push_back({entry.name, entry.value});
  return {{"variant", variant.id},
          {"n", problem.n},
          {"buckets", problem.buckets},
          {"type", index_of(problem.type)},
          {"op", index_of(problem.op)},
          {"distribution", problem.distribution},
          {"params", params},
          {"devices", problem.device.devices},
          {"share_n", share.n},
          {"values", address_of(share.values)},
          {"labels", address_of(share.labels)},
          {"results", address_of(share.results)},
          {"workspace", address_of(share.workspace)}};
}

/// What the first rank told another of a call.
class SharedCall {
 public:
  SharedCall(const Json& json, const DeviceTraits& traits, Device& device)
      : variant_(find_variant(json.at("variant")).on(device.backend())), traits_(traits) {
    for (const Json& entry : json.at("params")) params_.set(entry.at(0), entry.at(1));
    traits_.devices = json.at("devices");
    distribution_ = json.at("distribution");
    n_ = json.at("n");
    buckets_ = json.at("buckets");
    type_ = static_cast<Type>(json.at("type").get<unsigned>());
    op_ = static_cast<Op>(json.at("op").get<unsigned>());
    share_ = {.values = at<void>(json.at("values")),
              .labels = at<void>(json.at("labels")),
              .n = json.at("share_n"),
              .results = at<void>(json.at("results")),
              .workspace = at<std::byte>(json.at("workspace")),
              .stream = device.stream()};
  }
  void enqueue() const {
    const Problem problem{.operation = variant_->operation,
                          .n = n_,
                          .buckets = buckets_,
                          .type = type_,
                          .op = op_,
                          .distribution = distribution_,
                          .params = params_,
                          .device = traits_};
    variant_->enqueue[index_of(type_)][index_of(op_)]({.problem = problem, .shares = {&share_, 1}});
  }
  bool is_synchronous() const { return variant_->synchronous; }

 private:
  const Variant* variant_;
  DeviceTraits traits_;  ///< the first rank's, by which it reckoned the workspace
  Params params_;
  std::string distribution_;
  std::size_t n_ = 0, buckets_ = 0;
  Type type_ = Type::kI32;
  Op op_ = Op::kSum;
  DeviceShare share_;
};

/// The first rank's device, with the others behind it.
class FirstRank final : public Device {
 public:
  FirstRank(std::unique_ptr<Device> own, const std::vector<Introduction>& all)
      : own_(std::move(own)), traits_(own_->traits()) {
    for (unsigned rank = 1; rank < all.size(); ++rank)
      others_.push_back(std::make_unique<OtherRank>(rank, own_->backend(), all[rank].traits));
    why_not_more_ = fmt::format("mpirun started {}", all.size());
    unsigned good = 1;
    for (; good < all.size(); ++good) {
      const char* const why_not = all[good].why_not;
      if (why_not[0] != '\0') why_not_more_ = fmt::format("rank {} has none: {}", good, why_not);
      else if (own_->backend() == Backend::kCuda && !are_alike(all[good].traits, traits_))
        why_not_more_ = fmt::format("that of rank {} is unlike that of rank 0", good);
      else continue;
      break;
    }
    traits_.devices = std::min(good, kMostDevices);
  }
  ~FirstRank() override {
    for (const auto& other : others_) other->tell({.kind = Request::Kind::kEnd});
  }
  FirstRank(const FirstRank&) = delete;
  FirstRank& operator=(const FirstRank&) = delete;

  bool gathers_processes() const override { return true; }
  std::vector<Device*> gather(unsigned count) override {
    if (count > traits_.devices)
      throw DeviceLacks(fmt::format("asks for {} devices, one of each rank; {} can be used ({})",
                                    count, traits_.devices, why_not_more_));
    if (count > 1 && count != used_) {
      for (const auto& other : others_) other->tell({.kind = Request::Kind::kUse, .size = count});
      mpi::use_first(count);
      used_ = count;
    }
    std::vector<Device*> devices{this};
    for (unsigned i = 0; i + 1 < count; ++i) devices.push_back(others_[i].get());
    return devices;
  }
  void share(const Variant& variant, const Problem& problem,
             std::span<const DeviceShare> shares) override {
    for (std::size_t rank = 1; rank < shares.size(); ++rank)
      others_[rank - 1]->share(to_json(variant, problem, shares[rank]).dump());
  }
  void call(const Work& work) override {
    tell_others_of(work, {.kind = Request::Kind::kCall});
    work.enqueue();
  }
  Sample sample(Mode mode, const Work& work, unsigned batch) override {
    if (work.devices.size() <= 1) return own_->sample(mode, work, batch);
    tell_others_of(work, {.kind = Request::Kind::kSample,
                          .address = work.ends_on_all,
                          .size = batch,
                          .value = index_of(mode)});
    TimedTogether together(work.ends_on_all);
    Work own = work;
    own.devices.clear();
    own.together = &together;
    return own_->sample(mode, own, batch);
  }
  void end_of_work() override {
    for (const auto& other : others_) other->tell({.kind = Request::Kind::kEndOfWork});
    own_->end_of_work();
  }

  // What follows is the own device's.
  Backend backend() const override { return own_->backend(); }
  bool shares_host_memory() const override { return own_->shares_host_memory(); }
  /// After a call that threw others may wait for this rank's part of it.
  bool survives_errors() const override { return false; }
  const DeviceTraits& traits() const override { return traits_; }
  std::size_t free_bytes() const override { return own_->free_bytes(); }
  Memory allocate(std::size_t size_bytes) override { return own_->allocate(size_bytes); }
  Memory allocate_host(std::size_t size_bytes) override { return own_->allocate_host(size_bytes); }
  void upload(void* to, const void* from, std::size_t size_bytes) override {
    own_->upload(to, from, size_bytes);
  }
  void download(void* to, const void* from, std::size_t size_bytes) override {
    own_->download(to, from, size_bytes);
  }
  void fill(void* to, unsigned char byte, std::size_t size_bytes) override {
    own_->fill(to, byte, size_bytes);
  }
  std::uint64_t checksum(const void* data, std::size_t n, std::size_t element_bytes) override {
    return own_->checksum(data, n, element_bytes);
  }
  Stream stream() override { return own_->stream(); }
  void synchronize() override { own_->synchronize(); }
  bool has_mode(Mode mode, const Work& work) const override { return own_->has_mode(mode, work); }
  std::vector<Counter> count(Mode mode, const Work& work,
                             const std::function<void()>& restore) override {
    return own_->count(mode, work, restore);
  }
  void watch_code() override { own_->watch_code(); }
  std::optional<MachineCode> code(const Work& work) override { return own_->code(work); }
  std::optional<Energy> energy(const Work& work) override { return own_->energy(work); }
  std::optional<double> round_trip_ns() override { return own_->round_trip_ns(); }
  double least_sample_ns() const override { return own_->least_sample_ns(); }
  std::optional<double> max_sm_clock_mhz() const override { return own_->max_sm_clock_mhz(); }
  std::vector<StreamShape> read_shapes(const std::byte* data, std::size_t size_bytes) override {
    return own_->read_shapes(data, size_bytes);
  }
  std::function<void()> copy(std::byte* to, const std::byte* from,
                             std::size_t size_bytes) override {
    return own_->copy(to, from, size_bytes);
  }
  std::function<void()> empty_launch() override { return own_->empty_launch(); }
  std::optional<unsigned> link_count() override { return own_->link_count(); }

 private:
  static bool are_alike(const DeviceTraits& a, const DeviceTraits& b) {
    return a.sm_count == b.sm_count && a.max_threads_per_sm == b.max_threads_per_sm &&
           a.max_shared_bytes_per_block == b.max_shared_bytes_per_block;
  }
  void tell_others_of(const Work& work, const Request& request) {
    for (std::size_t rank = 1; rank < work.devices.size(); ++rank) others_[rank - 1]->tell(request);
  }

  std::unique_ptr<Device> own_;
  DeviceTraits traits_;
  std::string why_not_more_;
  std::vector<std::unique_ptr<OtherRank>> others_;
  unsigned used_ = 0;  ///< ranks of the last gathering
};

/// Makes this rank's device, and tells all ranks of it.
std::pair<std::unique_ptr<Device>, std::vector<Introduction>> introduce(const MakeDevice& make) {
  std::unique_ptr<Device> device;
  Introduction own;
  try {
    device = make();
    own.traits = device->traits();
  } catch (const std::exception& error) {
    if (mpi::rank() == 0) throw;
    std::strncpy(own.why_not, error.what(), sizeof(own.why_not) - 1);
  }
  std::vector<Introduction> all(mpi::count());
  mpi::gather_all(&own, sizeof(own), all.data());
  return {std::move(device), std::move(all)};
}

/// Another rank's side.
class Served {
 public:
  Served(Device& device, const DeviceTraits& traits_of_first)
      : device_(device), traits_of_first_(traits_of_first) {}

  void serve(const Request& request) {
    switch (request.kind) {
      case Request::Kind::kAllocate: return allocate(request.size);
      case Request::Kind::kFree: memory_.erase(request.address); return;
      case Request::Kind::kUpload: return upload(at<void>(request.address), request.size);
      case Request::Kind::kDownload: return download(at<void>(request.address), request.size);
      case Request::Kind::kFill:
        return device_.fill(at<void>(request.address), static_cast<unsigned char>(request.value),
                            request.size);
      case Request::Kind::kChecksum:
        return reply(device_.checksum(at<void>(request.address), request.size, request.value));
      case Request::Kind::kFreeBytes: return reply(device_.free_bytes());
      case Request::Kind::kSynchronize: device_.synchronize(); return reply(0);
      case Request::Kind::kShare: return take_share(request.size);
      case Request::Kind::kCall: return enqueue();
      case Request::Kind::kSample: return sample(request);
      case Request::Kind::kEndOfWork: return device_.end_of_work();
      case Request::Kind::kUse:
      case Request::Kind::kEnd: break;
    }
  }

 private:
  static void reply(std::uint64_t value, const std::string& refusal = {}) {
    const Reply answer{.value = value, .refusal_bytes = refusal.size()};
    mpi::send(&answer, sizeof(answer), 0);
    mpi::send(refusal.data(), refusal.size(), 0);
  }
  void allocate(std::size_t size_bytes) {
    try {
      Memory memory = device_.allocate(size_bytes);
      const std::uint64_t address = address_of(memory.data());
      memory_.emplace(address, std::move(memory));
      reply(address);
    } catch (const OutOfMemory& refused) {
      reply(0, refused.what());
    }
  }
  void upload(void* to, std::size_t size_bytes) {
    std::vector<std::byte> bytes(size_bytes);
    mpi::receive(bytes.data(), size_bytes, 0);
    device_.upload(to, bytes.data(), size_bytes);
  }
  void download(const void* from, std::size_t size_bytes) {
    std::vector<std::byte> bytes(size_bytes);
    device_.download(bytes.data(), from, size_bytes);
    reply(0);
    mpi::send(bytes.data(), size_bytes, 0);
  }
  void take_share(std::size_t size_bytes) {
    std::string text(size_bytes, '\0');
    mpi::receive(text.data(), size_bytes, 0);
    call_ = std::make_unique<SharedCall>(Json::parse(text), traits_of_first_, device_);
  }
  void enqueue() const {
    try {
      call_->enqueue();
    } catch (const DeviceLacks&) {
      // The first rank lacks the same, and says so.
    }
  }
  void sample(const Request& request) {
    const bool ends_on_all = request.address != 0;
    TimedTogether together(ends_on_all);
    const Work work{.enqueue = [&] { call_->enqueue(); },
                    .synchronous = call_->is_synchronous(),
                    .ends_on_all = ends_on_all,
                    .together = &together};
    device_.sample(static_cast<Mode>(request.value), work, static_cast<unsigned>(request.size));
  }

  Device& device_;
  DeviceTraits traits_of_first_;
  std::map<std::uint64_t, Memory> memory_;  ///< by address
  std::unique_ptr<SharedCall> call_;
};

}  // namespace

std::unique_ptr<Device> gather_ranks(const MakeDevice& make) {
  auto [device, all] = introduce(make);
  return std::make_unique<FirstRank>(std::move(device), all);
}

void serve_first_rank(const MakeDevice& make) {
  const auto [device, all] = introduce(make);
  std::unique_ptr<Served> served;
  if (device) served = std::make_unique<Served>(*device, all.front().traits);
  for (;;) {
    mpi::await_message(0);
    Request request;
    mpi::receive(&request, sizeof(request), 0);
    if (request.kind == Request::Kind::kEnd) return;
    if (request.kind == Request::Kind::kUse) mpi::use_first(static_cast<unsigned>(request.size));
    else if (served) served->serve(request);
  }
}

}  // namespace reduce_bench
