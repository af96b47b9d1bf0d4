// The emulated GPU catches each kind of illegal call: it fails as the real one would, and the
// violation is written down.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "kernels/cuda/convolutions.h"
#include "kernels/cuda/memory_mapping.h"
#include "kernels/cuda/session.h"
#include "tests/emulated_cuda/dnn_descriptor.h"
#include "tests/emulated_cuda/machine.h"
#include "tests/emulated_cuda/submit.h"

namespace emulated_cuda {
namespace {

using namespace arenagrad;

constexpr std::size_t kBytes = std::size_t{1} << 20;

/// A session, and memory to be misused.
struct Bench {
  Bench() : session(0, false) {
    cuda::check(cudaMalloc(&block, kBytes), "cudaMalloc");
    memory = cuda::Owned<void*, cudaFree>(block);
  }
  float* at(std::size_t byte) const { return reinterpret_cast<float*>(bytes() + byte); }
  std::byte* bytes() const { return static_cast<std::byte*>(block); }
  cublasStatus_t gemm(const float* a, std::int64_t lda, float* c) const {
    const float one = 1, zero = 0;
    return cublasSgemm_v2_64(session.blas(), CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, a, lda, at(0),
                             4, &zero, c, 4);
  }

  cuda::Session session;
  void* block = nullptr;
  cuda::Owned<void*, cudaFree> memory;
};

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

struct Case {
  const char* name;
  const char* violation;  // part of it
  std::function<void(Bench&)> act;
};

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

/// A pool with one block of it.
struct Pool {
  explicit Pool(Bench& b) : bench(b) {
    cudaMemPoolProps props{};
    props.allocType = cudaMemAllocationTypePinned;
    props.location = {.type = cudaMemLocationTypeDevice, .id = 0};
    EXPECT_EQ(cudaMemPoolCreate(&pool, &props), cudaSuccess);
    std::uint64_t keep = ~std::uint64_t{0};
    EXPECT_EQ(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), cudaSuccess);
    block = allocate(1024);
  }
  ~Pool() {
    if (!freed) cudaFreeAsync(block, stream());
    cudaMemPoolDestroy(pool);
  }
  cudaStream_t stream() const { return bench.session.stream(); }
  void* allocate(std::size_t bytes) const {
    void* memory = nullptr;
    EXPECT_EQ(cudaMallocFromPoolAsync(&memory, bytes, pool, stream()), cudaSuccess);
    return memory;
  }
  void free() {
    freed = true;
    cudaFreeAsync(block, stream());
  }
  Bench& bench;
  cudaMemPool_t pool = nullptr;
  void* block = nullptr;
  bool freed = false;
};

const Case kPoolCases[] = {
    {"a_pool_block_used_after_its_free", "not all device memory",
     [](Bench& b) {
       Pool p(b);
       p.free();
       const float host = 0;
       b.session.staging().upload(p.block, &host, 4);
     }},
    {"a_pool_block_used_beyond_its_end", "not all device memory",
     [](Bench& b) {
       const Pool p(b);
       const float host[300] = {};
       b.session.staging().upload(p.block, host, sizeof host);
     }},
    {"a_pool_block_twice_freed", "freed already",
     [](Bench& b) {
       Pool p(b);
       p.free();
       p.free();
     }},
    {"a_block_of_no_pool", "not a block of a pool",
     [](Bench& b) { cudaFreeAsync(b.block, b.session.stream()); }},
    {"a_pool_block_freed_as_another", "cudaFree: not a block",
     [](Bench& b) {
       const Pool p(b);
       cudaFree(p.block);
     }},
    {"a_pool_block_freed_on_another_stream", "not the stream of its allocation",
     [](Bench& b) {
       const Pool p(b);
       const cuda::Session other(0, false);
       cudaFreeAsync(p.block, other.stream());
     }},
    {"a_pool_block_of_nothing", "of no bytes",
     [](Bench& b) {
       const Pool p(b);
       void* memory = nullptr;
       cudaMallocFromPoolAsync(&memory, 0, p.pool, p.stream());
     }},
    {"a_pool_that_gives_memory_back", "a release threshold",
     [](Bench& b) {
       cudaMemPoolProps props{};
       props.allocType = cudaMemAllocationTypePinned;
       props.location = {.type = cudaMemLocationTypeDevice, .id = 0};
       cudaMemPool_t pool = nullptr;
       cudaMemPoolCreate(&pool, &props);
       void* memory = nullptr;
       cudaMallocFromPoolAsync(&memory, 4, pool, b.session.stream());
       cudaMemPoolDestroy(pool);
     }},
    {"a_pool_of_another_device", "cudaMemPoolCreate: properties",
     [](Bench&) {
       cudaMemPoolProps props{};
       props.allocType = cudaMemAllocationTypePinned;
       props.location = {.type = cudaMemLocationTypeDevice, .id = 1};
       cudaMemPool_t pool = nullptr;
       cudaMemPoolCreate(&pool, &props);
     }},
    {"a_pool_destroyed_under_its_block", "something of it was not freed",
     [](Bench& b) {
       Pool p(b);
       cudaMemPoolDestroy(p.pool);
       p.free();
     }},
};

class IllegalCalls : public ::testing::TestWithParam<Case> {};

TEST_P(IllegalCalls, AreCaught) {
  machine().reset();
  {
    Bench bench;
    try {
      GetParam().act(bench);
    } catch (const arenagrad::DeviceError&) {
      // The wrappers tell what the raw calls return.
    }
    const auto violations = machine().take_violations();
    ASSERT_FALSE(violations.empty());
    EXPECT_NE(violations[0].find(GetParam().violation), std::string::npos) << violations[0];
    EXPECT_EQ(violations[0].rfind("emulated: ", 0), 0u);
  }
  EXPECT_EQ(machine().leaks(), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(, IllegalCalls, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Pool, IllegalCalls, ::testing::ValuesIn(kPoolCases),
                         [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Mapping, IllegalCalls, ::testing::ValuesIn(kMappingCases),
                         [](const auto& info) { return info.param.name; });

/// A copy that is queued reads its pinned memory when it runs, not when it is asked for.
TEST(QueuedCopies, NeedTheirPinnedMemory) {
  machine().reset({.deferred = true});
  {
    const Bench bench;
    void* host = nullptr;
    ASSERT_EQ(cudaMallocHost(&host, 256), cudaSuccess);
    ASSERT_EQ(
        cudaMemcpyAsync(bench.at(0), host, 256, cudaMemcpyHostToDevice, bench.session.stream()),
        cudaSuccess);
    EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
    EXPECT_EQ(machine().take_violations(),
              std::vector<std::string>{"emulated: cudaFreeHost: a queued copy still uses it"});

    ASSERT_EQ(cudaMallocHost(&host, 256), cudaSuccess);
    ASSERT_EQ(
        cudaMemcpyAsync(host, bench.at(0), 256, cudaMemcpyDeviceToHost, bench.session.stream()),
        cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(bench.session.stream()), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
    EXPECT_EQ(machine().take_violations(), std::vector<std::string>{});
  }
  EXPECT_EQ(machine().leaks(), std::vector<std::string>{});
}

/// As when a run is given up right after its input was handed over.
TEST(QueuedCopies, AreWaitedForWhenASessionEnds) {
  machine().reset({.deferred = true});
  void* block = nullptr;
  ASSERT_EQ(cudaMalloc(&block, kBytes), cudaSuccess);
  {
    const float host[64] = {};
    cuda::Session session(0, false);
    session.staging().upload(block, host, sizeof host);
  }
  EXPECT_EQ(machine().take_violations(), std::vector<std::string>{});
  EXPECT_EQ(cudaFree(block), cudaSuccess);
  EXPECT_EQ(machine().leaks(), std::vector<std::string>{});
}

/// Late queues: what was queued before a free still has the block, what comes after it finds the
/// pattern, though the block was handed out again in between.
TEST(PoolBlocks, AreFreedInTheOrderOfTheStream) {
  machine().reset({.deferred = true});
  {
    Bench bench;
    Pool p(bench);
    void* host = nullptr;
    ASSERT_EQ(cudaMallocHost(&host, 1024), cudaSuccess);
    auto* bytes = static_cast<unsigned char*>(host);
    std::memset(bytes, 7, 512);
    cudaMemcpyAsync(p.block, bytes, 256, cudaMemcpyHostToDevice, p.stream());
    cudaMemcpyAsync(bytes + 512, p.block, 256, cudaMemcpyDeviceToHost, p.stream());
    p.free();
    void* again = p.allocate(1024);
    EXPECT_EQ(again, p.block);
    cudaMemcpyAsync(bytes + 768, again, 256, cudaMemcpyDeviceToHost, p.stream());
    ASSERT_EQ(cudaStreamSynchronize(p.stream()), cudaSuccess);
    EXPECT_EQ(bytes[512], 7);
    EXPECT_EQ(bytes[768], 0xFF);
    std::uint64_t used = 0;
    EXPECT_EQ(cudaMemPoolGetAttribute(p.pool, cudaMemPoolAttrUsedMemHigh, &used), cudaSuccess);
    EXPECT_EQ(used, 1024u);
    cudaFreeAsync(again, p.stream());
    cudaFreeHost(host);
  }
  EXPECT_EQ(machine().take_violations(), std::vector<std::string>{});
  EXPECT_EQ(machine().leaks(), std::vector<std::string>{});
}

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
