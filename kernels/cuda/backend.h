// The GPU backend: cuDNN for convolution and batch norm, cuBLAS for linear, the shared bodies for
// the rest. Everything runs on one stream in the order of the calls; a call returns when its work
// is queued, save for copies to the host and `finish`. Allocates device memory in its constructor
// alone (what the libraries take for themselves), never afterwards.
//
// Needs none of CUDA's headers.
#pragma once

#include <memory>
#include <span>

#include "kernels/bodies/pointwise_backend.h"
#include "kernels/cuda/executor.h"
#include "kernels/cudnn/convolution.h"

namespace arenagrad {

namespace cuda {
class Session;
class Convolutions;
}  // namespace cuda

extern template class PointwiseBackend<cuda::Executor>;

struct CudaOptions {
  int device = 0;           // the GPU's number
  bool allow_tf32 = false;  // of cuBLAS; an engine of cuDNN has its own precision
};

class CudaBackend final : public PointwiseBackend<cuda::Executor> {
 public:
  /// Builds every engine of the table for the GPU, and throws DeviceError when one can't be, or
  /// when its workspace is not the planned one.
  CudaBackend(const CudaOptions& options, std::span<const cudnn::PinnedEngines> engines);
  ~CudaBackend() override;

  std::string_view name() const override { return "cuda"; }
  /// On which everything runs.
  CUstream_st* stream() const { return exec().stream(); }
  /// Memory of cuBLAS. Until it was called, cuBLAS takes memory of its own.
  void use_library(Workspace workspace) override;
  void enter(std::string_view phase) override;
  void leave() override;
  void finish() override;

  void copy_from_host(Tensor to, const void* from) override;
  void copy_to_host(void* to, ConstTensor from) override;

  /// The engine is a place in the table.
  void conv_forward(const ConvProblem& problem, std::int64_t engine, ConstTensor x, ConstTensor w,
                    ConstTensor bias, Tensor y, Workspace workspace) override;
  void conv_backward_data(const ConvProblem& problem, std::int64_t engine, ConstTensor dy,
                          ConstTensor w, Tensor dx, Write write, Workspace workspace) override;
  void conv_backward_filter(const ConvProblem& problem, std::int64_t engine, ConstTensor x,
                            ConstTensor dy, Tensor dw, Write write, Workspace workspace) override;
  void bias_gradient(ConstTensor dy, Tensor db, Write write) override;
  void linear_forward(const LinearProblem& problem, ConstTensor x, ConstTensor w, ConstTensor bias,
                      Tensor y, Workspace workspace) override;
  void linear_backward_data(const LinearProblem& problem, ConstTensor dy, ConstTensor w, Tensor dx,
                            Write write, Workspace workspace) override;
  void linear_backward_weight(const LinearProblem& problem, ConstTensor x, ConstTensor dy,
                              Tensor dw, Write write, Workspace workspace) override;

  void batch_norm_train(const BatchNormProblem& problem, ConstTensor x, ConstTensor weight,
                        ConstTensor bias, Tensor running_mean, Tensor running_var, Tensor mean,
                        Tensor inverse_std, Tensor y, Workspace workspace) override;
  void batch_norm_eval(const BatchNormProblem& problem, ConstTensor x, ConstTensor weight,
                       ConstTensor bias, ConstTensor running_mean, ConstTensor running_var,
                       Tensor y, Workspace workspace) override;
  void batch_norm_train_backward(const BatchNormProblem& problem, ConstTensor x, ConstTensor dy,
                                 ConstTensor weight, ConstTensor mean, ConstTensor inverse_std,
                                 Tensor dx, Write dx_write, Tensor dweight, Tensor dbias,
                                 Write parameter_write, Workspace workspace) override;
  void batch_norm_eval_backward(const BatchNormProblem& problem, ConstTensor x, ConstTensor dy,
                                ConstTensor weight, ConstTensor running_mean,
                                ConstTensor running_var, Tensor dx, Write dx_write, Tensor dweight,
                                Tensor dbias, Write parameter_write, Workspace workspace) override;

 private:
  explicit CudaBackend(std::unique_ptr<cuda::Session> session);

  std::unique_ptr<cuda::Session> session_;
  std::unique_ptr<cuda::Convolutions> convolutions_;
};

}  // namespace arenagrad
