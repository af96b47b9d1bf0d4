#pragma once

namespace arenagrad::cli {

/// What the program's exit status says, the same for every verb.
enum class ExitCode : int {
  ok = 0,
  check_failed = 1,   // gradients differ, or books that don't balance
  bad_input = 2,      // usage, a spec or data file that can't be read, output that can't be written
  does_not_fit = 3,   // in the capacity, or in this machine's memory
  interrupted = 130,  // by SIGINT
};

/// The worse of two outcomes of one verb: a failed check outranks what didn't fit.
constexpr ExitCode worse(ExitCode a, ExitCode b) {
  if (a == ExitCode::check_failed || b == ExitCode::check_failed) return ExitCode::check_failed;
  return a == ExitCode::ok ? b : a;
}

}  // namespace arenagrad::cli
