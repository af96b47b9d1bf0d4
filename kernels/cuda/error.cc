#include "kernels/cuda/error.h"

namespace arenagrad::cuda {

void fail(const char* call, const std::string& got, std::source_location where) {
  throw DeviceError(std::string(call) + ": expected success, got " + got + ", at " +
                    where.file_name() + ":" + std::to_string(where.line()));
}

}  // namespace arenagrad::cuda
