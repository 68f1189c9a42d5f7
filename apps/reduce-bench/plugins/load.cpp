#include "plugins/load.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <reduce_bench_plugin.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "common/error.hpp"
#include "common/inputs.hpp"
#include "common/text.hpp"
#include "plugins/limits.hpp"
#include "plugins/load_python.hpp"
#include "plugins/slots.hpp"

namespace reduce_bench {
namespace {

/// The backends of plug-ins, by the interface's numbers.
constexpr std::array kPluginBackends{Backend::kCuda, Backend::kCpu};
constexpr std::array kPluginBackendNames{name_of(Backend::kCuda), name_of(Backend::kCpu)};
static_assert(kPluginBackends[REDUCE_BENCH_CUDA] == Backend::kCuda &&
              kPluginBackends[REDUCE_BENCH_CPU] == Backend::kCpu);
// The interface's other numbers are this program's, and it has all of them.
static_assert(REDUCE_BENCH_REDUCE == index_of(Operation::kReduce) &&
              REDUCE_BENCH_MULTIREDUCE == index_of(Operation::kMultireduce) &&
              REDUCE_BENCH_REDUCE_BY_KEY == index_of(Operation::kReduceByKey) &&
              REDUCE_BENCH_HISTOGRAM == index_of(Operation::kHistogram) &&
              REDUCE_BENCH_SCATTER == index_of(Operation::kScatter) &&
              REDUCE_BENCH_GATHER == index_of(Operation::kGather) &&
              REDUCE_BENCH_SORT == index_of(Operation::kSort) &&
              REDUCE_BENCH_MULTISCAN == index_of(Operation::kMultiscan) &&
              REDUCE_BENCH_SCAN_BY_KEY == index_of(Operation::kScanByKey) &&
              REDUCE_BENCH_SCAN_BY_KEY + 1 == kOperationNames.size());
static_assert(REDUCE_BENCH_I32 == index_of(Type::kI32) &&
              REDUCE_BENCH_I64 == index_of(Type::kI64) &&
              REDUCE_BENCH_F32 == index_of(Type::kF32) &&
              REDUCE_BENCH_F64 == index_of(Type::kF64) && REDUCE_BENCH_U8 == index_of(Type::kU8) &&
              REDUCE_BENCH_U32 == index_of(Type::kU32) &&
              REDUCE_BENCH_F16 == index_of(Type::kF16) &&
              REDUCE_BENCH_BF16 == index_of(Type::kBf16) &&
              REDUCE_BENCH_U16 == index_of(Type::kU16) && REDUCE_BENCH_U16 + 1 == kTypeCount);
static_assert(REDUCE_BENCH_SUM == index_of(Op::kSum) && REDUCE_BENCH_MIN == index_of(Op::kMin) &&
              REDUCE_BENCH_MAX == index_of(Op::kMax) && REDUCE_BENCH_PROD == index_of(Op::kProd) &&
              REDUCE_BENCH_AND == index_of(Op::kAnd) && REDUCE_BENCH_OR == index_of(Op::kOr) &&
              REDUCE_BENCH_XOR == index_of(Op::kXor) &&
              REDUCE_BENCH_RIGHT == index_of(Op::kRight) &&
              REDUCE_BENCH_AFFINE == index_of(Op::kAffine) &&
              REDUCE_BENCH_NO_OP == index_of(Op::kNone) && REDUCE_BENCH_NO_OP + 1 == kOpCount);

constexpr std::size_t kMostTextBytes = 4000;
/// A CUDA stream takes twice as many before a launch waits (kLaunchQueue in point/measure.cpp).
constexpr unsigned kMostLaunches = 512;
constexpr unsigned kDefaultLaunches = 16;

/// The text, each line of it printable and ended.
std::string lines(std::string_view text) {
  std::string out;
  for (text = text.substr(0, kMostTextBytes); !text.empty();) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += printable(std::string(text.substr(0, end))) + '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether it is a `variant_id` of configs/schema/results.schema.json.
bool is_id(std::string_view id) {
  if (id.empty() || id.size() > 100 || !(is_lower(id[0]) || is_digit(id[0])) || id.back() == '/')
    return false;
  for (std::size_t i = 0; i < id.size(); ++i) {
    const char c = id[i];
    if (c == '/' && id[i - 1] == '/') return false;
    if (!is_lower(c) && !is_digit(c) && std::string_view("_.-/").find(c) == std::string_view::npos)
      return false;
  }
  return id.find('/') != std::string_view::npos;
}

/// Whether it is a `param_name` of configs/schema/config.schema.json.
bool is_param_name(std::string_view name) {
  const auto is_letter = [](char c) { return is_lower(c) || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_letter(c) || is_digit(c) || c == '_';
  });
}

/// Turns what a plug-in declares into data, and complains about what makes no sense.
class Reader {
 public:
  Reader(std::string path, const struct reduce_bench_plugin& plugin)
      : path_(std::move(path)), plugin_(plugin) {}

  DeclaredPlugin read() {
    if (plugin_.interface != REDUCE_BENCH_PLUGIN_INTERFACE)
      fail(fmt::format(
          "it is built for version {} of the interface, this program has {}; adapt it to "
          "that of this program",
          plugin_.interface, REDUCE_BENCH_PLUGIN_INTERFACE));
    where_ = "reduce_bench_plugin";
    DeclaredPlugin plugin{.file = {.path = path_,
                                   .name = printable(std::filesystem::path(path_).filename()),
                                   .version = text(plugin_.version, "version")}};
    if (plugin_.variant_count == 0 || plugin_.variants == nullptr)
      fail("it declares no variant; name them in 'variants' and 'variant_count'");
    if (plugin_.variant_count > kMostPluginVariants)
      fail(
          fmt::format("it declares {} variants, and at most {} may be loaded; check "
                      "'variant_count'",
                      plugin_.variant_count, kMostPluginVariants));
    for (std::size_t i = 0; i < plugin_.variant_count; ++i) {
      where_ = fmt::format("variant {}", i);
      plugin.variants.push_back(read(plugin_.variants[i]));
      for (std::size_t j = 0; j < i; ++j)
        if (plugin.variants[i].id == plugin.variants[j].id)
          fail("another has the same 'id'; give it one of its own");
    }
    return plugin;
  }

 private:
  [[noreturn]] void fail(const std::string& fault) const {
    throw UsageError(
        plugin_fault(path_, where_.empty() ? fault : fmt::format("{}: {}", where_, fault)));
  }

  std::string text(const char* value, const char* member) const {
    if (value == nullptr || *value == '\0')
      fail(fmt::format("'{}' is missing; give it a text", member));
    return printable(std::string(value, ::strnlen(value, kMostTextBytes)));
  }

  template <std::size_t N>
  std::size_t number(std::uint32_t value, const std::array<std::string_view, N>& names,
                     const char* member) const {
    if (value >= N)
      fail(fmt::format("'{}' is {}, and the largest is {} ('{}')", member, value, N - 1,
                       names[N - 1]));
    return value;
  }

  DeclaredVariant read(const struct reduce_bench_variant& variant) {
    DeclaredVariant declared;
    declared.id = text(variant.id, "id");
    if (!is_id(declared.id))
      fail(fmt::format("'{}' is no id; write 'who/what' in lower case, with digits and _ . -",
                       first_bytes(declared.id, 60)));
    where_ = fmt::format("'{}'", declared.id);
    declared.title = text(variant.title, "title");
    declared.source = text(variant.source, "source");
    declared.description = lines(variant.description == nullptr ? "" : variant.description);
    declared.backend = kPluginBackends[number(variant.backend, kPluginBackendNames, "backend")];
    declared.operation =
        static_cast<Operation>(number(variant.operation, kOperationNames, "operation"));
    if (variant.combination_count == 0 || variant.combinations == nullptr ||
        variant.combination_count > kTypeCount * kOpCount)
      fail("it has no types and operators; name them in 'combinations' and 'combination_count'");
    for (std::size_t i = 0; i < variant.combination_count; ++i)
      declared.combinations.push_back(read(variant.combinations[i], declared.operation));
    if (variant.param_count > kMostPluginParams ||
        (variant.param_count > 0 && variant.params == nullptr))
      fail(
          fmt::format("it has {} parameters, and at most {} are allowed; check 'params' and "
                      "'param_count'",
                      variant.param_count, kMostPluginParams));
    for (std::size_t i = 0; i < variant.param_count; ++i) {
      declared.params.push_back(read(variant.params[i], declared.operation));
      for (std::size_t j = 0; j < i; ++j)
        if (declared.params[i].name == declared.params[j].name)
          fail(fmt::format("the parameter '{}' is declared twice", declared.params[i].name));
    }
    declared.max_buckets = variant.max_buckets;
    declared.synchronous = variant.synchronous != 0;
    declared.launches = variant.launches == 0 ? kDefaultLaunches : variant.launches;
    if (declared.launches > kMostLaunches)
      fail(fmt::format("'launches' is {}, and at most {} can be queued", declared.launches,
                       kMostLaunches));
    if (variant.enqueue == nullptr) fail("'enqueue' is missing; it is what runs the variant");
    return declared;
  }

  Combination read(const struct reduce_bench_combination& combination, Operation operation) const {
    const Combination read{.type = static_cast<Type>(number(combination.type, kTypeNames, "type")),
                           .op = static_cast<Op>(number(combination.op, kOpNames, "op"))};
    if (!defined_on(operation, read.op, read.type))
      fail(fmt::format("'{}' of '{}' is not defined on {}", name_of(read.op), name_of(operation),
                       name_of(read.type)));
    return read;
  }

  ParamSpec read(const struct reduce_bench_param& param, Operation operation) const {
    ParamSpec spec{.name = text(param.name, "name of a parameter"),
                   .default_value = text(param.default_value, "default_value"),
                   .allowed = {},
                   .meaning = text(param.meaning, "meaning")};
    if (!is_param_name(spec.name))
      fail(fmt::format("'{}' is no name of a parameter; write letters, digits and _",
                       first_bytes(spec.name, 60)));
    for (std::size_t i = 0; param.allowed != nullptr && i < param.allowed_count; ++i)
      spec.allowed.push_back(text(param.allowed[i], "allowed"));
    if (std::find(spec.allowed.begin(), spec.allowed.end(), spec.default_value) ==
        spec.allowed.end())
      fail(
          fmt::format("the default of '{}' is not among its allowed values; name it in 'allowed' "
                      "and 'allowed_count'",
                      spec.name));
    check_axis_of_the_catalog(spec, operation);
    return spec;
  }

  /// Some names mean something to the harness.
  void check_axis_of_the_catalog(const ParamSpec& spec, Operation operation) const {
    const auto all_among = [&](const ParamSpec& axis) {
      return std::all_of(spec.allowed.begin(), spec.allowed.end(), [&](const std::string& value) {
        return std::find(axis.allowed.begin(), axis.allowed.end(), value) != axis.allowed.end();
      });
    };
    const bool taken =
        spec.name == "form" || spec.name == "pages" ||
        (spec.name == "scan" && !(is_scan(operation) && all_among(scan_axis()))) ||
        (spec.name == "winner" && !(operation == Operation::kScatter && all_among(winner_axis())));
    if (taken)
      fail(
          fmt::format("the parameter '{}' has a meaning of its own in reduce-bench, which this "
                      "is not; rename it",
                      spec.name));
  }

  std::string path_, where_;
  const struct reduce_bench_plugin& plugin_;
};

/// The plug-in of a shared library.
const struct reduce_bench_plugin& load_library(const std::string& path) {
  // It is named by its whole path, for a name without a folder is looked for elsewhere, and bound
  // at once, for a symbol that is missing ends a process when it is called.
  void* const library = ::dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    // The message begins with the path.
    std::string why = ::dlerror();
    if (const auto named = why.find(": "); named != std::string::npos) why.erase(0, named + 2);
    throw std::runtime_error(fmt::format(
        "it does not load: {}; build it as a shared library of this machine with all that it needs",
        why));
  }
  const void* const symbol = ::dlsym(library, "reduce_bench_plugin");
  if (symbol == nullptr)
    throw std::runtime_error(
        "it has no symbol 'reduce_bench_plugin'; define it as reduce_bench_plugin.h declares it");
  return *static_cast<const struct reduce_bench_plugin*>(symbol);
}

void check_is_file(const std::string& path) {
  constexpr const char* kAdvice =
      "name a shared library that a compiler made with -shared, or a file of Python (.py)";
  std::error_code error;
  const auto there = std::filesystem::status(path, error);
  if (!std::filesystem::exists(there))
    throw std::runtime_error(fmt::format("there is no such file; {}", kAdvice));
  if (!std::filesystem::is_regular_file(there))
    throw std::runtime_error(fmt::format("it is not a regular file; {}", kAdvice));
}

}  // namespace

DeclaredPlugin load_plugin(const std::string& path) {
  std::string checksum;
  const struct reduce_bench_plugin* plugin = nullptr;
  try {
    check_is_file(path);
    checksum = file_checksum(path);
    plugin = is_python(path) ? &load_python(path) : &load_library(path);
  } catch (const std::runtime_error& fault) {
    throw UsageError(plugin_fault(path, fault.what()));
  }
  DeclaredPlugin declared = Reader(path, *plugin).read();
  declared.file.checksum = checksum;
  add_to_catalog(declared, plugin->variants);
  return declared;
}

}  // namespace reduce_bench
