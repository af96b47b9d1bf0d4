#include "kernels/cuda/backend.h"

#include <nvtx3/nvToolsExt.h>

#include <string>

#include "kernels/cuda/batch_norm.h"
#include "kernels/cuda/channels.h"
#include "kernels/cuda/convolutions.h"
#include "kernels/cuda/linear.h"
#include "kernels/cuda/session.h"

namespace arenagrad {

CudaBackend::CudaBackend(std::unique_ptr<cuda::Session> session)
    : PointwiseBackend(cuda::Executor(session->stream())), session_(std::move(session)) {}

CudaBackend::CudaBackend(const CudaOptions& options, std::span<const cudnn::PinnedEngines> engines)
    : CudaBackend(std::make_unique<cuda::Session>(options.device, options.allow_tf32)) {
  convolutions_ = std::make_unique<cuda::Convolutions>(session_->dnn(), engines);
}

CudaBackend::~CudaBackend() = default;

void CudaBackend::use_library(Workspace workspace) {
  session_->use_blas_workspace(workspace.data, workspace.bytes);
}

void CudaBackend::enter(std::string_view phase) { nvtxRangePushA(std::string(phase).c_str()); }

void CudaBackend::leave() { nvtxRangePop(); }

void CudaBackend::finish() { ARENAGRAD_CHECK(cudaStreamSynchronize(session_->stream())); }

void CudaBackend::copy_from_host(Tensor to, const void* from) {
  session_->staging().upload(to, from);
}

void CudaBackend::copy_to_host(void* to, ConstTensor from) {
  session_->staging().download(to, from);
}

void CudaBackend::conv_forward(const ConvProblem& problem, std::int64_t engine, ConstTensor x,
                               ConstTensor w, ConstTensor bias, Tensor y, Workspace workspace) {
  convolutions_->run(problem, ConvPass::forward, engine, Write::overwrite, {x, w, y}, workspace);
  if (bias) cuda::add_bias(exec(), bias, y);
}

void CudaBackend::conv_backward_data(const ConvProblem& problem, std::int64_t engine,
                                     ConstTensor dy, ConstTensor w, Tensor dx, Write write,
                                     Workspace workspace) {
  convolutions_->run(problem, ConvPass::backward_data, engine, write, {dx, w, dy}, workspace);
}

void CudaBackend::conv_backward_filter(const ConvProblem& problem, std::int64_t engine,
                                       ConstTensor x, ConstTensor dy, Tensor dw, Write write,
                                       Workspace workspace) {
  convolutions_->run(problem, ConvPass::backward_filter, engine, write, {x, dw, dy}, workspace);
}

void CudaBackend::bias_gradient(ConstTensor dy, Tensor db, Write write) {
  cuda::channel_sum(exec(), dy, db, write);
}

void CudaBackend::linear_forward(const LinearProblem& problem, ConstTensor x, ConstTensor w,
                                 ConstTensor bias, Tensor y, Workspace) {
  cuda::linear_forward(session_->blas(), problem, x, w, y);
  if (bias) cuda::add_bias(exec(), bias, y);
}

void CudaBackend::linear_backward_data(const LinearProblem& problem, ConstTensor dy, ConstTensor w,
                                       Tensor dx, Write write, Workspace) {
  cuda::linear_backward_data(session_->blas(), problem, dy, w, dx, write);
}

void CudaBackend::linear_backward_weight(const LinearProblem& problem, ConstTensor x,
                                         ConstTensor dy, Tensor dw, Write write, Workspace) {
  cuda::linear_backward_weight(session_->blas(), problem, x, dy, dw, write);
}

void CudaBackend::batch_norm_train(const BatchNormProblem& problem, ConstTensor x,
                                   ConstTensor weight, ConstTensor bias, Tensor running_mean,
                                   Tensor running_var, Tensor mean, Tensor inverse_std, Tensor y,
                                   Workspace) {
  cuda::batch_norm_train(session_->dnn(), problem, x, weight, bias, running_mean, running_var, mean,
                         inverse_std, y);
}

void CudaBackend::batch_norm_eval(const BatchNormProblem& problem, ConstTensor x,
                                  ConstTensor weight, ConstTensor bias, ConstTensor running_mean,
                                  ConstTensor running_var, Tensor y, Workspace) {
  cuda::normalise(exec(), problem, x, {running_mean, running_var, true}, weight, bias, y);
}

void CudaBackend::batch_norm_train_backward(const BatchNormProblem& problem, ConstTensor x,
                                            ConstTensor dy, ConstTensor weight, ConstTensor mean,
                                            ConstTensor inverse_std, Tensor dx, Write dx_write,
                                            Tensor dweight, Tensor dbias, Write parameter_write,
                                            Workspace workspace) {
  if (dx) {
    cuda::batch_norm_train_backward(session_->dnn(), problem, x, dy, weight, mean, inverse_std, dx,
                                    dx_write, dweight, dbias, parameter_write, workspace);
    return;
  }
  // cuDNN writes dx whether it is wanted or not; the rest needs no library.
  if (dweight)
    cuda::channel_product(exec(), problem, x, dy, {mean, inverse_std, false}, dweight,
                          parameter_write);
  if (dbias) cuda::channel_sum(exec(), dy, dbias, parameter_write);
}

void CudaBackend::batch_norm_eval_backward(const BatchNormProblem& problem, ConstTensor x,
                                           ConstTensor dy, ConstTensor weight,
                                           ConstTensor running_mean, ConstTensor running_var,
                                           Tensor dx, Write dx_write, Tensor dweight, Tensor dbias,
                                           Write parameter_write, Workspace) {
  const cuda::Statistics statistics{running_mean, running_var, true};
  // dx may lie where dy does: last.
  if (dweight) cuda::channel_product(exec(), problem, x, dy, statistics, dweight, parameter_write);
  if (dbias) cuda::channel_sum(exec(), dy, dbias, parameter_write);
  if (dx) cuda::normalise_backward(exec(), problem, dy, statistics, weight, dx, dx_write);
}

}  // namespace arenagrad
