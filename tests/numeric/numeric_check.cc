// numeric_check DIR [--dtype f32|f64]: runs every case of a reference folder and compares all that
// the folder has numbers for. Exit status 0: all within the limits, 1: some are not, 2: bad usage
// or a folder that cannot be read.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <optional>
#include <string_view>

#include "tests/numeric/check.h"

namespace {

constexpr std::string_view kUsage =
    "usage: numeric_check DIR [--dtype f32|f64]\n\n"
    "Runs every case of DIR/cases.json, in every gradient mode and saved policy, and compares "
    "loss,\n"
    "logits, activations, gradients, running statistics and updated parameters with the numbers\n"
    "beside it. Without --dtype in both types.\n\n"
    "Limits relative to a tensor's largest value: 1e-5 in f32; in f64 1e-11, and 1e-10 for the\n"
    "parameters after two steps.\n";

int bad_usage(std::string_view what) {
  fmt::print(stderr, "numeric_check: {}\n{}", what, kUsage);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  using arenagrad::DType;
  std::optional<std::string> folder;
  std::optional<DType> dtype;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument == "-h" || argument == "--help") {
      fmt::print("{}", kUsage);
      return 0;
    }
    const bool joined = argument.starts_with("--dtype=");
    if (argument == "--dtype" || joined) {
      const std::string_view value =
          joined ? argument.substr(8) : std::string_view(i + 1 < argc ? argv[++i] : "");
      if (value != "f32" && value != "f64")
        return bad_usage(fmt::format("--dtype: expected f32 or f64, got '{}'", value));
      dtype = value == "f32" ? DType::f32 : DType::f64;
    } else if (argument.starts_with("-") || folder) {
      return bad_usage(fmt::format("unexpected argument '{}'", argument));
    } else {
      folder = argument;
    }
  }
  if (!folder) return bad_usage("expected a folder");
  try {
    return arenagrad::numeric::check_folder(*folder, dtype, stdout) ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "numeric_check: {}\n", error.what());
    return 2;
  }
}
