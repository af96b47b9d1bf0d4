#include "experiments/idx.h"

#include <gtest/gtest.h>

#include "tests/experiments/temporary.h"

namespace arenagrad {
namespace {

using test::digits;
using test::message_of;
using test::TemporaryFolder;

std::string header(std::initializer_list<std::uint32_t> dims, char type = 8) {
  std::string bytes{'\0', '\0', type, static_cast<char>(dims.size())};
  for (const auto dim : dims)
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(dim >> shift & 0xff);
  return bytes;
}

TEST(Idx, ReadsTheDigits) {
  const auto data = read_labelled_images(digits("train-images-idx3-ubyte"),
                                         digits("train-labels-idx1-ubyte"), 10);
  EXPECT_EQ(data.count, 1437);
  EXPECT_EQ(data.height, 8);
  EXPECT_EQ(data.width, 8);
  EXPECT_EQ(data.largest, 16);
  EXPECT_EQ(data.pixels.size(), 1437u * 64);
  EXPECT_EQ(std::vector(data.labels.begin(), data.labels.begin() + 5),
            (std::vector<std::uint8_t>{0, 1, 2, 3, 4}));
}

struct BadFile {
  const char* what;
  std::string bytes;
  std::size_t rank;
  std::string message;  // after "FILE: "
};

class IdxErrors : public testing::TestWithParam<BadFile> {};

TEST_P(IdxErrors, NamesTheFileWhatWasExpectedAndWhatWasFound) {
  TemporaryFolder folder;
  const auto file = folder.write("data", GetParam().bytes);
  EXPECT_EQ(message_of([&] { read_idx(file, GetParam().rank); }), file + ": " + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Table, IdxErrors,
    testing::Values(
        BadFile{"empty", "", 1, "no IDX header: expected at least 4 bytes, got 0"},
        BadFile{"gzip", "\x1f\x8b\x08", 1,
                "expected an IDX file, got a gzip archive; unpack it first"},
        BadFile{"magic", "PNG\r", 1,
                "not an IDX file: expected it to begin with bytes 00 00, got 50 4e"},
        BadFile{"type", header({1}, 0x0d) + "x", 1,
                "element type: expected 08 (unsigned byte), got 0d (float)"},
        BadFile{"rank", header({1}) + "x", 3, "dimensions: expected 3, got 1"},
        BadFile{"header", header({1, 2, 3}).substr(0, 10), 3,
                "header cut short: expected 16 bytes, got 10"},
        BadFile{"zero", header({0}), 1, "dimension 0: expected at least 1, got 0"},
        BadFile{"short", header({4}) + "xyz", 1, "data cut short: expected 4 bytes for 4, got 3"},
        BadFile{"long", header({2, 2, 1}) + "vwxyz", 3,
                "bytes after the data: expected 4 bytes for 2x2x1, got 5"},
        BadFile{"huge", header({0xffffffff, 0xffffffff, 0xffffffff}), 3,
                "dimensions 4294967295x4294967295x4294967295 name more bytes than 64 bits can "
                "count"}),
    [](const auto& info) { return info.param.what; });

TEST(Idx, AMissingFileSaysSo) {
  EXPECT_EQ(message_of([] { read_idx("/nowhere/at/all", 1); }),
            "/nowhere/at/all: cannot read: No such file or directory");
  EXPECT_EQ(message_of([] { read_idx("/tmp", 1); }), "/tmp: expected an IDX file, got a directory");
}

TEST(Idx, LabelsMatchImagesAndClasses) {
  TemporaryFolder folder;
  const auto images = folder.write("images", header({3, 1, 1}) + "abc");
  const auto two = folder.write("two", header({2}) + std::string("\0\1", 2));
  EXPECT_EQ(message_of([&] { read_labelled_images(images, two, 10); }),
            two + ": labels: expected 3, one for each image of " + images + ", got 2");
  const auto three = folder.write("three", header({3}) + std::string("\0\1\2", 3));
  EXPECT_EQ(message_of([&] { read_labelled_images(images, three, 2); }),
            three + ": label 2: expected 0 to 1 (the model has 2 classes), got 2");
  EXPECT_EQ(read_labelled_images(images, three, 3).labels[2], 2);
}

}  // namespace
}  // namespace arenagrad
