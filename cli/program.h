// The whole program but for the process around it, so that tests can call it.
#pragma once

#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/output.h"

namespace arenagrad::cli {

/// `argv`: the program's name, then the arguments. Never throws: every error becomes a message on
/// stderr and an exit code.
ExitCode run_program(const std::vector<std::string>& argv, const Console& console) noexcept;

}  // namespace arenagrad::cli
