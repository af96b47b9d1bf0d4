// The shared bodies, compiled for GPUs. `submit` comes first: launch.h calls it.
// clang-format off
#include "kernels/cuda/submit.h"
#include "kernels/cuda/instances.h"
// clang-format on
