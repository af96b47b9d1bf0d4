#include "cli/batch_flags.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "cli/flags.h"
#include "cli/parse.h"

namespace arenagrad::cli {
namespace {

constexpr std::int64_t kMostPoints = 1 << 16;
constexpr std::int64_t kMostBatch = std::int64_t{1} << 40;

/// The text between separators.
std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

[[noreturn]] void refuse(std::string_view flag, const std::string& expected,
                         const std::string& got) {
  throw UsageError(fmt::format("{}: expected {}, got '{}'", flag, expected, got));
}

FormulaStyle parse_formula(const std::string& text) {
  if (text == "text") return FormulaStyle::text;
  if (text == "latex") return FormulaStyle::latex;
  if (text == "js") return FormulaStyle::js;
  refuse("--formula", "one of text, latex, js", text);
}

/// An option whose text `store` reads.
template <class Store>
void add(CLI::App& command, const char* group, const std::string& flag, const char* value,
         const std::string& text, Store store) {
  command.add_option_function<std::string>(flag, store, text)->type_name(value)->group(group);
}

void add_frontier(CLI::App& command, const char* group, Flags& flags, const char* text) {
  command.add_flag("--frontier", flags.batches.frontier, text)->group(group);
}

}  // namespace

std::vector<std::int64_t> parse_range(std::string_view flag, const std::string& text) {
  const auto expected = "A:B, A:B:STEP or a list such as 1,2,4, ascending";
  const auto number = [&](const std::string& part) {
    try {
      return parse_integer(flag, part, 1);
    } catch (const UsageError&) {
      refuse(flag, expected, text);
    }
  };
  std::vector<std::int64_t> values;
  if (text.find(':') == std::string::npos) {
    for (const auto& part : split(text, ',')) values.push_back(number(part));
    if (!std::is_sorted(values.begin(), values.end(), std::less_equal<>()))
      refuse(flag, expected, text);
    return values;
  }
  const auto parts = split(text, ':');
  if (parts.size() > 3) refuse(flag, expected, text);
  const auto from = number(parts[0]), to = number(parts[1]);
  const auto step = parts.size() == 3 ? number(parts[2]) : 1;
  if (from > to) refuse(flag, expected, text);
  if ((to - from) / step >= kMostPoints)
    refuse(flag, fmt::format("at most {} values", kMostPoints), text);
  for (std::int64_t i = 0; i <= (to - from) / step; ++i) values.push_back(from + i * step);
  return values;
}

void add_sweep_flags(CLI::App& command, Flags& flags) {
  flags.steps = 2;  // optimizer state is born in the first: the second is the steady one
  add_common_flags(command, flags);
  for (const auto* flag : {"--mode", "--top", "--data", "--labels"}) remove_flag(command, flag);
  command.get_option("--steps")->description(
      "training steps (default 2: optimizer state is born in the first)");
  command.get_option("--batch")->description("samples of a step, with --inputs (default 8)");
  command.get_option("--micro-batch")
      ->description(
          "samples of a micro-batch, the last may be smaller; batches below it are one micro-batch "
          "(default 1; full-batch: the batch)");
  const char* group = "Sweep";
  add(command, group, "--batches", "A:B[:STEP]",
      "the batches to plan, or a list such as 1,2,4 (default 1:32)",
      [&flags](const std::string& text) {
        flags.batches.batches = parse_range("--batches", text);
      });
  add(command, group, "--inputs", "A:B[:STEP]", "instead of batches: heights of square images",
      [&flags](const std::string& text) { flags.batches.inputs = parse_range("--inputs", text); });
  add(command, group, "--modes", kModeWords,
      "gradient modes, separated by commas (default full-batch)",
      [&flags](const std::string& text) { flags.modes = parse_modes("--modes", text); });
  command
      .add_flag("--real", flags.batches.real,
                "also run each point and hold its ledger against the plan's")
      ->group(group);
  add_frontier(command, group, flags,
               "also what each way to recompute takes at the largest batch, memory against time, "
               "and which of them no other beats; --plot draws that");
  add(command, group, "--formula", "text|latex|js",
      "print the peak as a formula of the batch instead of tables; js computes in BigInt",
      [&flags](const std::string& text) { flags.batches.formula = parse_formula(text); });
}

void add_fit_flags(CLI::App& command, Flags& flags) {
  flags.steps = 2;
  add_common_flags(command, flags);
  for (const auto* flag : {"--data", "--labels"}) remove_flag(command, flag);
  command.get_option("--steps")->description(
      "training steps (default 2: optimizer state is born in the first)");
  command.get_option("--batch")->description(
      "an effective batch to reach by whatever mode (default twice the largest that fits)");
  command.get_option("--capacity")->description("the same as --memory");
  const char* group = "Fit";
  add(command, group, "--memory", "SIZE", "memory of the device: 6GiB, 6GB, 512MiB",
      [&flags](const std::string& text) { flags.batches.memory = parse_size("--memory", text); });
  add(command, group, "--reserve", "SIZE",
      "memory that is not ours: a context, other programs (default 0)",
      [&flags](const std::string& text) { flags.batches.reserve = parse_size("--reserve", text); });
  add(command, group, "--max", "B",
      "look at no larger batch (default 1048576; in accumulated-graph 2048 micro-batches)",
      [&flags](const std::string& text) {
        flags.batches.most = parse_integer("--max", text, 1);
        if (flags.batches.most > kMostBatch)
          refuse("--max", fmt::format("at most {}", kMostBatch), text);
      });
  command
      .add_flag("--prove", flags.batches.prove,
                "run the largest batch for real and show that one more is refused")
      ->group(group);
  add_frontier(
      command, group, flags,
      "also the largest batch with each way to recompute, what it costs in time, and which "
      "of them no other beats; --plot draws that");
  add(command, group, "--budget", "SECONDS",
      "stop walking down from the bound after this time and say what was not examined",
      [&flags](const std::string& text) { flags.budget = parse_real("--budget", text, 0); });
}

}  // namespace arenagrad::cli
