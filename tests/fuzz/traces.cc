// One reader of traces under libFuzzer: ARENAGRAD_FUZZ_FORMAT says which.
#include <cstddef>
#include <cstdint>

#include "tests/allocator/traces/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  arenagrad::testing::read_and_write_all(ARENAGRAD_FUZZ_FORMAT,
                                         {reinterpret_cast<const char*>(data), size});
  return 0;
}
