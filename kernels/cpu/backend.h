// The CPU backend. Results don't depend on the number of threads, bit for bit; nothing allocates
// heap memory once the threads exist, that is after the first call of each backend object's thread
// count.
#pragma once

#include "kernels/bodies/pointwise_backend.h"
#include "kernels/cpu/executor.h"

namespace arenagrad {

extern template class PointwiseBackend<cpu::Executor>;

class CpuBackend final : public PointwiseBackend<cpu::Executor> {
 public:
  /// `threads` of at least 1.
  explicit CpuBackend(int threads);

  std::string_view name() const override { return "cpu"; }
  void copy_from_host(Tensor to, const void* from) override;
  void copy_to_host(void* to, ConstTensor from) override;

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
};

}  // namespace arenagrad
