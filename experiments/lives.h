// Where in a run buffers are born and die, in words.
#pragma once

#include <string>
#include <vector>

#include "graph/program.h"

namespace arenagrad {

/// Words for the instants of `lifetimes(program, steps)`: the same horizon, counted in
/// instructions.
class Lives {
 public:
  Lives(const Program& program, const Tape& tape, std::int64_t steps);

  /// What the instruction at `time` prepares: "forward of conv1", "update of fc.weight".
  std::string born(std::uint32_t time) const;
  /// What was done last before `time`: likewise; "teardown" for what lives to the end.
  std::string dies(std::uint32_t time) const;

 private:
  std::string text(const Exec& exec) const;

  const Program& program_;
  const Tape& tape_;
  std::vector<const Instruction*> code_;
  std::uint32_t teardown_ = 0;  // where it begins
};

}  // namespace arenagrad
