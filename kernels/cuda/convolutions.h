// The planned convolutions of one run, rebuilt for the GPU at hand. Needs CUDA's headers.
#pragma once

#include <cudnn.h>

#include <optional>
#include <span>
#include <vector>

#include "kernels/cudnn/convolution.h"
#include "kernels/tensor.h"

namespace arenagrad::cuda {

/// cuDNN's functions as this program is linked with them.
cudnn::CudnnApi linked_cudnn();

class Convolutions {
 public:
  /// Builds all engines of the table. Throws DeviceError when one can't be built, or when the GPU's
  /// answer about its workspace is not the planned one.
  Convolutions(cudnnHandle_t handle, std::span<const cudnn::PinnedEngines> engines);
  // Plans refer to the functions of this object.
  Convolutions(const Convolutions&) = delete;
  Convolutions& operator=(const Convolutions&) = delete;

  struct Operands {
    ConstTensor x, w, y;  // or their gradients; one of them is written
  };
  /// `engine` is a place in the table; ContractError unless it was chosen for this problem
  /// and the operands' layout.
  void run(const ConvProblem& problem, ConvPass pass, std::int64_t engine, Write write,
           const Operands& operands, Workspace workspace) const;

 private:
  struct Entry {
    cudnn::ConvKey key;
    cudnn::Plan overwrite;
    std::optional<cudnn::Plan> accumulate;
  };
  cudnn::Plan build(const cudnn::ConvKey& key, const cudnn::Engine& engine) const;

  cudnn::CudnnApi api_;
  cudnnHandle_t handle_;
  std::vector<Entry> entries_;
};

}  // namespace arenagrad::cuda
