// The shared bodies, compiled for the CPU.
#include "kernels/bodies/pointwise_methods.h"
#include "kernels/cpu/backend.h"
#include "kernels/cpu/run_bodies.h"

namespace arenagrad {

template class PointwiseBackend<cpu::Executor>;

}  // namespace arenagrad
