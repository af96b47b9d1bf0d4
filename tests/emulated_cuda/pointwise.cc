// The shared bodies behind the GPU's launches, for the emulated GPU.
// clang-format off
#include "tests/emulated_cuda/submit.h"
#include "kernels/cuda/instances.h"
// clang-format on
