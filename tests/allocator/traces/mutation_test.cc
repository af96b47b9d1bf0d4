// Damage at random, as a fuzzer does it, for machines without one: readers may fail with a
// TraceError and nothing else, and what passes must pass through every writer.
#include <gtest/gtest.h>

#include <random>

#include "tests/allocator/traces/fuzz.h"
#include "tests/allocator/traces/support.h"

namespace arenagrad::testing {
namespace {

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  std::string mutate(std::string text) {
    for (std::uint32_t count = 1 + random_() % 4; count > 0; --count) {
      if (text.empty()) text = "0";
      const std::size_t at = random_() % text.size();
      switch (random_() % 7) {
        case 0: text[at] = static_cast<char>(random_()); break;
        case 1: text[at] = static_cast<char>(text[at] ^ 1 << random_() % 8); break;
        case 2: text.insert(at, 1, static_cast<char>(random_())); break;
        case 3: text.erase(at, 1 + random_() % 8); break;
        case 4: text.resize(at); break;
        case 5: text.insert(at, text.substr(random_() % text.size(), 1 + random_() % 64)); break;
        default: text.replace(at, 1, kTokens[random_() % std::size(kTokens)]); break;
      }
    }
    return text;
  }

 private:
  static constexpr const char* kTokens[] = {"-1",
                                            "18446744073709551615",
                                            "18446744073709551616",
                                            "0",
                                            ",",
                                            "\n",
                                            "{",
                                            "1152921504606846976",
                                            "\xff\xff\xff\xff",
                                            "(nil)",
                                            "0x",
                                            "]",
                                            "(",
                                            "e",
                                            "u",
                                            "1"};
  std::mt19937 random_;
};

class Mutations : public ::testing::TestWithParam<const char*> {};

TEST_P(Mutations, FailCleanlyOrPassThrough) {
  const std::string format = GetParam();
  const std::string whole = write_as(format, read_as("jsonl", small_trace()));
  std::size_t passed = 0;
  constexpr int kRounds = 3000;
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = Mutator(static_cast<std::uint32_t>(round)).mutate(whole);
    SCOPED_TRACE("round " + std::to_string(round));
    passed += read_and_write_all(format, text) ? 1 : 0;
    if (HasFailure()) return;
  }
  // Both ends are reached: not everything is refused, not everything is taken.
  EXPECT_GT(passed, 0u);
  EXPECT_LT(passed, static_cast<std::size_t>(kRounds));
}

INSTANTIATE_TEST_SUITE_P(Readers, Mutations,
                         ::testing::Values("jsonl", "minimalloc", "rmm", "pytorch"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace arenagrad::testing
