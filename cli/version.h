#pragma once

#include <string>

namespace arenagrad::cli {

/// "0.1.0".
std::string version();
/// Version, compiler, and the libraries this binary was built with or has found.
std::string version_text();

}  // namespace arenagrad::cli
