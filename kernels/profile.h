// What planning may know about a device. A profile is data, not the device: a laptop plans for a
// GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "allocator/request.h"
#include "kernels/problems.h"
#include "kernels/tensor.h"

namespace arenagrad {

/// No engine can do it: asked of adding to a gradient, where overwriting is still possible.
inline constexpr std::int64_t kNoEngine = -1;

/// An engine picked for a convolution; `workspace` in bytes. On the CPU there is one engine, 0; a
/// GPU's is a place in a table, the same whether the result is written or added.
struct ConvChoice {
  std::int64_t engine;
  std::size_t workspace;
};

/// Scratch that a device's kernels need, answered without the device.
class KernelPlanner {
 public:
  virtual ~KernelPlanner() = default;
  /// Throws DeviceError when nothing can overwrite.
  virtual ConvChoice convolution(const ConvProblem& problem, ConvPass pass, Write write) const = 0;
  /// Forward (bias added), backward to the input, backward to weight and bias.
  virtual std::size_t linear_workspace(const LinearProblem& problem, ConvPass pass) const = 0;
  virtual std::size_t batch_norm_workspace(const BatchNormProblem& problem,
                                           bool backward) const = 0;
  /// The most elements that batch norm in train mode can take.
  virtual std::int64_t most_batch_norm_elements() const {
    return std::numeric_limits<std::int64_t>::max();
  }
  /// False once a workspace was asked for that nobody here knows: 0 was answered instead.
  virtual bool complete() const { return true; }
};

struct Profile {
  std::string name;
  std::size_t alignment = 64;                  // bytes, of every buffer
  std::size_t granule = std::size_t{2} << 20;  // bytes, the unit of driver memory
  std::size_t capacity = kUnlimited;           // bytes
  bool dropout_mask_is_float = true;           // PyTorch's mask: float on a CPU, 1 byte on CUDA
  Layout layout = Layout::nchw;                // of every image
  std::size_t library = 0;  // bytes that a library is handed for good (the cuBLAS workspace)
  const KernelPlanner* kernels = nullptr;  // outlives every program planned with it
};

/// The CPU backend's profile: the same on every machine.
Profile cpu_profile();

}  // namespace arenagrad
