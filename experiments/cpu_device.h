// This machine's processor and memory as a device.
#pragma once

#include "kernels/device.h"

namespace arenagrad {

/// `threads`: 0 for as many as the machine has. Results and bytes don't depend on it.
std::unique_ptr<Device> cpu_device(int threads);

}  // namespace arenagrad
