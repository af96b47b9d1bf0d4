// What the GPU backend counts on, asked of whatever it runs on: the emulated GPU, and a real one
// through the `cuda` preset. A disagreement between the two becomes a case here.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "kernels/cpu/backend.h"
#include "kernels/cuda/backend.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/driver.h"
#include "tests/cuda/shared_gpu.h"
#include "tests/kernels/cpu_support.h"

namespace arenagrad::cuda_test {
namespace {

using cpu_test::close;
using cpu_test::filled;
using cpu_test::same_bits;
using cpu_test::values;
using cpu_test::view;

constexpr std::size_t kGranule = cuda::kGranule;

/// A backend and memory of its own. Engines must have been planned before.
struct Opened {
  explicit Opened(const GpuUnderTest& gpu, ArenaKind kind = ArenaKind::growing,
                  std::size_t granules = 8)
      : device(gpu.open()),
        backend(device->make_backend()),
        driver(device->make_driver({kind, granules * kGranule, kGranule, granules * kGranule})) {}

  Tensor bytes(std::size_t offset, std::size_t count) const {
    return {driver->at(offset), Shape{static_cast<std::int64_t>(count)}, DType::u8};
  }
  void write(std::size_t offset, const std::vector<unsigned char>& data) const {
    backend->copy_from_host(bytes(offset, data.size()), data.data());
  }
  std::vector<unsigned char> read(std::size_t offset, std::size_t count) const {
    std::vector<unsigned char> data(count);
    backend->copy_to_host(data.data(), bytes(offset, count));
    return data;
  }

  std::unique_ptr<Device> device;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Driver> driver;
};

std::vector<unsigned char> pattern(std::size_t count, unsigned char seed) {
  std::vector<unsigned char> data(count);
  for (std::size_t i = 0; i < count; ++i)
    data[i] = static_cast<unsigned char>(seed + i * 7 + (i >> 8));
  return data;
}

class CudaContract : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    start_gpu();
  }
  void TearDown() override {
    end_shared_gpus();
    EXPECT_EQ(complaints(), std::vector<std::string>{});
  }
};

TEST_F(CudaContract, CopiesOfAnySizeComeBack) {
  const GpuUnderTest gpu;
  const Opened on(gpu, ArenaKind::fixed, 16);
  ASSERT_TRUE(on.driver->commit(on.driver->reserve(16 * kGranule), 16 * kGranule));
  for (const std::size_t count : {std::size_t{1}, std::size_t{4097}, (std::size_t{4} << 20) + 1,
                                  (std::size_t{17} << 20) + 3}) {
    const auto data = pattern(count, 3);
    on.write(5, data);
    EXPECT_TRUE(on.read(5, count) == data) << count;
  }
}

TEST_F(CudaContract, WhatWasCopiedFromMayChangeAtOnce) {
  const GpuUnderTest gpu;
  const Opened on(gpu);
  ASSERT_TRUE(on.driver->commit(on.driver->reserve(8 * kGranule), 8 * kGranule));
  const std::size_t count = std::size_t{5} << 20;
  std::vector<unsigned char> data = pattern(count, 1);
  on.write(0, data);
  data = pattern(count, 2);
  on.write(count, data);
  std::fill(data.begin(), data.end(), 0);
  EXPECT_TRUE(on.read(0, count) == pattern(count, 1));
  EXPECT_TRUE(on.read(count, count) == pattern(count, 2));
}

TEST_F(CudaContract, AGrowingArenaCommitsAnywhere) {
  const GpuUnderTest gpu;
  const Opened on(gpu);
  const std::size_t before = on.device->free_memory();
  const std::size_t range = on.driver->reserve(8 * kGranule);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(on.driver->base()) % kGranule, 0u);
  EXPECT_EQ(on.device->free_memory(), before);
  ASSERT_TRUE(on.driver->commit(range + 2 * kGranule, 3 * kGranule));
  EXPECT_EQ(on.device->free_memory(), before - 3 * kGranule);
  on.write(range + 3 * kGranule - 100, pattern(200, 4));  // across granules
  EXPECT_TRUE(on.read(range + 3 * kGranule - 100, 200) == pattern(200, 4));
  on.write(range + 3 * kGranule, pattern(kGranule, 7));  // may still be queued
  on.driver->decommit(range + 3 * kGranule, kGranule);
  EXPECT_EQ(on.device->free_memory(), before - 2 * kGranule);
  EXPECT_TRUE(on.read(range + 3 * kGranule - 100, 100) == pattern(100, 4));
  ASSERT_TRUE(on.driver->commit(range + 3 * kGranule, kGranule));
  on.write(range + 3 * kGranule, pattern(kGranule, 5));
  EXPECT_TRUE(on.read(range + 3 * kGranule, kGranule) == pattern(kGranule, 5));
}

TEST_F(CudaContract, MappedMemoryIsTheSame) {
  const GpuUnderTest gpu;
  const Opened on(gpu);
  const std::size_t from = on.driver->reserve(4 * kGranule, Sharing::shareable);
  const std::size_t to = on.driver->reserve(4 * kGranule);
  ASSERT_TRUE(on.driver->commit(from, 4 * kGranule));
  ASSERT_TRUE(on.driver->map(to, from + 2 * kGranule, 2 * kGranule));
  ASSERT_TRUE(on.driver->map(to + 2 * kGranule, from, kGranule));
  on.write(to + kGranule, pattern(2 * kGranule, 6));  // the source's last granule, then its first
  EXPECT_TRUE(on.read(from + 3 * kGranule, kGranule) == on.read(to + kGranule, kGranule));
  EXPECT_TRUE(on.read(from, kGranule) == on.read(to + 2 * kGranule, kGranule));
  on.write(to, pattern(kGranule, 8));  // may still be queued
  on.driver->unmap(to, 2 * kGranule);
  EXPECT_TRUE(on.read(from + 2 * kGranule, kGranule) == pattern(kGranule, 8));
  EXPECT_TRUE(on.read(from, kGranule) == on.read(to + 2 * kGranule, kGranule));
  on.driver->unmap(to + 2 * kGranule, kGranule);
  on.driver->decommit(from, 4 * kGranule);
}

TEST_F(CudaContract, AFixedArenaIsAlignedAndEnds) {
  const GpuUnderTest gpu;
  const Opened on(gpu, ArenaKind::fixed, 2);
  const std::size_t range = on.driver->reserve(2 * kGranule);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(on.driver->base()) % kGranule, 0u);
  EXPECT_TRUE(on.driver->commit(range, 2 * kGranule));
  on.driver->decommit(range, 2 * kGranule);
  const std::size_t other = on.driver->reserve(2 * kGranule);
  EXPECT_FALSE(on.driver->commit(other, kGranule)) << "another range lies beyond it";
}

TEST_F(CudaContract, APoolGivesEachBufferItsOwnMemory) {
  const GpuUnderTest gpu;
  Opened on(gpu, ArenaKind::pool);
  const std::size_t before = on.device->free_memory();
  const std::size_t count = (std::size_t{3} << 20) + 5;
  const std::size_t a = on.driver->reserve(1000), b = on.driver->reserve(count);
  ASSERT_TRUE(on.driver->commit(a, 1000));
  ASSERT_TRUE(on.driver->commit(b, count));
  for (const std::size_t offset : {a, b})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(on.driver->at(offset)) % 256, 0u);
  on.write(b, pattern(count, 2));
  on.write(a, pattern(1000, 1));  // may still be queued
  on.driver->decommit(a, 1000);
  ASSERT_TRUE(on.driver->commit(a, 1000));
  on.write(a, pattern(1000, 3));
  EXPECT_TRUE(on.read(b, count) == pattern(count, 2));
  EXPECT_TRUE(on.read(a, 1000) == pattern(1000, 3));

  const PoolCounters live = on.driver->pool_counters().value();
  EXPECT_GE(live.used, 1000 + count);
  EXPECT_GE(live.reserved, live.used);
  EXPECT_GE(live.used_high, live.used);
  EXPECT_GE(live.reserved_high, live.reserved);
  on.driver->decommit(a, 1000);
  on.driver->decommit(b, count);
  const PoolCounters freed = on.driver->pool_counters().value();
  EXPECT_EQ(freed.used, 0u);
  EXPECT_EQ(freed.used_high, live.used_high);
  EXPECT_EQ(freed.reserved, live.reserved) << "it keeps what it was freed";
  EXPECT_FALSE(on.driver->commit(on.driver->reserve(8 * kGranule + 1), 8 * kGranule + 1));
  on.driver.reset();
  // What a pool needs for itself the driver may keep.
  EXPECT_GE(on.device->free_memory() + 2 * kGranule, before);
}

/// A convolution of everything: strides, pads, dilation and groups differ by axis.
constexpr ConvProblem kConvolution{3, 6, 13, 11, 8, 3, 2, 2, 1, 2, 1, 1, 2, 2, 8, 11, DType::f32};

TEST_F(CudaContract, AnEnginesWorkspaceIsThePlannedOne) {
  const GpuUnderTest gpu;
  for (const ConvPass pass :
       {ConvPass::forward, ConvPass::backward_data, ConvPass::backward_filter}) {
    gpu.planner().convolution(kConvolution, pass, Write::overwrite);
    if (pass != ConvPass::forward) gpu.planner().convolution(kConvolution, pass, Write::accumulate);
  }
  EXPECT_NO_THROW(Opened{gpu});
  auto tampered = gpu.planner().table();
  tampered.back().overwrite.workspace += 1;
  const std::string planned = std::to_string(tampered.back().overwrite.workspace);
  const std::string real = std::to_string(tampered.back().overwrite.workspace - 1);
  try {
    CudaBackend({}, tampered);
    ADD_FAILURE() << "another workspace was accepted";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find(planned), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(real), std::string::npos) << error.what();
  }
}

/// PyTorch never does this, and cuDNN's documents don't say that it may.
void expect_batch_norm_in_place(Layout layout) {
  const BatchNormProblem p{4, 5, 33, DType::f32, 1e-5, 0.1};
  const std::int64_t count = p.batch * p.channels * p.spatial;
  const auto x = values<float>(count, 1), dy = values<float>(count, 2);
  const auto weight = values<float>(p.channels, 3), bias = values<float>(p.channels, 4);
  StagedBackend gpu([layout] { return shared_gpu(layout).open(); });
  const Shape shape{p.batch, p.channels, 3, p.spatial / 3};

  auto mean = filled<float>(p.channels, 0xFF), inverse = mean, y = filled<float>(count, 0xFF);
  gpu.batch_norm_train(p, view(x, shape), view(weight, {5}), view(bias, {5}), {}, {},
                       view(mean, {5}), view(inverse, {5}), view(y, shape), {});
  auto in_place = x;
  auto mean2 = filled<float>(p.channels, 0xFF), inverse2 = mean2;
  gpu.batch_norm_train(p, view(in_place, shape), view(weight, {5}), view(bias, {5}), {}, {},
                       view(mean2, {5}), view(inverse2, {5}), view(in_place, shape), {});
  EXPECT_TRUE(same_bits(in_place, y));
  EXPECT_TRUE(same_bits(mean2, mean));

  auto dx = filled<float>(count, 0xFF), dweight = filled<float>(p.channels, 0xFF), dbias = dweight;
  gpu.batch_norm_train_backward(p, view(x, shape), view(dy, shape), view(weight, {5}),
                                view(mean, {5}), view(inverse, {5}), view(dx, shape),
                                Write::overwrite, view(dweight, {5}), view(dbias, {5}),
                                Write::overwrite, {});
  auto dx2 = dy, dweight2 = filled<float>(p.channels, 0xFF), dbias2 = dweight2;
  gpu.batch_norm_train_backward(p, view(x, shape), view(dx2, shape), view(weight, {5}),
                                view(mean, {5}), view(inverse, {5}), view(dx2, shape),
                                Write::overwrite, view(dweight2, {5}), view(dbias2, {5}),
                                Write::overwrite, {});
  EXPECT_TRUE(same_bits(dx2, dx));
  EXPECT_TRUE(same_bits(dweight2, dweight));
}

TEST_F(CudaContract, BatchNormMayRunInPlace) {
  for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
    SCOPED_TRACE(name(layout));
    expect_batch_norm_in_place(layout);
  }
}

/// The two backends' results for a linear layer of odd sizes, all passes.
template <class T>
void expect_linear_is_the_processors() {
  const LinearProblem p{37, 129, 71, dtype_of<T>};
  const auto x = values<T>(37 * 129, 1), w = values<T>(71 * 129, 2), bias = values<T>(71, 3),
             dy = values<T>(37 * 71, 4);
  const auto all = [&](Backend& backend) {
    std::vector<unsigned char> memory(std::size_t{64} << 20);
    const Workspace workspace{memory.data(), memory.size()};
    const Workspace scratch = backend.name() == "cpu" ? workspace : Workspace{};
    std::vector<T> y(37 * 71), dx(37 * 129, T(0.5)), dw(71 * 129, T(0.25)), db(71, T(1));
    backend.linear_forward(p, view(x, {37, 129}), view(w, {71, 129}), view(bias, {71}),
                           view(y, {37, 71}), scratch);
    backend.linear_backward_data(p, view(dy, {37, 71}), view(w, {71, 129}), view(dx, {37, 129}),
                                 Write::accumulate, scratch);
    backend.linear_backward_weight(p, view(x, {37, 129}), view(dy, {37, 71}), view(dw, {71, 129}),
                                   Write::accumulate, scratch);
    backend.bias_gradient(view(dy, {37, 71}), view(db, {71}), Write::accumulate);
    y.insert(y.end(), dx.begin(), dx.end());
    y.insert(y.end(), dw.begin(), dw.end());
    y.insert(y.end(), db.begin(), db.end());
    return y;
  };
  CpuBackend cpu(1);
  StagedBackend gpu([] { return shared_gpu().open(); });
  const auto want = all(cpu);
  EXPECT_TRUE(close(all(gpu), std::vector<double>(want.begin(), want.end()),
                    sizeof(T) == 4 ? 4e-6 : 1e-13));
}

TEST_F(CudaContract, LinearIsTheProcessors) {
  expect_linear_is_the_processors<float>();
  expect_linear_is_the_processors<double>();
}

TEST_F(CudaContract, SaysWhatItIs) {
  const cuda::Found found = cuda::find_gpus();
  ASSERT_FALSE(found.gpus.empty());
  EXPECT_EQ(found.why_none, "");
  EXPECT_FALSE(found.gpus[0].name.empty());
  EXPECT_GE(found.gpus[0].compute_major * 10 + found.gpus[0].compute_minor, 75);
  EXPECT_GE(found.cudnn, 90800u);
  EXPECT_EQ(cuda::device_properties(0).front(), '{');
}

}  // namespace
}  // namespace arenagrad::cuda_test
