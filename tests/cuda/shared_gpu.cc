#include "tests/cuda/shared_gpu.h"

#include <gtest/gtest.h>

namespace arenagrad::cuda_test {

GpuUnderTest& SharedGpu::gpu() {
  if (gpu_ == nullptr) gpu_ = std::make_unique<GpuUnderTest>(layout_);
  return *gpu_;
}

StagedBackend::OnGpu SharedGpu::open() {
  if (backend_ == nullptr || engines_ != gpu().planner().table().size()) {
    close();
    engines_ = gpu().planner().table().size();
    device_ = gpu().open();
    backend_ = device_->make_backend();
    driver_ = device_->make_driver({.kind = ArenaKind::fixed,
                                    .capacity = kMemory,
                                    .granule = gpu().profile().granule,
                                    .planned = kMemory});
    check_contract(driver_->commit(driver_->reserve(kMemory), kMemory),
                   "the GPU has no memory for a test");
    backend_->use_library({driver_->base(), kLibrary});
  }
  return {backend_.get(), driver_->base() + kLibrary, kMemory - kLibrary, layout_};
}

void SharedGpu::close() {
  driver_.reset();
  backend_.reset();
  device_.reset();
}

void SharedGpu::end() {
  close();
  gpu_.reset();
  engines_ = 0;
}

namespace {

/// Before anything static is destroyed.
class CloseAtTheEnd final : public ::testing::Environment {
 public:
  void TearDown() override {
    end_shared_gpus();
    EXPECT_EQ(complaints(), std::vector<std::string>{});
  }
};

}  // namespace

SharedGpu& shared_gpu(Layout layout) {
  static SharedGpu nchw(Layout::nchw), nhwc(Layout::nhwc);
  static const bool watched = [] {
    ::testing::AddGlobalTestEnvironment(new CloseAtTheEnd);
    return true;
  }();
  static_cast<void>(watched);
  return layout == Layout::nchw ? nchw : nhwc;
}

void end_shared_gpus() {
  for (const Layout layout : {Layout::nchw, Layout::nhwc}) shared_gpu(layout).end();
}

}  // namespace arenagrad::cuda_test
