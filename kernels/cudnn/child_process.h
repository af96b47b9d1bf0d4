// The other side of ChildSource. Internal to kernels/cudnn.
#pragma once

#include <string>
#include <vector>

#include "kernels/cudnn/child_source.h"

namespace arenagrad::cudnn {

/// The life of a freshly forked process: opens cuDNN, says "version N" or "lost WHY", then answers
/// lines until there are no more. Its standard error goes to `said`. Does not return.
[[noreturn]] void serve_questions(int socket, int said, const DescribeDevice& device,
                                  const std::vector<std::string>& folders) noexcept;

}  // namespace arenagrad::cudnn
