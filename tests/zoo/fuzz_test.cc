// Valid specs with tokens dropped, doubled, swapped and altered. Whatever comes: a model or a
// SpecError, soon, and nothing that the JSON Schema would refuse.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "tests/zoo/schema.h"
#include "tests/zoo/support.h"

namespace arenagrad {
namespace {

/// Strings, numbers and words whole, all else byte by byte.
std::vector<std::string> tokens_of(const std::string& text) {
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    const auto is_word = [&](std::size_t at) {
      return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) ||
                                  text[at] == '.' || text[at] == '-' || text[at] == '+');
    };
    if (text[i] == '"') {
      end = text.find('"', i + 1) + 1;
    } else if (is_word(i)) {
      while (is_word(end)) ++end;
    }
    if (text[i] != ' ' && text[i] != '\n') tokens.push_back(text.substr(i, end - i));
    i = end;
  }
  return tokens;
}

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string mutate(std::vector<std::string> tokens) {
    const std::size_t changes = pick(4) ? 1 : 2 + pick(3);
    for (std::size_t i = 0; i < changes && !tokens.empty(); ++i) change(tokens);
    std::string text;
    for (const std::string& token : tokens) text += token + " ";
    if (pick(20) == 0) text[pick(text.size())] = static_cast<char>(pick(256));
    return text;
  }

 private:
  std::size_t pick(std::size_t n) { return random_() % n; }

  void change(std::vector<std::string>& tokens) {
    const std::size_t at = pick(tokens.size()), other = pick(tokens.size());
    const auto place = tokens.begin() + static_cast<std::ptrdiff_t>(at);
    switch (pick(6)) {
      case 0: tokens.erase(place); break;
      case 1: tokens.insert(place, tokens[at]); break;
      case 2: std::swap(tokens[at], tokens[other]); break;
      case 3: tokens[at] = tokens[other]; break;
      case 4: tokens[at] = spare_[pick(spare_.size())]; break;
      default: replace_alike(tokens, at); break;
    }
  }

  /// A value by another of the same kind: most of these are well-formed to the end.
  void replace_alike(std::vector<std::string>& tokens, std::size_t at) {
    for (int tries = 0; tries < 50; ++tries) {
      const std::string candidate =
          pick(2) ? spare_[pick(spare_.size())] : tokens[pick(tokens.size())];
      const bool alike = (candidate[0] == '"') == (tokens[at][0] == '"') &&
                         std::isdigit(candidate[0]) == std::isdigit(tokens[at][0]);
      if (!alike || candidate == tokens[at]) continue;
      tokens[at] = candidate;
      return;
    }
  }

  std::mt19937 random_;
  const std::vector<std::string> spare_ = tokens_of(
      R"(0 1 2 -1 3.0 0.5 1e9 65536 2147483647 2147483648 9223372036854775807 9223372036854775808
         18446744073709551616 1e999 null true false "" "input" "$channels" "2 * $channels" "$"
         "basic" "add" "conv2d" "max_pool" "linear" "when" "weights" "repeat" [ { ] })");
};

constexpr const char* kTwins = R"({
  "name": "twins", "inputs": {"left": [1, 8, 8], "right": [1, 8, 8]}, "classes": 2,
  "init": {"conv2d": "kaiming_fan_out", "linear": {"normal": 0.01}},
  "blocks": {"tower": {"parameters": {"channels": 4, "deep": false}, "layers": [
    {"name": "c", "op": "conv2d", "out_channels": "$channels", "kernel": [3, 3], "groups": 1},
    {"name": "more", "when": "$deep", "repeat": 2, "shared": true, "layers": [
      {"op": "batch_norm", "eps": 1e-5}, {"op": "relu6"}]},
    {"op": "local_response_norm", "size": 3}, {"op": "avg_pool", "kernel": 2, "ceil_mode": true},
    {"op": "flatten"}]}},
  "layers": [
    {"name": "one", "block": "tower", "in": "left", "with": {"deep": true}},
    {"name": "two", "block": "tower", "in": "right", "weights": "one", "with": {"deep": true}},
    {"name": "both", "op": "concat", "in": ["one", "two"]},
    {"op": "dropout", "p": 0.1},
    {"name": "fc", "op": "linear", "out_features": 2}],
  "loss": {"op": "softmax_cross_entropy", "reduction": "sum"}})";

TEST(SpecFuzz, MutantsAreModelsOrSpecErrors) {
  const auto schema = JsonDocument::parse(read_source("zoo/spec.schema.json"), "schema");
  const std::string sources[] = {read_source("zoo/resnet18.json"), kTwins,
                                 read_source("zoo/lenet5_digits.json"),
                                 read_source("zoo/alexnet_original.json")};
  int read = 0, refused = 0;
  double slowest = 0;  // seconds
  for (unsigned round = 0; round < 6000; ++round) {
    const std::string& source = sources[round % std::size(sources)];
    const std::string text = Mutator(round).mutate(tokens_of(source));
    const auto start = std::chrono::steady_clock::now();
    bool is_model = false;
    try {
      parse(text);
      is_model = true;
    } catch (const SpecError& error) {
      EXPECT_FALSE(error.message.empty());
    } catch (const std::exception& error) {
      ADD_FAILURE() << "round " << round << ": " << error.what() << "\n" << text;
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    slowest = std::max(slowest, taken.count());
    (is_model ? read : refused) += 1;
    if (is_model) {
      const auto document = JsonDocument::parse(text, "mutant");
      EXPECT_EQ(schema_violation(schema->root(), document->root()), "") << "round " << round << "\n"
                                                                        << text;
    }
  }
  // Both happen often, or the mutations are of no use.
  EXPECT_GT(read, 200);
  EXPECT_GT(refused, 1000);
  EXPECT_LT(slowest, 5);
}

}  // namespace
}  // namespace arenagrad
