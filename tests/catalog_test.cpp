// Every variant is declared completely and consistently.
#include "kernels/api/catalog.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernels/shared/library_counts.hpp"
#include "kernels/shared/residency.hpp"

namespace reduce_bench {
namespace {

TEST(Catalog, IdsAreUnique) {
  std::set<std::string_view> ids;
  for (const CatalogEntry& entry : catalog())
    EXPECT_TRUE(ids.insert(entry.variant.id).second) << entry.variant.id;
}

TEST(Catalog, HoldsEveryKernelFile) {
  std::set<std::string_view> ids, files;
  for (const CatalogEntry& entry : catalog()) ids.insert(entry.variant.id);
  for (const auto& [id, text] : descriptions()) files.insert(id);
  for (const std::string_view file : files)
    EXPECT_TRUE(ids.contains(file)) << "no line in kernels/catalog.def: " << file;
  for (const std::string_view id : ids)
    EXPECT_TRUE(files.contains(id)) << "not the path of a kernel file: " << id;
}

/// A header comment is filled to the columns of the code, of which "// " takes three.
constexpr std::size_t kColumns = 100 - 3;
/// A hand keeps an expression such as `blocks * sizeof(T)` on one line, so up to this many columns
/// of the line before may stay free. A formatter that wraps an overlong line leaves the overflow, a
/// word or two, on a line of its own: most of its columns stay free.
constexpr std::size_t kFreeColumns = 20;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool is_library(std::string_view id) {
  return std::ranges::any_of(std::array{"cub/", "thrust/", "nccl/", "mpi/"},
                             [&](const char* prefix) { return id.starts_with(prefix); });
}
/// NCCL and MPI take counts of one width alone.
bool chooses_counts(std::string_view id) {
  return id.starts_with("cub/") || id.starts_with("thrust/") || id == "nccl/reduce";
}
/// Those that call CUB's sort of all inputs where they are asked to (sort=cub).
bool can_sort_by_cub(std::string_view id) {
  return id == "eilers/global-atomic-sorted" || id == "eilers/global-ordered-sorted" ||
         id == "eilers/shared-bank-sorted" || id == "eilers/scatter-sorted";
}

/// What is wrong with the form of a header comment, line by line; nothing where it is well formed.
/// A library's says besides why it is called as it is.
std::vector<std::string> faults_of_header(std::string_view id, std::string_view text) {
  std::vector<std::string> headings{
      "Source: ", "Idea: ", "Fixes: ", "Launch: ", "Traffic: ", "Preconditions: ", "Deviations: "};
  if (is_library(id)) headings.push_back("Choice: ");
  const std::vector<std::string> lines = lines_of(text);
  const std::string title = std::string(id) + ": ";
  std::vector<std::string> faults;
  if (lines.size() < 2 || !lines[0].starts_with(title) || lines[0].size() == title.size())
    faults.push_back("the first line is not '" + title + "<title>'");
  if (lines.size() < 2 || !lines[1].empty()) faults.push_back("no empty line after the title");

  std::size_t next_heading = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    const auto fault = [&](const std::string& what) { faults.push_back(what + ": " + line); };
    if (line.size() > kColumns) fault("longer than the columns of the code");
    if (i < 2) continue;
    if (next_heading < headings.size() && line.starts_with(headings[next_heading])) {
      ++next_heading;
      continue;
    }
    if (!line.starts_with("  ") || line.find_first_not_of(' ') != 2) {
      fault("neither the next heading nor continued by two spaces");
      continue;
    }
    const std::size_t next_word = line.find(' ', 2) - 2;
    const std::size_t filled = lines[i - 1].size() + 1 + std::min(next_word, line.size() - 2);
    if (filled + kFreeColumns <= kColumns) fault("the line before is broken early");
  }
  if (next_heading < headings.size())
    faults.push_back("lacks '" + headings[next_heading] + "' in its place");
  return faults;
}

TEST(Catalog, HeaderCommentsAreWellFormed) {
  for (const CatalogEntry& entry : catalog())
    EXPECT_EQ(faults_of_header(entry.variant.id, entry.description), std::vector<std::string>{})
        << entry.variant.id;
}

TEST(Catalog, FilesLieInTheFolderOfTheirOperation) {
  for (const CatalogEntry& entry : catalog()) {
    const std::filesystem::path folder = std::filesystem::path(SOURCE_DIR) / "kernels" /
                                         std::string(name_of(entry.variant.operation));
    const std::string stem(entry.variant.id);
    EXPECT_TRUE(std::filesystem::exists(folder / (stem + ".cu")) ||
                std::filesystem::exists(folder / (stem + ".cpp")))
        << stem << " is not below " << folder;
  }
}

/// `ctest` has a test for each line of the list.
TEST(Catalog, EveryVariantIsVerifiedOnEachHostBackendOnce) {
  std::multiset<std::string> verified, declared;
  std::ifstream list(VERIFIED_LIST);
  for (std::string line; std::getline(list, line);) verified.insert(line);
  for (const CatalogEntry& entry : catalog())
    for (const Backend backend : {Backend::kEmu, Backend::kCpu, Backend::kOpencl})
      if (entry.on(backend) != nullptr)
        declared.insert(std::string(name_of(backend)) + " " + std::string(entry.variant.id));
  EXPECT_EQ(verified, declared);
}

TEST(Catalog, VariantsSayWhatTheyAre) {
  for (const CatalogEntry& entry : catalog()) {
    EXPECT_FALSE(entry.variant.title.empty()) << entry.variant.id;
    EXPECT_FALSE(entry.variant.source.empty()) << entry.variant.id;
    EXPECT_TRUE(entry.variant.finish == Finish::kDevice || entry.variant.synchronous)
        << entry.variant.id;
    EXPECT_NE(std::count(entry.declared.begin(), entry.declared.end(), true), 0)
        << entry.variant.id;
  }
}

TEST(Catalog, ParametersAreWellFormed) {
  for (const CatalogEntry& entry : catalog()) {
    std::set<std::string> names;
    for (const ParamSpec& spec : entry.variant.params) {
      const std::string where = std::string(entry.variant.id) + " " + spec.name;
      EXPECT_TRUE(names.insert(spec.name).second) << where << " is declared twice";
      // As the configuration's schema asks.
      EXPECT_TRUE(std::isalpha(static_cast<unsigned char>(spec.name.at(0)))) << where;
      EXPECT_TRUE(std::all_of(spec.name.begin(), spec.name.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '_';
      })) << where;
      EXPECT_EQ(std::count(spec.allowed.begin(), spec.allowed.end(), spec.default_value), 1)
          << where << ": the default is not one of the values";
      EXPECT_EQ(std::set(spec.allowed.begin(), spec.allowed.end()).size(), spec.allowed.size())
          << where << ": a value is listed twice";
      EXPECT_FALSE(spec.meaning.empty()) << where;
    }
  }
}

TEST(Catalog, ScansAndNoOthersHaveTheAxisThatSaysWhichResultTheyGive) {
  for (const CatalogEntry& entry : catalog()) {
    const auto& params = entry.variant.params;
    const auto axis = std::find_if(params.begin(), params.end(),
                                   [](const ParamSpec& spec) { return spec.name == "scan"; });
    ASSERT_EQ(axis != params.end(), is_scan(entry.variant.operation)) << entry.variant.id;
    if (axis == params.end()) continue;
    EXPECT_EQ(axis->default_value, "exclusive") << entry.variant.id;
    EXPECT_EQ(axis->allowed, (std::vector<std::string>{"exclusive", "inclusive"}))
        << entry.variant.id;
  }
}

TEST(Catalog, ScattersAloneMayHaveTheAxisThatSaysWhichOfEqualLabelsWins) {
  for (const CatalogEntry& entry : catalog())
    for (const ParamSpec& spec : entry.variant.params) {
      if (spec.name != "winner") continue;
      EXPECT_EQ(entry.variant.operation, Operation::kScatter) << entry.variant.id;
      EXPECT_EQ(spec.allowed, winner_axis().allowed) << entry.variant.id;
    }
}

TEST(Catalog, VariantsProvideTheBasicOperatorsOnEveryType) {
  // Compensation and its bounds are of floating-point sums.
  // So are the sums that have the same bits on every GPU, exact or not; at the weakest level of
  // determinism only sums are computed in another way.
  const std::set<std::string_view> float_sums_only{"cpu/kahan", "cpu/pairwise",
                                                   "cub/reduce-gpu-to-gpu", "onepass/reduce-exact",
                                                   "onepass/multireduce-exact"};
  const std::set<std::string_view> sums_only{"cub/reduce-not-guaranteed"};
  for (const CatalogEntry& entry : catalog()) {
    if (!has_operator(entry.variant.operation)) continue;
    const bool floats = float_sums_only.contains(entry.variant.id);
    const bool sums = floats || sums_only.contains(entry.variant.id);
    for (std::size_t t = 0; t < kValueTypeCount; ++t)
      for (const Op op : {Op::kSum, Op::kMin, Op::kMax}) {
        const Type type = static_cast<Type>(t);
        // Where an algorithm does not allow it, keyed operations do without the 8-byte types.
        if (has_labels(entry.variant.operation) && size_bytes(type) == 8) continue;
        const bool provided = (!floats || is_float(type)) && (!sums || op == Op::kSum);
        EXPECT_EQ(entry.variant.supports(type, op), provided)
            << entry.variant.id << " " << name_of(type) << " " << name_of(op);
      }
  }
}

TEST(Catalog, OperatorsAreProvidedOnlyWhereDefined) {
  for (const CatalogEntry& entry : catalog())
    for (std::size_t t = 0; t < kTypeCount; ++t)
      for (std::size_t o = 0; o < kOpCount; ++o)
        EXPECT_TRUE(defined_on(entry.variant.operation, static_cast<Op>(o), static_cast<Type>(t)) ||
                    entry.variant.enqueue[t][o] == nullptr)
            << entry.variant.id;
}

TEST(Catalog, APreservedOrderHoldsForBothOrderedOperators) {
  for (const CatalogEntry& entry : catalog())
    EXPECT_EQ(entry.variant.supports(Type::kI32, Op::kRight),
              entry.variant.supports(Type::kI64, Op::kAffine))
        << entry.variant.id;
}

void expect_same_declaration(const Variant& a, const Variant& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.title, b.title);
  EXPECT_EQ(a.fidelity, b.fidelity) << a.id;
  EXPECT_EQ(a.finish, b.finish) << a.id;
  EXPECT_EQ(a.synchronous, b.synchronous) << a.id;
  EXPECT_EQ(a.defect == nullptr, b.defect == nullptr) << a.id;
  ASSERT_EQ(a.params.size(), b.params.size()) << a.id;
  for (std::size_t p = 0; p < a.params.size(); ++p) {
    EXPECT_EQ(a.params[p].name, b.params[p].name) << a.id;
    EXPECT_EQ(a.params[p].default_value, b.params[p].default_value) << a.id;
    EXPECT_EQ(a.params[p].allowed, b.params[p].allowed) << a.id;
  }
  for (std::size_t t = 0; t < kTypeCount; ++t)
    for (std::size_t o = 0; o < kOpCount; ++o)
      EXPECT_EQ(a.enqueue[t][o] == nullptr, b.enqueue[t][o] == nullptr)
          << a.id << " " << kTypeNames[t] << " " << kOpNames[o];
}

TEST(Catalog, TheBuildsOfAVariantDeclareTheSame) {
  bool compared = false;
  for (const CatalogEntry& entry : catalog()) {
    const Variant* first = nullptr;
    for (const Variant* built : entry.built) {
      if (built == nullptr) continue;
      if (first == nullptr) {
        first = built;
        continue;
      }
      compared = true;
      expect_same_declaration(*first, *built);
    }
  }
  if (!compared) GTEST_SKIP() << "every variant is built once: CUDA is left out";
}

TEST(Catalog, GpuVariantsAreEmulatedButForWhatOnlyNvccCompiles) {
  const std::set<std::string_view> cuda_only{"cub/reduce",
                                             "cub/reduce-not-guaranteed",
                                             "cub/reduce-gpu-to-gpu",
                                             "thrust/reduce",
                                             "harris/grid-sync",
                                             "cub/sort-reduce-by-key",
                                             "cub/histogram",
                                             "cub/sort-run-length",
                                             "cub/radix-sort",
                                             "cub/reduce-by-key",
                                             "thrust/reduce-by-key",
                                             "thrust/sort-reduce-by-key",
                                             "cub/sort-scan-by-key-scatter",
                                             "cub/sort-index-scan-by-key",
                                             "cub/scan",
                                             "cub/scan-by-key",
                                             "thrust/scan-by-key",
                                             "nccl/reduce",
                                             "nccl/multireduce",
                                             "nccl/histogram"};
  for (const CatalogEntry& entry : catalog()) {
    if (!entry.declared[index_of(Backend::kCuda)]) continue;
    EXPECT_EQ(entry.declared[index_of(Backend::kEmu)], !cuda_only.contains(entry.variant.id))
        << entry.variant.id;
  }
}

TEST(Catalog, LibrariesAndNoOthersSayHowWideTheirCountsAre) {
  constexpr std::size_t kLargestInt = (std::size_t{1} << 31) - 1;
  const DeviceTraits device;
  for (const CatalogEntry& entry : catalog()) {
    const Variant& variant = entry.variant;
    const bool can_sort = can_sort_by_cub(variant.id);
    ASSERT_EQ(variant.count_bits != nullptr, chooses_counts(variant.id) || can_sort) << variant.id;
    if (variant.count_bits == nullptr) continue;
    Params params;
    for (const ParamSpec& spec : variant.params) params.set(spec.name, spec.default_value);
    const auto bits_of = [&](std::size_t n, std::size_t buckets) {
      return variant.count_bits({.n = n, .buckets = buckets, .params = params, .device = device});
    };
    constexpr std::size_t kMany = std::size_t{1} << 20;
    if (can_sort) {
      EXPECT_EQ(bits_of(1, kMany), 0u) << variant.id;  // by the suite's own sort
      params.set("sort", "cub");
      EXPECT_EQ(bits_of(0, kMany), 0u) << variant.id;
    }
    for (const auto& [n, bits] : {std::pair{std::size_t{1}, 32u}, std::pair{kLargestInt, 32u},
                                  std::pair{kLargestInt + 1, 64u}})
      EXPECT_EQ(bits_of(n, kMany), bits) << variant.id << " " << n;
  }
}

TEST(Catalog, NoWidthIsRecordedWhereTooFewBucketsAreNotSorted) {
  const DeviceTraits device;
  for (const CatalogEntry& entry : catalog()) {
    const Variant& variant = entry.variant;
    if (variant.id != "eilers/shared-bank-sorted" && variant.id != "eilers/global-atomic-sorted")
      continue;
    Params params;
    for (const ParamSpec& spec : variant.params) params.set(spec.name, spec.default_value);
    params.set("sort", "cub");
    EXPECT_EQ(variant.count_bits({.n = 1, .buckets = 16, .params = params, .device = device}), 0u)
        << variant.id;
  }
}

TEST(LibraryCounts, TheCallIsGivenTheWidthThatIsRecorded) {
  const Params params;
  const DeviceTraits device;
  for (const std::size_t n : {std::size_t{0}, std::size_t{1} << 26, (std::size_t{1} << 31) - 1,
                              std::size_t{1} << 31, std::size_t{1} << 32}) {
    const unsigned bits = with_library_count(n, [&](auto count) -> unsigned {
      static_assert(std::is_signed_v<decltype(count)>);
      EXPECT_EQ(static_cast<std::size_t>(count), n);
      return 8 * sizeof(count);
    });
    EXPECT_EQ(bits, library_count_bits({.n = n, .params = params, .device = device})) << n;
    EXPECT_EQ(bits == 32, n < std::size_t{1} << 31) << n;
  }
}

bool only_on_cuda(const CatalogEntry& entry) {
  return !entry.declared[index_of(Backend::kCpu)] && !entry.declared[index_of(Backend::kEmu)];
}

/// Problems that the variant takes. Some take one bucket alone, or 64, or floats, or labels of a byte.
std::vector<Problem> problems_of(const Variant& variant, const Params& params,
                                 const DeviceTraits& device) {
  std::vector<Problem> problems;
  for (const Type type : {default_type(variant.operation), Type::kF32, Type::kU8})
    for (const std::size_t buckets : {256u, 64u, 1u})
      for (const std::size_t n : {1000u, 100000u}) {
        const Problem problem{.operation = variant.operation,
                              .n = n,
                              .buckets = has_labels(variant.operation) ? buckets : 0,
                              .type = type,
                              .op = default_op(variant.operation),
                              .params = params,
                              .device = device};
        if (variant.supports(type, problem.op) &&
            (variant.restriction == nullptr || variant.restriction(problem).empty()))
          problems.push_back(problem);
      }
  return problems;
}

TEST(SharedPercent, HoldsTheBlocksThatAreAskedForOrNone) {
  constexpr std::size_t kKib = 1024;
  const DeviceTraits device{.max_shared_bytes_per_block = 227 * kKib};
  // An SM has 228 KiB, of which every block costs one.
  EXPECT_EQ(shared_percent_for(device, 1, 227 * kKib), 100u);
  EXPECT_EQ(shared_percent_for(device, 2, 113 * kKib), 100u);
  EXPECT_EQ(shared_percent_for(device, 2, 56 * kKib), 50u);
  EXPECT_EQ(shared_percent_for(device, 1, 0), 1u);
  EXPECT_EQ(shared_percent_for(device, 2, 114 * kKib), 0u);
}

TEST(Catalog, RefusalsOfMoreInputsThan32BitsCountNameTheirNumber) {
  constexpr std::size_t kMany = (std::size_t{1} << 32) + 12345;
  const DeviceTraits device;
  for (const CatalogEntry& entry : catalog()) {
    const Variant& variant = entry.variant;
    if (variant.restriction == nullptr || only_on_cuda(entry)) continue;
    Params params;
    for (const ParamSpec& spec : variant.params) params.set(spec.name, spec.default_value);
    for (Problem problem : problems_of(variant, params, device)) {
      problem.n = kMany;
      const std::string refused = variant.restriction(problem);
      const bool counts_in_32_bits =
          variant.id.starts_with("partition/") || variant.id == "onepass/multireduce-exact";
      if (refused.empty() && !counts_in_32_bits) continue;
      EXPECT_NE(refused.find(std::to_string(kMany)), std::string::npos)
          << variant.id << ": " << refused;
    }
  }
}

TEST(Catalog, ExactSumsRefuseMoreElementsThanTheirPartsHaveRoomFor) {
  constexpr std::size_t kMost = std::size_t{1} << 40;
  const DeviceTraits device;
  std::size_t asked = 0;
  for (const CatalogEntry& entry : catalog()) {
    const Variant& variant = entry.variant;
    if (variant.id != "onepass/reduce-exact") continue;
    Params params;
    for (const ParamSpec& spec : variant.params) params.set(spec.name, spec.default_value);
    for (Problem problem : problems_of(variant, params, device)) {
      problem.n = kMost;
      EXPECT_EQ(variant.restriction(problem), "");
      problem.n = kMost + 1;
      EXPECT_NE(variant.restriction(problem).find("1099511627777"), std::string::npos);
      ++asked;
    }
  }
  EXPECT_GE(asked, 2u);
}

TEST(Catalog, SplitTablesRefuseBucketsForWhichNoGroupOfBlocksHasRoom) {
  const DeviceTraits device;
  std::size_t asked = 0;
  for (const CatalogEntry& entry : catalog()) {
    const Variant& variant = entry.variant;
    if (!variant.id.starts_with("onepass/") || !variant.id.ends_with("-split")) continue;
    Params params;
    for (const ParamSpec& spec : variant.params) params.set(spec.name, spec.default_value);
    for (Problem problem : problems_of(variant, params, device)) {
      const std::size_t words = device.max_shared_bytes_per_block / sizeof(double);
      problem.n = std::size_t{1} << 26;
      problem.buckets = 2 * words - words / 8;
      EXPECT_EQ(variant.restriction(problem), "") << variant.id;
      problem.buckets = 16 * device.max_shared_bytes_per_block;
      EXPECT_EQ(variant.restriction(problem),
                std::to_string(problem.buckets) +
                    " buckets do not fit into the shared memory of 16 blocks")
          << variant.id;
      ++asked;
    }
  }
  EXPECT_GE(asked, 2u);
}

TEST(Catalog, NcclRefusesMoreBucketsThanThereAreLabels) {
  constexpr std::size_t kLabels = (std::size_t{1} << 32) - 1;
  const Params params;
  const DeviceTraits device;
  std::size_t asked = 0;
  for (const CatalogEntry& entry : catalog()) {
    const Variant& variant = entry.variant;
    if (!variant.id.starts_with("nccl/") || !has_labels(variant.operation)) continue;
    Problem problem{.operation = variant.operation,
                    .n = 1000,
                    .buckets = kLabels,
                    .params = params,
                    .device = device};
    EXPECT_EQ(variant.restriction(problem), "") << variant.id;
    problem.buckets = kLabels + 1;
    EXPECT_NE(variant.restriction(problem).find("4294967296"), std::string::npos) << variant.id;
    ++asked;
  }
  EXPECT_EQ(asked, 2u);
}

TEST(Catalog, TrafficAndDepthCoverTheInput) {
  const DeviceTraits device{.sm_count = 4, .max_shared_bytes_per_block = 227 * 1024};
  for (const CatalogEntry& entry : catalog()) {
    const Variant& variant = entry.variant;
    Params params;
    for (const ParamSpec& spec : variant.params) params.set(spec.name, spec.default_value);
    const std::vector<Problem> problems = problems_of(variant, params, device);
    EXPECT_FALSE(problems.empty()) << variant.id;
    for (const Problem& problem : problems) {
      if (variant.traffic != nullptr) {
        // A scatter need not read the values that a later one replaces, and where there is one bucket
        // the labels say nothing.
        const Arrays arrays = problem.arrays();
        const std::size_t least = variant.operation == Operation::kScatter ? arrays.labels.bytes()
                                  : problem.buckets == 1                   ? arrays.values.bytes()
                                                                           : arrays.input_bytes();
        EXPECT_GE(variant.traffic(problem).read_bytes, least) << variant.id;
        EXPECT_GE(variant.traffic(problem).written_bytes, arrays.output_bytes()) << variant.id;
      }
      // A compensated sum rounds less often than a tree.
      if (variant.depth != nullptr && variant.id != "cpu/kahan") {
        EXPECT_GE(variant.depth(problem), log2_ceil(problem.n)) << variant.id << " " << problem.n;
      }
      // A library asks the GPU for it, which may be absent.
      if (variant.workspace != nullptr && !only_on_cuda(entry)) {
        const Workspace workspace = variant.workspace(problem);
        EXPECT_LE(workspace.zeroed_bytes, workspace.device_bytes) << variant.id;
      }
    }
  }
}

}  // namespace
}  // namespace reduce_bench
