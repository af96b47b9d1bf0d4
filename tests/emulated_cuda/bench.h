// What tests of the emulated GPU itself work on.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "kernels/cuda/session.h"
#include "tests/emulated_cuda/machine.h"

namespace emulated_cuda {

inline constexpr std::size_t kBytes = std::size_t{1} << 20;

/// A session, and memory to be misused.
struct Bench {
  Bench() : session(0, false) {
    arenagrad::cuda::check(cudaMalloc(&block, kBytes), "cudaMalloc");
    memory = arenagrad::cuda::Owned<void*, cudaFree>(block);
  }
  float* at(std::size_t byte) const { return reinterpret_cast<float*>(bytes() + byte); }
  std::byte* bytes() const { return static_cast<std::byte*>(block); }
  cublasStatus_t gemm(const float* a, std::int64_t lda, float* c) const {
    const float one = 1, zero = 0;
    return cublasSgemm_v2_64(session.blas(), CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, a, lda, at(0),
                             4, &zero, c, 4);
  }

  arenagrad::cuda::Session session;
  void* block = nullptr;
  arenagrad::cuda::Owned<void*, cudaFree> memory;
};

struct Case {
  const char* name;
  const char* violation;  // part of it
  std::function<void(Bench&)> act;
};

/// The call fails as the real one would, the violation is written down, and nothing is left alive.
inline void expect_caught(const Case& test) {
  machine().reset();
  {
    Bench bench;
    try {
      test.act(bench);
    } catch (const arenagrad::DeviceError&) {
      // The wrappers tell what the raw calls return.
    }
    const auto violations = machine().take_violations();
    ASSERT_FALSE(violations.empty());
    EXPECT_NE(violations[0].find(test.violation), std::string::npos) << violations[0];
    EXPECT_EQ(violations[0].rfind("emulated: ", 0), 0u);
  }
  EXPECT_EQ(machine().leaks(), std::vector<std::string>{});
}

}  // namespace emulated_cuda
