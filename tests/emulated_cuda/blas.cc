// cuBLAS: products of matrices, naively in double.
#include <cublas_v2.h>

#include "tests/emulated_cuda/dense.h"
#include "tests/emulated_cuda/machine.h"

using emulated_cuda::Kind;
using emulated_cuda::machine;

struct cublasContext {
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

namespace {

constexpr std::size_t kWorkspaceAlignment = 256;

cublasStatus_t illegal(const std::string& text) {
  machine().violation(text);
  return CUBLAS_STATUS_INVALID_VALUE;
}

bool expect_handle(cublasHandle_t handle, const char* call) {
  return machine().expect(Kind::blas_handle, handle, call);
}

/// A column-major matrix of rows x columns, or its transpose as it is stored.
struct Matrix {
  bool transposed;
  std::int64_t rows, columns, leading;
  std::int64_t stored_rows() const { return transposed ? columns : rows; }
  std::int64_t stored_columns() const { return transposed ? rows : columns; }
  std::int64_t at(std::int64_t row, std::int64_t column) const {
    return transposed ? column + row * leading : row + column * leading;
  }
  std::size_t elements() const {
    return static_cast<std::size_t>((stored_columns() - 1) * leading + stored_rows());
  }
};

template <class T>
cublasStatus_t gemm(const char* call, cublasHandle_t handle, cublasOperation_t op_a,
                    cublasOperation_t op_b, std::int64_t m, std::int64_t n, std::int64_t k,
                    const T* alpha, const T* a, std::int64_t lda, const T* b, std::int64_t ldb,
                    const T* beta, T* c, std::int64_t ldc) {
  if (machine().enter(call)) return CUBLAS_STATUS_EXECUTION_FAILED;
  const std::string name = call;
  if (!expect_handle(handle, call)) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto known = [](cublasOperation_t op) { return op == CUBLAS_OP_N || op == CUBLAS_OP_T; };
  if (!known(op_a) || !known(op_b)) return illegal(name + ": an operation that is not emulated");
  if (m <= 0 || n <= 0 || k <= 0) return illegal(name + ": a matrix without elements");
  const Matrix first{op_a == CUBLAS_OP_T, m, k, lda}, second{op_b == CUBLAS_OP_T, k, n, ldb},
      out{false, m, n, ldc};
  for (const Matrix& matrix : {first, second, out})
    if (matrix.leading < matrix.stored_rows()) return illegal(name + ": a leading dimension");
  if (handle->stream == nullptr) return illegal(name + ": no stream was set");
  if (handle->workspace == nullptr) return illegal(name + ": no workspace was set");
  const std::size_t bytes = sizeof(T);
  if (!machine().expect_memory(a, first.elements() * bytes, bytes, call) ||
      !machine().expect_memory(b, second.elements() * bytes, bytes, call) ||
      !machine().expect_memory(c, out.elements() * bytes, bytes, call) ||
      !machine().expect_memory(handle->workspace, handle->workspace_bytes, kWorkspaceAlignment,
                               call))
    return CUBLAS_STATUS_INVALID_VALUE;
  const double scale = *alpha, keep = *beta;
  void* const workspace = handle->workspace;
  const std::size_t workspace_bytes = handle->workspace_bytes;
  machine().enqueue(handle->stream, [=] {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l)
          sum += static_cast<double>(a[first.at(i, l)]) * static_cast<double>(b[second.at(l, j)]);
        emulated_cuda::blend(c + out.at(i, j), scale * sum, keep);
      }
    machine().fill(workspace, workspace_bytes);
  });
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    default: return "a cuBLAS status";
  }
}
const char* cublasGetStatusString(cublasStatus_t) { return "emulated"; }

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (machine().enter(__func__)) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = new cublasContext;
  machine().born(Kind::blas_handle, *handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  const bool fails = machine().enter(__func__);
  if (!expect_handle(handle, __func__)) return CUBLAS_STATUS_NOT_INITIALIZED;
  machine().run_all();
  machine().died(Kind::blas_handle, handle);
  delete handle;
  return fails ? CUBLAS_STATUS_INTERNAL_ERROR : CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  if (machine().enter(__func__)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!expect_handle(handle, __func__) || !machine().expect(Kind::stream, stream, __func__))
    return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = {.stream = stream};  // back to cuBLAS's own workspace, as the real one
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  if (machine().enter(__func__)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!expect_handle(handle, __func__)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (mode == CUBLAS_PEDANTIC_MATH || mode == CUBLAS_TF32_TENSOR_OP_MATH)
    return CUBLAS_STATUS_SUCCESS;
  return illegal("cublasSetMathMode: a mode that is not emulated");
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes) {
  if (machine().enter(__func__)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!expect_handle(handle, __func__)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!machine().expect_memory(workspace, bytes, kWorkspaceAlignment, __func__))
    return CUBLAS_STATUS_INVALID_VALUE;
  handle->workspace = workspace;
  handle->workspace_bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemm_v2_64(cublasHandle_t handle, cublasOperation_t op_a,
                                 cublasOperation_t op_b, int64_t m, int64_t n, int64_t k,
                                 const float* alpha, const float* a, int64_t lda, const float* b,
                                 int64_t ldb, const float* beta, float* c, int64_t ldc) {
  return gemm(__func__, handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
cublasStatus_t cublasDgemm_v2_64(cublasHandle_t handle, cublasOperation_t op_a,
                                 cublasOperation_t op_b, int64_t m, int64_t n, int64_t k,
                                 const double* alpha, const double* a, int64_t lda, const double* b,
                                 int64_t ldb, const double* beta, double* c, int64_t ldc) {
  return gemm(__func__, handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

}  // extern "C"
