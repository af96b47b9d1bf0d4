// The backend and the profile that layers are tested on.
#pragma once

#include <memory>

#include "kernels/backend.h"
#include "kernels/profile.h"

namespace arenagrad::testing {

std::unique_ptr<Backend> make_backend_under_test(int threads);
Profile profile_under_test();

/// Gradients have the same bits whether or not the others are wanted too. Where they have not, they
/// are other algorithms' and agree up to rounding.
bool wanting_less_changes_no_bits();

}  // namespace arenagrad::testing
