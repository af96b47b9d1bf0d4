// fuzz_seeds DIRECTORY: a small trace in every format that can be read, each in a folder of its
// own.
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/allocator/traces/sample.h"

int main(int argc, char** argv) {
  using namespace arenagrad;
  if (argc != 2) {
    std::cerr << "usage: fuzz_seeds DIRECTORY\n";
    return 2;
  }
  TraceLog trace;
  ByteSource source(reading_text(testing::kSmallTrace), "sample");
  read_jsonl(source, trace, {});
  for (const TraceFormat& format : trace_formats()) {
    if (format.read == nullptr) continue;
    const auto folder = std::filesystem::path(argv[1]) / format.name;
    std::filesystem::create_directories(folder);
    std::ofstream file(folder / "sample", std::ios::binary);
    trace.replay(*format.make_writer([&](std::string_view text) { file << text; }));
  }
  return 0;
}
