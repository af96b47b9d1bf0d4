// The backend and the profile that layers are tested on.
#pragma once

#include <memory>

#include "kernels/backend.h"
#include "kernels/profile.h"

namespace arenagrad::testing {

std::unique_ptr<Backend> make_backend_under_test(int threads);
Profile profile_under_test();

}  // namespace arenagrad::testing
