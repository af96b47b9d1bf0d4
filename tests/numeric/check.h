// Every case of a reference folder in every way there is to run it, as a table.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "kernels/dtype.h"

namespace arenagrad::numeric {

/// True when everything agrees. Each case runs in the three gradient modes, with micro-batches that
/// don't divide the batch, and under both saved policies. Where samples are independent each way
/// must give the reference's numbers; where a layer couples them, cut-up modes are compared with
/// each other. `dtype`: none runs both. Throws Error when the folder cannot be read.
bool check_folder(const std::string& folder, std::optional<DType> dtype, std::FILE* report);

}  // namespace arenagrad::numeric
