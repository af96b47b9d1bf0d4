// The emulated GPU catches each kind of illegal call: it fails as the real one would, and the
// violation is written down.
#include "kernels/cuda/convolutions.h"
#include "kernels/cuda/memory_mapping.h"
#include "tests/emulated_cuda/bench.h"
#include "tests/emulated_cuda/dnn_descriptor.h"
#include "tests/emulated_cuda/submit.h"

namespace emulated_cuda {
namespace {

using namespace arenagrad;

/// Of 2 x 3 x 4 x 4 with 5 filters of 3 x 3.
cudnn::ConvKey small_key(ConvPass pass = ConvPass::forward) {
  const ConvProblem problem{2, 3, 4, 4, 5, 3, 3, 1, 1, 1, 1, 1, 1, 1, 4, 4, DType::f32};
  return cudnn::conv_key(problem, pass, false, Layout::nchw, 256);
}

class Convolver {
 public:
  explicit Convolver(const Bench& bench, const cudnn::Engine& engine = {.id = kHungry})
      : bench_(bench),
        api_(cuda::linked_cudnn()),
        plan_(cudnn::Target(api_, bench.session.dnn()), small_key(), engine) {}
  void run(std::size_t x, std::size_t w, std::size_t y, void* workspace) const {
    plan_.execute(bench_.session.dnn(), bench_.at(x), bench_.at(w), bench_.at(y), workspace);
  }

 private:
  const Bench& bench_;
  cudnn::CudnnApi api_;
  cudnn::Plan plan_;
};

struct Norm {
  Norm() {
    cudnnCreateTensorDescriptor(&data);
    cudnnCreateTensorDescriptor(&channel);
    cudnnSetTensor4dDescriptor(data, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 3, 8, 1);
  }
  ~Norm() {
    cudnnDestroyTensorDescriptor(data);
    cudnnDestroyTensorDescriptor(channel);
  }
  void derive() { cudnnDeriveBNTensorDescriptor(channel, data, CUDNN_BATCHNORM_SPATIAL); }
  cudnnStatus_t forward(const Bench& b, std::size_t y, float* running_mean) const {
    const float one = 1, zero = 0;
    return cudnnBatchNormalizationForwardTraining(
        b.session.dnn(), CUDNN_BATCHNORM_SPATIAL, &one, &zero, data, b.at(0), data, b.at(y),
        channel, b.at(4096), b.at(4352), 0.1, running_mean, nullptr, 1e-5, b.at(4608), b.at(4864));
  }
  cudnnTensorDescriptor_t data = nullptr, channel = nullptr;
};

cudnnStatus_t set_alignment(cudnnBackendDescriptor_t desc, std::int64_t count) {
  const std::int64_t value = 16;
  return cudnnBackendSetAttribute(desc, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, count,
                                  &value);
}

using BackendDesc = cuda::Owned<cudnnBackendDescriptor_t, cudnnBackendDestroyDescriptor>;

BackendDesc make_tensor() {
  cudnnBackendDescriptor_t desc = nullptr;
  cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, &desc);
  return BackendDesc(desc);
}

struct Nothing {
  void operator()(std::int64_t, std::int64_t) const {}
};

const Case kCases[] = {
    {"free_of_no_block", "cudaFree: not a block", [](Bench& b) { cudaFree(b.at(256)); }},
    {"copy_from_pageable_memory", "not pinned",
     [](Bench& b) {
       float host = 0;
       cudaMemcpyAsync(b.at(0), &host, 4, cudaMemcpyHostToDevice, b.session.stream());
     }},
    {"copy_beyond_the_block", "not all device memory",
     [](Bench& b) {
       const float host = 0;
       b.session.staging().upload({b.bytes() + kBytes - 2, Shape{4}, DType::u8}, &host);
     }},
    {"copy_to_host_memory_as_device_memory", "not all device memory",
     [](Bench& b) {
       float host[2] = {};
       b.session.staging().upload({&host[0], Shape{4}, DType::u8}, &host[1]);
     }},
    {"another_device", "no such device", [](Bench&) { cudaSetDevice(1); }},
    {"a_stream_twice_destroyed", "not a live stream",
     [](Bench&) {
       cudaStream_t stream = nullptr;
       cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
       cudaStreamDestroy(stream);
       cudaStreamDestroy(stream);
     }},
    {"launch_on_no_stream", "not a live stream",
     [](Bench&) { cuda::submit(nullptr, 1, Nothing{}); }},
    {"launch_of_too_many_blocks", "2147483648 blocks",
     [](Bench& b) { cuda::submit(b.session.stream(), std::int64_t{1} << 31, Nothing{}); }},
    {"gemm_without_workspace", "no workspace was set",
     [](Bench& b) { b.gemm(b.at(256), 4, b.at(512)); }},
    {"gemm_with_a_short_leading_dimension", "a leading dimension",
     [](Bench& b) {
       b.session.use_blas_workspace(b.at(4096), 4096);
       b.gemm(b.at(256), 3, b.at(512));
     }},
    {"gemm_beyond_the_block", "not all device memory",
     [](Bench& b) {
       b.session.use_blas_workspace(b.at(4096), 4096);
       b.gemm(b.at(kBytes - 32), 4, b.at(512));
     }},
    {"blas_workspace_misaligned", "not a multiple of 256",
     [](Bench& b) { b.session.use_blas_workspace(b.at(128), 4096); }},
    {"blas_stream_set_late", "no workspace was set",
     [](Bench& b) {
       b.session.use_blas_workspace(b.at(4096), 4096);
       cublasSetStream_v2(b.session.blas(), b.session.stream());
       b.gemm(b.at(256), 4, b.at(512));
     }},
    {"batch_norm_with_a_descriptor_never_set", "was never set",
     [](Bench& b) { Norm().forward(b, 1024, nullptr); }},
    {"batch_norm_with_half_of_the_running_statistics", "pointers",
     [](Bench& b) {
       Norm norm;
       norm.derive();
       norm.forward(b, 1024, b.at(8192));
     }},
    {"batch_norm_over_half_its_input", "pointers",
     [](Bench& b) {
       Norm norm;
       norm.derive();
       norm.forward(b, 64, nullptr);
     }},
    {"tensor_without_elements", "less than one",
     [](Bench&) {
       Norm norm;
       cudnnSetTensor4dDescriptor(norm.data, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 0, 3, 8, 1);
     }},
    {"attribute_of_another_descriptor", "not emulated",
     [](Bench&) {
       const std::int64_t value = 1;
       cudnnBackendSetAttribute(make_tensor().get(), CUDNN_ATTR_ENGINE_GLOBAL_INDEX,
                                CUDNN_TYPE_INT64, 1, &value);
     }},
    {"attribute_of_another_count", "2 elements",
     [](Bench&) { set_alignment(make_tensor().get(), 2); }},
    {"descriptor_that_lacks_an_attribute", "lacks attribute",
     [](Bench&) {
       const BackendDesc tensor = make_tensor();
       set_alignment(tensor.get(), 1);
       cudnnBackendFinalize(tensor.get());
     }},
    {"answer_of_an_unfinished_descriptor", "not finalized",
     [](Bench&) {
       std::int64_t value = 0, count = 0;
       cudnnBackendGetAttribute(make_tensor().get(), CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
                                CUDNN_TYPE_INT64, 1, &count, &value);
     }},
    {"descriptor_of_an_unknown_type", "type 29",
     [](Bench&) {
       cudnnBackendDescriptor_t desc = nullptr;
       cudnnBackendCreateDescriptor(static_cast<cudnnBackendDescriptorType_t>(29), &desc);
     }},
    {"a_real_engine", "engine 5 is not one", [](Bench& b) { Convolver(b, {.id = 5}); }},
    {"a_knob_that_the_engine_has_not", "knob",
     [](Bench& b) {
       Convolver(b, {.id = kHungry, .knobs = {{CUDNN_KNOB_TYPE_SPLIT_K, 1}}});
     }},
    {"properties_of_another_device", "another device's properties",
     [](Bench&) { cudnn::Target(cuda::linked_cudnn(), R"({"deviceName": "NVIDIA H200"})"); }},
    {"convolution_of_a_misaligned_tensor", "not a multiple of 256",
     [](Bench& b) { Convolver(b).run(128, 4096, 8192, b.at(65536)); }},
    {"convolution_without_its_workspace", "not all device memory",
     [](Bench& b) { Convolver(b).run(0, 4096, 8192, nullptr); }},
    {"convolution_with_too_little_workspace", "not all device memory",
     [](Bench& b) { Convolver(b).run(0, 4096, 8192, b.at(kBytes - 256)); }},
    {"convolution_over_its_input", "lies over something else",
     [](Bench& b) { Convolver(b).run(0, 4096, 256, b.at(65536)); }},
    {"convolution_with_its_filter_in_the_workspace", "lies over something else",
     [](Bench& b) { Convolver(b).run(0, 65536, 8192, b.at(65536)); }},
    {"convolution_on_another_handle", "not made with this handle",
     [](Bench& b) {
       const cuda::Session other(0, false);
       const cudnn::CudnnApi api = cuda::linked_cudnn();
       const cudnn::Plan plan(cudnn::Target(api, b.session.dnn()), small_key(), {.id = kFrugal});
       plan.execute(other.dnn(), b.at(0), b.at(4096), b.at(8192), nullptr);
     }},
};

/// Addresses and two pieces of memory, through the driver's functions.
struct Mapping {
  Mapping() {
    address = memory.reserve(4 * kGranularity);
    EXPECT_TRUE(memory.create(&piece, kGranularity));
    memory.map(address, kGranularity, piece);
  }
  ~Mapping() {
    memory.unmap(address, kGranularity);
    memory.release(piece);
    memory.free(address, 4 * kGranularity);
  }
  cuda::MemoryMapping memory{0, kGranularity};
  CUdeviceptr address = 0;
  CUmemGenericAllocationHandle piece = 0;
};

const Case kMappingCases[] = {
    {"two_pieces_at_one_address", "something is mapped there",
     [](Bench&) {
       const Mapping m;
       m.memory.map(m.address, kGranularity, m.piece);
     }},
    {"half_a_piece_taken_away", "not one mapping",
     [](Bench&) {
       const Mapping m;
       m.memory.unmap(m.address, kGranularity / 2);
     }},
    {"a_piece_of_no_whole_granule", "cuMemCreate",
     [](Bench&) {
       CUmemGenericAllocationHandle piece = 0;
       EXPECT_FALSE(Mapping().memory.create(&piece, 4096));
     }},
    {"addresses_freed_under_a_mapping", "something is mapped",
     [](Bench&) {
       const Mapping m;
       m.memory.free(m.address, 4 * kGranularity);
     }},
    {"a_piece_beyond_the_addresses", "cuMemMap",
     [](Bench&) {
       const Mapping m;
       m.memory.map(m.address + 4 * kGranularity, kGranularity, m.piece);
     }},
};

class IllegalCalls : public ::testing::TestWithParam<Case> {};

TEST_P(IllegalCalls, AreCaught) { expect_caught(GetParam()); }

INSTANTIATE_TEST_SUITE_P(, IllegalCalls, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Mapping, IllegalCalls, ::testing::ValuesIn(kMappingCases),
                         [](const auto& info) { return info.param.name; });

/// The same bench, used as it should be: nothing of the above is caught by accident.
TEST(LegalCalls, AreNotCaught) {
  machine().reset();
  {
    Bench b;
    b.session.use_blas_workspace(b.at(4096), 4096);
    EXPECT_EQ(b.gemm(b.at(256), 4, b.at(512)), CUBLAS_STATUS_SUCCESS);
    Norm norm;
    norm.derive();
    EXPECT_EQ(norm.forward(b, 1024, nullptr), CUDNN_STATUS_SUCCESS);
    Convolver(b).run(0, 16384, 32768, b.at(65536));
    cuda::submit(b.session.stream(), 1, Nothing{});
  }
  EXPECT_EQ(machine().take_violations(), std::vector<std::string>{});
  EXPECT_EQ(machine().leaks(), std::vector<std::string>{});
}

#if defined(__SANITIZE_ADDRESS__)
TEST(IllegalCallsDeathTest, TheHostMayNotTouchDeviceMemory) {
  machine().reset();
  const Bench bench;
  EXPECT_DEATH(*static_cast<volatile float*>(bench.at(64)) = 1, "use-after-poison");
}
#endif

}  // namespace
}  // namespace emulated_cuda
