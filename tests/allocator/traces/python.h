// Python as a second opinion on pickles; tests that want it are skipped where it is missing.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace arenagrad::testing {

/// A directory that goes away with the test.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "arenagrad-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  std::string read(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

 private:
  std::filesystem::path path_;
};

inline bool has_python() { return std::system("python3 -c '' >/dev/null 2>&1") == 0; }

/// What the command prints, and its exit status in front of that when it isn't 0.
inline std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  char piece[4096];
  while (const auto count = std::fread(piece, 1, sizeof piece, pipe)) text.append(piece, count);
  const int status = ::pclose(pipe);
  return status == 0 ? text : "exit " + std::to_string(WEXITSTATUS(status)) + ": " + text;
}

}  // namespace arenagrad::testing
