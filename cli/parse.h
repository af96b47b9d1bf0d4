// From the words of a command line to values. Every error says which flag, what it accepts, and
// what it got.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/error.h"
#include "cli/output.h"
#include "experiments/compare.h"
#include "experiments/settings.h"
#include "kernels/shape.h"

namespace arenagrad::cli {

/// A command line that makes no sense.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// All of these throw UsageError. `flag` is for the message.
std::int64_t parse_integer(std::string_view flag, const std::string& text, std::int64_t least,
                           std::int64_t most = std::numeric_limits<std::int64_t>::max());
std::uint64_t parse_seed(std::string_view flag, const std::string& text);
/// Finite and at least `least`.
double parse_real(std::string_view flag, const std::string& text, double least);
std::size_t parse_size(std::string_view flag, const std::string& text);
/// "3x224x224".
Shape parse_shape(std::string_view flag, const std::string& text);

/// What help says of a flag that takes modes.
inline constexpr const char* kModeWords = "full-batch|accumulated-graph|per-step|two-pass";
GradientMode parse_mode(std::string_view flag, const std::string& text);
/// "full-batch,per-step": each once.
/// "none", "sqrt", "every:K" or names of layers.
Recompute parse_recompute(std::string_view flag, const std::string& text);
/// "all" or names separated by commas.
std::vector<GradientMode> parse_modes(std::string_view flag, const std::string& text);
SavedPolicy parse_policy(std::string_view flag, const std::string& text);
OptimizerSpec::Kind parse_optimizer(std::string_view flag, const std::string& text);
DType parse_dtype(std::string_view flag, const std::string& text);
Format parse_format(std::string_view flag, const std::string& text);
Reference parse_reference(std::string_view flag, const std::string& text);
/// The strategy's full name.
std::string parse_strategy(std::string_view flag, const std::string& text);
/// "tlsf,plan:exact": each once.
std::vector<std::string> parse_strategies(std::string_view flag, const std::string& text);
std::string parse_trace_format(std::string_view flag, const std::string& text);

}  // namespace arenagrad::cli
