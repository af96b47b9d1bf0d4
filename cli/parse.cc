#include "cli/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include "allocator/strategy.h"
#include "allocator/traces/formats.h"
#include "allocator/units.h"

namespace arenagrad::cli {
namespace {

[[noreturn]] void refuse(std::string_view flag, std::string_view expected, std::string_view got) {
  throw UsageError(fmt::format("{}: expected {}, got '{}'", flag, expected, got));
}

template <class T>
bool reads_as(const std::string& text, T& value) {
  const auto* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && at == end && !text.empty();
}

/// A whole number that 64 bits cannot hold.
bool is_too_large(const std::string& text) {
  std::int64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc::result_out_of_range && at == end && !text.starts_with('-');
}

template <class T>
struct Word {
  std::string_view word;
  T value;
};

template <class T, std::size_t N>
T choose(std::string_view flag, const std::string& text, const Word<T> (&words)[N]) {
  std::string known;
  for (const auto& [word, value] : words) {
    if (text == word) return value;
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  refuse(flag, "one of " + known, text);
}

}  // namespace

std::int64_t parse_integer(std::string_view flag, const std::string& text, std::int64_t least,
                           std::int64_t most) {
  std::int64_t value = 0;
  if (reads_as(text, value) && value >= least && value <= most) return value;
  const bool bounded = most < std::numeric_limits<std::int64_t>::max();
  if (is_too_large(text)) refuse(flag, fmt::format("a whole number of at most {}", most), text);
  refuse(flag,
         bounded ? fmt::format("a whole number from {} to {}", least, most)
                 : fmt::format("a whole number of at least {}", least),
         text);
}

std::uint64_t parse_seed(std::string_view flag, const std::string& text) {
  std::uint64_t value = 0;
  if (!reads_as(text, value)) refuse(flag, "a whole number from 0 to 2^64 - 1", text);
  return value;
}

double parse_real(std::string_view flag, const std::string& text, double least) {
  double value = 0;
  if (!reads_as(text, value) || !std::isfinite(value) || value < least)
    refuse(flag, fmt::format("a number of at least {}", least), text);
  return value;
}

std::size_t parse_size(std::string_view flag, const std::string& text) {
  std::size_t bytes = 0;
  try {
    bytes = parse_bytes(text);
  } catch (const TooManyBytes&) {
    bytes = std::numeric_limits<std::size_t>::max();  // refused below, as any that is too large
  } catch (const Error&) {
    refuse(flag, "a size such as 6GiB, 6GB or 1048576", text);
  }
  if (bytes == 0) refuse(flag, "a size above 0", text);
  if (bytes > kUnlimited) refuse(flag, "a size of at most 1024 PiB", text);
  return bytes;
}

Shape parse_shape(std::string_view flag, const std::string& text) {
  std::vector<std::int64_t> dims;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('x', begin), text.size());
    std::int64_t dim = 0;
    if (!reads_as(text.substr(begin, end - begin), dim) || dim < 1)
      refuse(flag, "channels x height x width, such as 3x224x224", text);
    dims.push_back(dim);
    begin = end + 1;
  }
  try {
    return Shape(std::span<const std::int64_t>(dims));
  } catch (const ShapeError& error) {
    throw UsageError(fmt::format("{}: {}", flag, error.what()));
  }
}

GradientMode parse_mode(std::string_view flag, const std::string& text) {
  using enum GradientMode;
  static constexpr Word<GradientMode> words[] = {{name(full_batch), full_batch},
                                                 {name(accumulated_graph), accumulated_graph},
                                                 {name(per_step), per_step},
                                                 {name(two_pass), two_pass}};
  return choose(flag, text, words);
}

namespace {

/// "a,b": each part through `parse`, none twice.
template <class Value, class Parse>
std::vector<Value> parse_list(std::string_view flag, const std::string& text, const char* expected,
                              Parse parse) {
  std::vector<Value> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    values.push_back(parse(flag, text.substr(begin, end - begin)));
    if (std::count(values.begin(), values.end(), values.back()) > 1) refuse(flag, expected, text);
    begin = end + 1;
  }
  return values;
}

std::string strategy_named(std::string_view flag, const std::string& text,
                           const StrategyInfo& (*find)(std::string_view)) {
  try {
    return std::string(find(text).name);
  } catch (const Error& error) {
    throw UsageError(fmt::format("{}: {}", flag, error.what()));
  }
}

}  // namespace

std::vector<GradientMode> parse_modes(std::string_view flag, const std::string& text) {
  if (text == "all") return {std::begin(kGradientModes), std::end(kGradientModes)};
  return parse_list<GradientMode>(flag, text, "each mode once", parse_mode);
}

Recompute parse_recompute(std::string_view flag, const std::string& text) {
  using Kind = Recompute::Kind;
  constexpr std::string_view kEvery = "every:";
  if (text == "none") return {};
  if (text == "sqrt") return {.kind = Kind::square_root};
  if (text.starts_with(kEvery))
    return {
        .kind = Kind::every,
        .every = parse_integer(fmt::format("{} {}K", flag, kEvery), text.substr(kEvery.size()), 1)};
  return {.kind = Kind::before,
          .layers = parse_list<std::string>(
              flag, text, "each layer once", [](std::string_view which, const std::string& layer) {
                if (layer.empty()) refuse(which, "none, sqrt, every:K or names of layers", layer);
                return layer;
              })};
}

std::vector<std::string> parse_strategies(std::string_view flag, const std::string& text) {
  return parse_list<std::string>(flag, text, "each strategy once",
                                 [](std::string_view which, const std::string& one) {
                                   return strategy_named(which, one, find_placing_strategy);
                                 });
}

SavedPolicy parse_policy(std::string_view flag, const std::string& text) {
  static constexpr Word<SavedPolicy> words[] = {{"lean", SavedPolicy::lean},
                                                {"pytorch", SavedPolicy::pytorch}};
  return choose(flag, text, words);
}

OptimizerSpec::Kind parse_optimizer(std::string_view flag, const std::string& text) {
  using Kind = OptimizerSpec::Kind;
  static constexpr Word<Kind> words[] = {
      {"none", Kind::none}, {"sgd", Kind::sgd}, {"adam", Kind::adam}, {"adamw", Kind::adamw}};
  return choose(flag, text, words);
}

DType parse_dtype(std::string_view flag, const std::string& text) {
  static constexpr Word<DType> words[] = {{"f32", DType::f32}, {"f64", DType::f64}};
  return choose(flag, text, words);
}

Format parse_format(std::string_view flag, const std::string& text) {
  static constexpr Word<Format> words[] = {{"table", Format::table},
                                           {"md", Format::markdown},
                                           {"csv", Format::csv},
                                           {"json", Format::json}};
  return choose(flag, text, words);
}

Reference parse_reference(std::string_view flag, const std::string& text) {
  static constexpr Word<Reference> words[] = {
      {"auto", Reference::automatic}, {"f64", Reference::f64}, {"none", Reference::none}};
  return choose(flag, text, words);
}

std::string parse_strategy(std::string_view flag, const std::string& text) {
  return strategy_named(flag, text, find_strategy);
}

std::string parse_trace_format(std::string_view flag, const std::string& text) {
  try {
    return std::string(find_trace_format(text).name);
  } catch (const Error& error) {
    throw UsageError(fmt::format("{}: {}", flag, error.what()));
  }
}

}  // namespace arenagrad::cli
