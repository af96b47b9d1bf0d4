// What cuDNN wants to know about a device to answer for it in its absence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace arenagrad::cudnn {

/// Figures of cudaDeviceProp; those that all devices since compute capability 7.5 share have a
/// value.
struct DeviceProperties {
  std::string name;  // "NVIDIA H200"
  int compute_major = 0, compute_minor = 0;
  std::int64_t memory = 0;  // bytes
  std::int64_t multiprocessors = 0;
  std::int64_t threads_per_multiprocessor = 0, blocks_per_multiprocessor = 0;
  std::int64_t shared_memory_optin = 0;        // bytes a block may ask for
  std::int64_t reserved_shared_memory = 1024;  // bytes of each block
  std::int64_t l2_cache = 0;                   // bytes
  std::int64_t clock_khz = 0, memory_clock_khz = 0;
  std::int64_t driver = 13000;  // the CUDA version that the driver is made for

  /// For CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION of that version of cuDNN.
  std::string json(std::size_t cudnn_version) const;
  friend bool operator==(const DeviceProperties&, const DeviceProperties&) = default;
};

}  // namespace arenagrad::cudnn
