// The program in process, with its output captured.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.h"
#include "tests/experiments/temporary.h"

namespace arenagrad::test {

struct Outcome {
  int code = 0;
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

struct Surroundings {
  bool colour = false, terminal = false;  // the latter of stderr
  const std::atomic<bool>* interrupted = nullptr;
  bool out_is_terminal = false;
};

inline Outcome arenagrad(std::vector<std::string> arguments, const Surroundings& around = {}) {
  arguments.insert(arguments.begin(), "arenagrad");
  cli::StringSink out, err;
  const auto code = cli::run_program(arguments, {out, err, around.colour, around.terminal,
                                                 around.interrupted, around.out_is_terminal});
  return {static_cast<int>(code), out.text(), err.text()};
}

inline std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::string line;
  for (const char c : text) {
    if (c == '\n') {
      result.push_back(line);
      line.clear();
    } else {
      line += c;
    }
  }
  if (!line.empty()) result.push_back(line);
  return result;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace arenagrad::test
