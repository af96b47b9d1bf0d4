// One GPU for all tests of a program, opened anew when more engines have been planned.
#pragma once

#include <memory>

#include "tests/cuda/gpu_under_test.h"
#include "tests/cuda/staged_backend.h"

namespace arenagrad::cuda_test {

class SharedGpu {
 public:
  explicit SharedGpu(Layout layout) : layout_(layout) {}
  const Profile& profile() { return gpu().profile(); }
  /// A backend that knows every engine planned so far, and memory for one call's operands.
  StagedBackend::OnGpu open();
  /// Gives everything on the GPU back; the next `open` takes it anew.
  void close();
  /// Forgets what was planned, too.
  void end();

 private:
  static constexpr std::size_t kMemory = std::size_t{16} << 20, kLibrary = std::size_t{64} << 10;

  GpuUnderTest& gpu();

  Layout layout_;
  std::unique_ptr<GpuUnderTest> gpu_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Driver> driver_;
  std::size_t engines_ = 0;
};

/// With images of this layout. Made at the first call.
SharedGpu& shared_gpu(Layout layout = Layout::nchw);
/// Ends those of both layouts.
void end_shared_gpus();

}  // namespace arenagrad::cuda_test
