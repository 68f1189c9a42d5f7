// Arrays of NumPy's format as values and as labels.
#include "common/npy.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "common/error.hpp"
#include "common/inputs.hpp"
#include "common/labels.hpp"
#include "expect_error.hpp"

namespace reduce_bench {
namespace {

class NpyFile : public testing::Test {
 protected:
  /// A file of version `version` whose header is this literal, padded as NumPy pads it.
  void write(const std::string& header, const std::string& data, unsigned char version = 1) {
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    std::string text = header;
    while ((6 + 2 + length_bytes + text.size() + 1) % 64 != 0) text += ' ';
    text += '\n';
    std::string bytes = "\x93NUMPY";
    bytes += {static_cast<char>(version), '\0'};
    for (std::size_t i = 0; i < length_bytes; ++i)
      bytes += static_cast<char>(text.size() >> (8 * i));
    write_bytes(bytes + text + data);
  }
  void write_bytes(const std::string& bytes) { std::ofstream(file_, std::ios::binary) << bytes; }
  template <class T>
  void write_array(const std::string& descr, const std::vector<T>& elements) {
    std::string data(elements.size() * sizeof(T), '\0');
    if (!elements.empty()) std::memcpy(data.data(), elements.data(), data.size());
    write(header(descr, std::to_string(elements.size()) + ","), data);
  }
  static std::string header(const std::string& descr, const std::string& shape,
                            const std::string& fortran_order = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + fortran_order + ", 'shape': (" + shape +
           "), }";
  }
  std::string complaint() {
    const std::string said = message_of<UsageError>([&] { NpyArray array(file_); });
    EXPECT_CONTAINS(said, file_.filename().string());
    EXPECT_EQ(said.find('\n'), std::string::npos);
    return said;
  }
  std::string complaint(const std::string& header, const std::string& data = {}) {
    write(header, data);
    return complaint();
  }
  std::shared_ptr<const NpyArray> read() { return std::make_shared<const NpyArray>(file_); }
  void TearDown() override { std::filesystem::remove(file_); }

  const std::filesystem::path file_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".npy");
};

TEST_F(NpyFile, OfEveryTypeAndVersionIsRead) {
  const std::string data(24, '\1');
  for (const auto& [descr, type] : {std::pair{"<i4", Type::kI32},
                                    {"<i8", Type::kI64},
                                    {"<f4", Type::kF32},
                                    {"<f8", Type::kF64},
                                    {"|u1", Type::kU8},
                                    {"<u2", Type::kU16},
                                    {"<u4", Type::kU32},
                                    {"<f2", Type::kF16}})
    for (const unsigned char version : {1, 2, 3}) {
      write(header(descr, "3,"), data, version);
      const auto array = read();
      EXPECT_EQ(array->type(), type);
      EXPECT_EQ(array->count(), 3u);
      EXPECT_EQ(array->data()[0], std::byte{1});
    }
  write(R"({"shape":(3,),"descr":"<i4","fortran_order":False})", data);
  EXPECT_EQ(read()->count(), 3u);
}

TEST_F(NpyFile, ThatIsNoneIsRefused) {
  write_bytes("");
  EXPECT_CONTAINS(complaint(), "it does not begin as a .npy file does");
  write_bytes("PK\x03\x04");
  EXPECT_CONTAINS(complaint(), "it does not begin as a .npy file does");
  write_bytes("\x93NUMPY\x01");
  EXPECT_CONTAINS(complaint(), "it ends within its header");
  write_bytes(std::string("\x93NUMPY\x01\x00\x76\x00{'descr'", 18));
  EXPECT_CONTAINS(complaint(), "it ends within its header");
  write(header("<i4", "3,"), "", 4);
  EXPECT_CONTAINS(complaint(), "version 4 of the format is unknown");
  write_bytes(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12));
  EXPECT_CONTAINS(complaint(), "its header has 4294967295 bytes");
  EXPECT_CONTAINS(message_of<UsageError>([] { NpyArray array("/no/such.npy"); }),
                  "cannot read the array '/no/such.npy': No such file or directory");
  for (const char* endless : {"/dev/zero", "/"})
    EXPECT_CONTAINS(message_of<UsageError>([&] { NpyArray array(endless); }),
                    "it is not a regular file");
}

TEST_F(NpyFile, OfOtherElementsIsRefused) {
  EXPECT_CONTAINS(complaint(header(">i4", "3,"), std::string(12, ' ')), "are big-endian");
  EXPECT_CONTAINS(complaint(header("|O", "3,")), "it holds objects of Python");
  EXPECT_CONTAINS(complaint(header("<V2", "3,")), "its elements are '<V2'");
  EXPECT_CONTAINS(complaint(header("<c8", "3,")), "its elements are '<c8'");
  EXPECT_CONTAINS(complaint(header("|b1", "3,")), "its elements are '|b1'");
  EXPECT_CONTAINS(complaint(header("", "3,")), "its elements are ''");
  EXPECT_CONTAINS(complaint(header("|b1", "3,")),
                  "save one dimension of <i4, <i8, <f2, <f4, <f8, |u1, <u2 or <u4 with numpy.save");
  EXPECT_CONTAINS(complaint(header("\x01\xff<i4", "3,")), "its elements are '");
  EXPECT_CONTAINS(complaint("{'descr': [('x', '<i4')], 'fortran_order': False, 'shape': (3,)}"),
                  "it holds records");
}

TEST_F(NpyFile, OfAnotherShapeIsRefused) {
  EXPECT_CONTAINS(complaint(header("<i4", "")), "it has 0 dimensions");
  EXPECT_CONTAINS(complaint(header("<i4", "3, 1"), std::string(12, ' ')), "it has 2 dimensions");
  EXPECT_CONTAINS(complaint(header("<i4", "1, 3", "True"), std::string(12, ' ')),
                  "it is in Fortran order");
  EXPECT_CONTAINS(complaint(header("<i4", "3,"), std::string(11, ' ')),
                  "it ends after 2 of its 3 elements");
  EXPECT_CONTAINS(complaint(header("<i8", "8589934592,")), "after 0 of its 8589934592 elements");
  // Whose size in bytes wraps.
  EXPECT_CONTAINS(complaint(header("<i4", "4611686018427387905,"), std::string(4, ' ')),
                  "after 1 of its 4611686018427387905 elements");
  EXPECT_CONTAINS(complaint(header("<i4", "18446744073709551616,")), "its header is damaged");
  EXPECT_CONTAINS(complaint(header("<i4", "-3,")), "its header is damaged");
}

TEST_F(NpyFile, WithADamagedHeaderIsRefused) {
  const std::string good = header("<i4", "3,");
  for (std::size_t end = 0; end + 1 < good.size(); ++end)
    EXPECT_CONTAINS(complaint(good.substr(0, end)), "its header is damaged at character ");
  for (const char* literal :
       {"()", "{'descr': '<i4'}", "{'descr': '<i4', 'descr': '<i4', 'fortran_order': False}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), 'more': 1}",
        "{'descr': '<i4', 'fortran_order': None, 'shape': (3,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (3,)} x"})
    EXPECT_CONTAINS(complaint(literal), "its header is damaged");
}

TEST_F(NpyFile, OfMoreElementsThanMemoryHoldsIsReadInPart) {
  const std::size_t count = std::size_t{1} << 33;
  write(header("|u1", std::to_string(count) + ","), "\x01\x02\x03");
  std::filesystem::resize_file(file_, 128 + count);  // a hole takes no space
  const auto array = read();
  EXPECT_EQ(array->count(), count);
  const LabelKey key{.distribution = {.kind = LabelDistribution::Kind::kFile, .array = array},
                     .type = Type::kU8,
                     .n = 5,
                     .buckets = 4};
  ASSERT_EQ(unsuited(key), "");
  const HostArray labels = generate(key);
  const auto* first = reinterpret_cast<const std::uint8_t*>(labels.data());
  EXPECT_EQ(std::vector<std::uint8_t>(first, first + 5),
            (std::vector<std::uint8_t>{1, 2, 3, 0, 0}));
}

TEST_F(NpyFile, IsCheckedAsValues) {
  InputKey key{.distribution = {.kind = Distribution::Kind::kFile, .file = "a.npy"},
               .type = Type::kF32,
               .n = 3};
  EXPECT_EQ(unsuited(key), "no array was read");
  write_array<float>("<f4", {1, -2, 3.5, NAN});
  key.distribution.array = read();
  EXPECT_EQ(unsuited(key), "");
  const HostArray values = generate(key, 1, 2);
  const auto* all = reinterpret_cast<const float*>(values.bytes.get());
  EXPECT_TRUE(std::isnan(all[0]) && std::isnan(all[4]) && std::isnan(all[5]));
  EXPECT_EQ(std::vector<float>(all + 1, all + 4), (std::vector<float>{1, -2, 3.5}));
  key.n = 4;
  EXPECT_CONTAINS(unsuited(key), "the array 'a.npy': element 3 is nan");
  key.n = 5;
  EXPECT_EQ(unsuited(key), "the array 'a.npy': it has 4 elements, fewer than 5");
  key.type = Type::kI32;
  EXPECT_EQ(unsuited(key), "the array 'a.npy': it holds f32, not i32");
}

TEST_F(NpyFile, OfHalvesHasASumInF32) {
  InputKey key{.distribution = {.kind = Distribution::Kind::kFile, .file = "h.npy"},
               .type = Type::kF16,
               .n = 3};
  write_array<std::uint16_t>("<f2",
                             {0x7bff, 0x7bff, 0x7bff, 0x7c00, F16::kNaN});  // 65504, infinity
  key.distribution.array = read();
  EXPECT_EQ(unsuited(key), "");
  const HostArray values = generate(key);
  EXPECT_EQ(reinterpret_cast<const F16*>(values.data())[2].bits, 0x7bff);
  key.n = 4;
  EXPECT_CONTAINS(unsuited(key), "element 3 is inf");
  key.op = Op::kMax;
  EXPECT_EQ(unsuited(key), "");
  key.n = 5;
  EXPECT_CONTAINS(unsuited(key), "element 4 is nan");
  key.n = 3;
  key.type = Type::kBf16;
  EXPECT_CONTAINS(unsuited(key), "it holds f16, not bf16");
}

TEST_F(NpyFile, OfWhichASumMayOverflowHasAMaximum) {
  InputKey key{.distribution = {.kind = Distribution::Kind::kFile}, .type = Type::kF32, .n = 2};
  for (const std::vector<float>& values :
       {std::vector{3e38f, -3e38f}, std::vector{1.f, INFINITY}}) {
    write_array("<f4", values);
    key.distribution.array = read();
    key.op = Op::kSum;
    EXPECT_NE(unsuited(key), "");
    key.op = Op::kMax;
    EXPECT_EQ(unsuited(key), "");
    key.op = Op::kProd;
    EXPECT_CONTAINS(unsuited(key), "overflows or vanishes");
  }
}

TEST_F(NpyFile, IsCheckedAsLabels) {
  LabelKey key{.distribution = {.kind = LabelDistribution::Kind::kFile, .file = "l.npy"},
               .n = 3,
               .buckets = 8};
  EXPECT_EQ(unsuited(key), "no array was read");
  write_array<std::uint32_t>("<u4", {7, 0, 2, 8});
  key.distribution.array = read();
  EXPECT_EQ(unsuited(key), "");
  const HostArray labels = generate(key);
  const auto* first = reinterpret_cast<const std::uint32_t*>(labels.data());
  EXPECT_EQ(std::vector<std::uint32_t>(first, first + 3), (std::vector<std::uint32_t>{7, 0, 2}));
  key.n = 4;
  EXPECT_EQ(unsuited(key), "the array 'l.npy': the label 8 of element 3 is not below 8 buckets");
  key.n = 5;
  EXPECT_EQ(unsuited(key), "the array 'l.npy': it has 4 elements, fewer than 5");
}

}  // namespace
}  // namespace reduce_bench
