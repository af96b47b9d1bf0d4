// The flags of sweep and fit, which are about many batches at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace arenagrad::cli {

struct Flags;

enum class FormulaStyle : std::uint8_t { text, latex, js };

struct BatchFlags {
  bool frontier = false;  // both
  // sweep
  std::vector<std::int64_t> batches, inputs;  // ascending; empty when not given
  bool real = false;
  std::optional<FormulaStyle> formula;
  // fit
  std::optional<std::size_t> memory;
  std::size_t reserve = 0;
  std::int64_t most = std::int64_t{1} << 20;
  bool prove = false;
};

/// "1:128", "1:128:8" or "1,2,4": ascending, each once. Throws UsageError.
std::vector<std::int64_t> parse_range(std::string_view flag, const std::string& text);

void add_sweep_flags(CLI::App& command, Flags& flags);
void add_fit_flags(CLI::App& command, Flags& flags);

}  // namespace arenagrad::cli
