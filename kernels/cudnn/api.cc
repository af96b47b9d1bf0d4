#include "kernels/cudnn/api.h"

#include <array>

#include "kernels/backend.h"

namespace arenagrad::cudnn {

void check(const CudnnApi& api, Status status, std::string_view call, std::string_view where) {
  if (status == Status::success) return;
  std::array<char, 512> why{};
  if (api.last_error != nullptr) api.last_error(why.data(), why.size());
  std::string text = "cuDNN: " + std::string(call) + ": expected success, got " +
                     (api.error_string != nullptr ? api.error_string(status)
                                                  : std::to_string(static_cast<int>(status)));
  if (why[0] != '\0') text += " (" + std::string(why.data()) + ")";
  throw DeviceError(text + ", in " + std::string(where));
}

}  // namespace arenagrad::cudnn
