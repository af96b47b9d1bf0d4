// What the emulated GPU makes of work that is queued: copies to and from pinned memory, and blocks
// of a memory pool.
#include <cstring>

#include "tests/emulated_cuda/bench.h"

namespace emulated_cuda {
namespace {

using namespace arenagrad;

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
       b.session.staging().upload({p.block, Shape{1}, DType::f32}, &host);
     }},
    {"a_pool_block_used_beyond_its_end", "not all device memory",
     [](Bench& b) {
       const Pool p(b);
       const float host[300] = {};
       b.session.staging().upload({p.block, Shape{300}, DType::f32}, host);
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

class IllegalPoolCalls : public ::testing::TestWithParam<Case> {};

TEST_P(IllegalPoolCalls, AreCaught) { expect_caught(GetParam()); }

INSTANTIATE_TEST_SUITE_P(, IllegalPoolCalls, ::testing::ValuesIn(kPoolCases),
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
    session.staging().upload({block, Shape{64}, DType::f32}, host);
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

}  // namespace
}  // namespace emulated_cuda
