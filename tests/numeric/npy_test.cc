#include "tests/numeric/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace arenagrad::numeric {
namespace {

/// A file that is gone with the test.
class NpyFile : public testing::Test {
 protected:
  ~NpyFile() override { std::filesystem::remove(path_); }

  std::string write(int version, std::string header, const std::string& data) {
    std::string text = "\x93NUMPY";
    text += static_cast<char>(version);
    text += '\0';
    const auto length = static_cast<std::uint32_t>(header.size());
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
      text += static_cast<char>(length >> (8 * i) & 0xff);
    std::ofstream(path_, std::ios::binary) << text << header << data;
    return path_;
  }

  /// The message of the Error that reading raises, without the path.
  std::string error(int version, std::string header, const std::string& data) {
    try {
      read_npy(write(version, std::move(header), data));
    } catch (const Error& error) {
      std::string message = error.what();
      EXPECT_TRUE(message.starts_with(path_)) << message;
      return message.substr(path_.size());
    }
    return "no error";
  }

  template <class T>
  static std::string bytes(std::initializer_list<T> values) {
    std::string result(values.size() * sizeof(T), '\0');
    std::memcpy(result.data(), std::data(values), result.size());
    return result;
  }

  std::string path_ =
      (std::filesystem::temp_directory_path() / ("arenagrad_" + std::to_string(getpid()) + ".npy"))
          .string();
};

TEST_F(NpyFile, ReadsEveryTypeAndVersion) {
  const NpyArray f4 =
      read_npy(write(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
                     bytes<float>({1, -2.5f, 0, 4, 5, 0.1f})));
  EXPECT_EQ(f4.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(f4.values, (std::vector<double>{1, -2.5, 0, 4, 5, 0.1f}));

  const NpyArray f8 = read_npy(write(
      2, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n", bytes<double>({0.1})));
  EXPECT_EQ(f8.shape, std::vector<std::int64_t>{1});
  EXPECT_EQ(f8.values, std::vector<double>{0.1});

  // Other spacing, order and quotes than numpy's own.
  const NpyArray i8 = read_npy(write(3, R"({"shape":(3,),"fortran_order":False,"descr":"<i8"})",
                                     bytes<std::int64_t>({-1, 0, std::int64_t{1} << 60})));
  EXPECT_EQ(i8.integers, (std::vector<std::int64_t>{-1, 0, std::int64_t{1} << 60}));
  EXPECT_TRUE(i8.values.empty());

  const NpyArray scalar = read_npy(
      write(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", bytes<float>({7})));
  EXPECT_TRUE(scalar.shape.empty());
  EXPECT_EQ(scalar.values, std::vector<double>{7});
}

TEST_F(NpyFile, RefusesWhatItCannotRead) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  const std::string two = bytes<float>({1, 2});
  EXPECT_EQ(error(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", two),
            ": expected C order, got Fortran order");
  EXPECT_EQ(error(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", two),
            ": expected type <f4, <f8 or <i8, got >f4");
  EXPECT_EQ(error(4, good, two), ": expected .npy version 1, 2 or 3, got 4");
  EXPECT_EQ(error(1, good, two + "x"), ": expected 8 bytes of data, got 9");
  EXPECT_EQ(error(1, good, two.substr(1)), ": expected 8 bytes of data, got 7");
  EXPECT_NE(error(1, "{'descr': '<f4', 'shape': (2,), }", two).find("'fortran_order'"),
            std::string::npos);
  EXPECT_NE(error(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", two)
                .find("expected whole numbers for 'shape'"),
            std::string::npos);
}

TEST_F(NpyFile, RefusesOtherFilesAndCutOffOnes) {
  EXPECT_THROW(read_npy(path_), Error);  // not there
  std::ofstream(path_) << "PK a zip archive";
  EXPECT_THROW(read_npy(path_), Error);
  std::ofstream(path_, std::ios::binary) << std::string("\x93NUMPY\x01\x00\xff\x00{'descr", 17);
  EXPECT_THROW(read_npy(path_), Error);
}

TEST_F(NpyFile, SizesBeyond64BitsAreAnError) {
  EXPECT_THROW(read_npy(write(1,
                              "{'descr': '<f4', 'fortran_order': False, "
                              "'shape': (4294967296, 4294967296), }",
                              "")),
               Error);
  EXPECT_THROW(read_npy(write(1,
                              "{'descr': '<f4', 'fortran_order': False, "
                              "'shape': (99999999999999999999,), }",
                              "")),
               Error);
}

}  // namespace
}  // namespace arenagrad::numeric
