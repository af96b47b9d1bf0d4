#include "allocator/units.h"

#include <gtest/gtest.h>

#include <limits>

#include "allocator/error.h"

namespace arenagrad {
namespace {

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

TEST(Units, HumanBytes) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1024), "1.00 KiB");
  EXPECT_EQ(human_bytes(1536), "1.50 KiB");
  EXPECT_EQ(human_bytes(1610612736), "1.50 GiB");
  EXPECT_EQ(human_bytes(std::size_t{1} << 46), "64.00 TiB");
  EXPECT_EQ(human_bytes(kMax), "16384.00 PiB");
}

TEST(Units, HumanBytesRoundHalfUpAndCarry) {
  EXPECT_EQ(human_bytes(1024 + 5), "1.00 KiB");         // 1.00488
  EXPECT_EQ(human_bytes(1024 + 6), "1.01 KiB");         // 1.00586
  EXPECT_EQ(human_bytes(1024 * 1024 - 1), "1.00 MiB");  // never 1024.00 KiB
  EXPECT_EQ(human_bytes(1024 * 1024 - 6), "1023.99 KiB");
}

TEST(Units, ExactBytes) {
  EXPECT_EQ(exact_bytes(512), "512 B");
  EXPECT_EQ(exact_bytes(1024), "1.00 KiB (1,024 B)");
  EXPECT_EQ(exact_bytes(1610612736), "1.50 GiB (1,610,612,736 B)");
}

TEST(Units, WithCommas) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(-1234567), "-1,234,567");
  EXPECT_EQ(with_commas(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
  EXPECT_EQ(with_commas(kMax), "18,446,744,073,709,551,615");
  EXPECT_EQ(with_commas(123456789ull), "123,456,789");
}

TEST(Units, ParseBytes) {
  EXPECT_EQ(parse_bytes("123"), 123u);
  EXPECT_EQ(parse_bytes("0"), 0u);
  EXPECT_EQ(parse_bytes("7B"), 7u);
  EXPECT_EQ(parse_bytes("6GB"), 6'000'000'000u);
  EXPECT_EQ(parse_bytes("6GiB"), 6'442'450'944u);
  EXPECT_EQ(parse_bytes("512MiB"), 536'870'912u);
  EXPECT_EQ(parse_bytes("1.5GiB"), 1'610'612'736u);
  EXPECT_EQ(parse_bytes("1.5 gib"), 1'610'612'736u);
  EXPECT_EQ(parse_bytes("2kB"), 2000u);
  EXPECT_EQ(parse_bytes("0.1KiB"), 102u);  // 102.4
  EXPECT_EQ(parse_bytes("18446744073709551615"), kMax);
  EXPECT_EQ(parse_bytes("16383.999PiB"), 18446742947809644773u);
}

TEST(Units, ParseBytesReadsWhatIsPrinted) {
  for (const std::size_t bytes : {std::size_t{512}, std::size_t{1536}, std::size_t{3} << 29}) {
    EXPECT_EQ(parse_bytes(human_bytes(bytes)), bytes);
  }
}

TEST(Units, ParseBytesTellsWhatIsTooLarge) {
  EXPECT_EQ(parse_bytes("15EiB"), std::size_t{15} << 60);
  for (const char* text : {"16EiB", "99999999999GiB", "18446744073709551616"})
    EXPECT_THROW(parse_bytes(text), TooManyBytes) << text;
  EXPECT_EQ(parse_bytes("1.999999999999999999EiB"), (std::size_t{2} << 60) - 2);
}

TEST(Units, ParseBytesRefuses) {
  for (const char* text : {"",
                           " 1",
                           "-1",
                           "+1",
                           ".5GiB",
                           "1.",
                           "1.GiB",
                           "1.5",
                           "1.5B",
                           "6G",
                           "6Gi",
                           "6ZiB",
                           "GiB",
                           "1 2",
                           "1e9",
                           "0x10",
                           "1GiBs",
                           "1,000",
                           "18446744073709551616",
                           "16384PiB",
                           "99999999999999999999999999999999999999999999PB",
                           "1.0000000000000000001GiB"}) {
    EXPECT_THROW(parse_bytes(text), Error) << text;
  }
}

TEST(Units, ParseBytesSaysWhatItExpectedAndFound) {
  try {
    parse_bytes("6G");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "not a number of bytes: unknown unit \"G\"; expected a number and a unit, such as "
                 "6GiB, 6GB, 512MiB, 1.5GiB or 123; got \"6G\"");
  }
}

}  // namespace
}  // namespace arenagrad
