#include "cli/version.h"

#include <fmt/format.h>

#include <CLI/Version.hpp>
#include <nlohmann/json.hpp>

#include "kernels/cpu/gemm.h"

namespace arenagrad::cli {

std::string version() { return ARENAGRAD_VERSION; }

std::string version_text() {
#if defined(__clang__)
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "gcc " __VERSION__;
#endif
  return fmt::format(
      "arenagrad {}\n"
      "compiler   {}, {}\n"
      "gemm       {}\n"
      "libraries  Eigen {}, OpenBLAS {}, OpenMP {}, nlohmann_json {}.{}.{}, CLI11 {}, fmt {}.{}.{}",
      version(), compiler, ARENAGRAD_BUILD, cpu::gemm_kernel_description(), ARENAGRAD_EIGEN,
      ARENAGRAD_OPENBLAS_FOUND, ARENAGRAD_OPENMP, NLOHMANN_JSON_VERSION_MAJOR,
      NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH, CLI11_VERSION, FMT_VERSION / 10000,
      FMT_VERSION / 100 % 100, FMT_VERSION % 100);
}

}  // namespace arenagrad::cli
