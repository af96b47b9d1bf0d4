#include "kernels/cuda/linear.h"

#include "kernels/bodies/dispatch.h"
#include "kernels/cuda/error.h"

namespace arenagrad::cuda {
namespace {

/// One factor of a product as cuBLAS sees our row-major data: its rows are columns there.
struct Factor {
  cublasOperation_t operation;
  const void* data;
  std::int64_t leading;  // elements of one of our rows
};

/// out [n, m] of ours (=|+=) b [n, k] a [k, m]: cuBLAS computes the transposed product.
void multiply(cublasHandle_t blas, DType dtype, std::int64_t m, std::int64_t n, std::int64_t k,
              const Factor& a, const Factor& b, void* out, Write write) {
  bodies::with_float(dtype, [&]<class T>() {
    const T one = 1, beta = write == Write::accumulate ? 1 : 0;
    const auto* first = static_cast<const T*>(a.data);
    const auto* second = static_cast<const T*>(b.data);
    if constexpr (sizeof(T) == 4)
      ARENAGRAD_CHECK(cublasSgemm_v2_64(blas, a.operation, b.operation, m, n, k, &one, first,
                                        a.leading, second, b.leading, &beta, static_cast<T*>(out),
                                        m));
    else
      ARENAGRAD_CHECK(cublasDgemm_v2_64(blas, a.operation, b.operation, m, n, k, &one, first,
                                        a.leading, second, b.leading, &beta, static_cast<T*>(out),
                                        m));
  });
}

}  // namespace

void linear_forward(cublasHandle_t blas, const LinearProblem& p, ConstTensor x, ConstTensor w,
                    Tensor y) {
  multiply(blas, p.dtype, p.out_features, p.batch, p.in_features,
           {CUBLAS_OP_T, w.data, p.in_features}, {CUBLAS_OP_N, x.data, p.in_features}, y.data,
           Write::overwrite);
}

void linear_backward_data(cublasHandle_t blas, const LinearProblem& p, ConstTensor dy,
                          ConstTensor w, Tensor dx, Write write) {
  multiply(blas, p.dtype, p.in_features, p.batch, p.out_features,
           {CUBLAS_OP_N, w.data, p.in_features}, {CUBLAS_OP_N, dy.data, p.out_features}, dx.data,
           write);
}

void linear_backward_weight(cublasHandle_t blas, const LinearProblem& p, ConstTensor x,
                            ConstTensor dy, Tensor dw, Write write) {
  multiply(blas, p.dtype, p.in_features, p.out_features, p.batch,
           {CUBLAS_OP_N, x.data, p.in_features}, {CUBLAS_OP_T, dy.data, p.out_features}, dw.data,
           write);
}

}  // namespace arenagrad::cuda
