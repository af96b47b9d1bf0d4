// Counts what asks for heap memory, in any thread and whatever the library, in the program that
// this is linked into.
#pragma once

#include <cstdint>

namespace arenagrad::cpu_test {

/// Requests (malloc, calloc, realloc, aligned ones, new) since the program began.
std::int64_t allocations_so_far();

}  // namespace arenagrad::cpu_test
