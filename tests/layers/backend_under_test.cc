#include "tests/layers/backend_under_test.h"

#include "kernels/cpu/backend.h"

namespace arenagrad::testing {

std::unique_ptr<Backend> make_backend_under_test(int threads) {
  return std::make_unique<CpuBackend>(threads);
}

Profile profile_under_test() { return cpu_profile(); }

bool wanting_less_changes_no_bits() { return true; }

}  // namespace arenagrad::testing
