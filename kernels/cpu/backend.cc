#include "kernels/cpu/backend.h"

#include <cstring>

#include "kernels/cpu/batch_norm.h"
#include "kernels/cpu/convolution.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/linear.h"

namespace arenagrad {

CpuBackend::CpuBackend(int threads) : PointwiseBackend(cpu::Executor(threads)) {
  check_contract(threads >= 1, "a CPU backend needs at least one thread");
  cpu::prepare_gemm();
}

void CpuBackend::copy_from_host(Tensor to, const void* from) {
  std::memcpy(to.data, from, to.bytes());
}

void CpuBackend::copy_to_host(void* to, ConstTensor from) {
  std::memcpy(to, from.data, from.bytes());
}

void CpuBackend::conv_forward(const ConvProblem& problem, std::int64_t engine, ConstTensor x,
                              ConstTensor w, ConstTensor bias, Tensor y, Workspace workspace) {
  cpu::conv_forward(problem, engine, x, w, bias, y, workspace, exec().threads());
}

void CpuBackend::conv_backward_data(const ConvProblem& problem, std::int64_t engine, ConstTensor dy,
                                    ConstTensor w, Tensor dx, Write write, Workspace workspace) {
  cpu::conv_backward_data(problem, engine, dy, w, dx, write, workspace, exec().threads());
}

void CpuBackend::conv_backward_filter(const ConvProblem& problem, std::int64_t engine,
                                      ConstTensor x, ConstTensor dy, Tensor dw, Write write,
                                      Workspace workspace) {
  cpu::conv_backward_filter(problem, engine, x, dy, dw, write, workspace, exec().threads());
}

void CpuBackend::bias_gradient(ConstTensor dy, Tensor db, Write write) {
  cpu::bias_gradient(dy, db, write, exec().threads());
}

void CpuBackend::linear_forward(const LinearProblem& problem, ConstTensor x, ConstTensor w,
                                ConstTensor bias, Tensor y, Workspace workspace) {
  cpu::linear_forward(problem, x, w, bias, y, workspace, exec().threads());
}

void CpuBackend::linear_backward_data(const LinearProblem& problem, ConstTensor dy, ConstTensor w,
                                      Tensor dx, Write write, Workspace workspace) {
  cpu::linear_backward_data(problem, dy, w, dx, write, workspace, exec().threads());
}

void CpuBackend::linear_backward_weight(const LinearProblem& problem, ConstTensor x, ConstTensor dy,
                                        Tensor dw, Write write, Workspace workspace) {
  cpu::linear_backward_weight(problem, x, dy, dw, write, workspace, exec().threads());
}

void CpuBackend::batch_norm_train(const BatchNormProblem& problem, ConstTensor x,
                                  ConstTensor weight, ConstTensor bias, Tensor running_mean,
                                  Tensor running_var, Tensor mean, Tensor inverse_std, Tensor y,
                                  Workspace workspace) {
  cpu::batch_norm_train(problem, x, weight, bias, running_mean, running_var, mean, inverse_std, y,
                        workspace, exec().threads());
}

void CpuBackend::batch_norm_eval(const BatchNormProblem& problem, ConstTensor x, ConstTensor weight,
                                 ConstTensor bias, ConstTensor running_mean,
                                 ConstTensor running_var, Tensor y, Workspace workspace) {
  cpu::batch_norm_eval(problem, x, weight, bias, running_mean, running_var, y, workspace,
                       exec().threads());
}

void CpuBackend::batch_norm_train_backward(const BatchNormProblem& problem, ConstTensor x,
                                           ConstTensor dy, ConstTensor weight, ConstTensor mean,
                                           ConstTensor inverse_std, Tensor dx, Write dx_write,
                                           Tensor dweight, Tensor dbias, Write parameter_write,
                                           Workspace workspace) {
  cpu::batch_norm_train_backward(problem, x, dy, weight, mean, inverse_std, dx, dx_write, dweight,
                                 dbias, parameter_write, workspace, exec().threads());
}

void CpuBackend::batch_norm_eval_backward(const BatchNormProblem& problem, ConstTensor x,
                                          ConstTensor dy, ConstTensor weight,
                                          ConstTensor running_mean, ConstTensor running_var,
                                          Tensor dx, Write dx_write, Tensor dweight, Tensor dbias,
                                          Write parameter_write, Workspace workspace) {
  cpu::batch_norm_eval_backward(problem, x, dy, weight, running_mean, running_var, dx, dx_write,
                                dweight, dbias, parameter_write, workspace, exec().threads());
}

}  // namespace arenagrad
