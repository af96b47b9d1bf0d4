// The driver's functions, which are found by name as they are on a real machine.
#pragma once

namespace emulated_cuda {

/// Null for a function that is not emulated.
void* driver_function(const char* name);

}  // namespace emulated_cuda
