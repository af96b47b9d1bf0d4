// Lets tests that hold their tensors in host memory run on a GPU: every call's operands are copied
// to the GPU, each between red zones, and what it wrote is copied back. Checks on the way that
// nothing else was written.
#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

#include "kernels/backend.h"

namespace arenagrad::cuda_test {

class StagedBackend final : public Backend {
 public:
  /// A GPU's backend and memory of that GPU.
  struct OnGpu {
    Backend* backend;
    std::byte* memory;
    std::size_t bytes;
    Layout layout;  // of images on the GPU
  };
  /// `open` is asked at every call; what it answers lives through the call.
  explicit StagedBackend(std::function<OnGpu()> open) : open_(std::move(open)) {}

  std::string_view name() const override { return "staged"; }

  void copy_from_host(Tensor to, const void* from) override;
  void copy_to_host(void* to, ConstTensor from) override;
  void fill(Tensor t, double value) override;
  void increment(Tensor t) override;
  void add(ConstTensor from, Tensor to, Write write) override;
  void sum(ConstTensor a, ConstTensor b, Tensor out) override;
  void copy_into_slice(const SliceProblem& p, ConstTensor narrow, Tensor wide) override;
  void copy_from_slice(const SliceProblem& p, ConstTensor wide, Tensor narrow, Write) override;
  void normal(const RandomStream& stream, double scale, Tensor t) override;
  void uniform(const RandomStream& stream, double bound, Tensor t) override;
  void uniform_labels(const RandomStream& stream, std::int64_t classes, Tensor t) override;

  void conv_forward(const ConvProblem& p, std::int64_t engine, ConstTensor x, ConstTensor w,
                    ConstTensor bias, Tensor y, Workspace workspace) override;
  void conv_backward_data(const ConvProblem& p, std::int64_t engine, ConstTensor dy, ConstTensor w,
                          Tensor dx, Write write, Workspace workspace) override;
  void conv_backward_filter(const ConvProblem& p, std::int64_t engine, ConstTensor x,
                            ConstTensor dy, Tensor dw, Write write, Workspace workspace) override;
  void bias_gradient(ConstTensor dy, Tensor db, Write write) override;
  void linear_forward(const LinearProblem& p, ConstTensor x, ConstTensor w, ConstTensor bias,
                      Tensor y, Workspace workspace) override;
  void linear_backward_data(const LinearProblem& p, ConstTensor dy, ConstTensor w, Tensor dx,
                            Write write, Workspace workspace) override;
  void linear_backward_weight(const LinearProblem& p, ConstTensor x, ConstTensor dy, Tensor dw,
                              Write write, Workspace workspace) override;

  void batch_norm_train(const BatchNormProblem& p, ConstTensor x, ConstTensor weight,
                        ConstTensor bias, Tensor running_mean, Tensor running_var, Tensor mean,
                        Tensor inverse_std, Tensor y, Workspace workspace) override;
  void batch_norm_eval(const BatchNormProblem& p, ConstTensor x, ConstTensor weight,
                       ConstTensor bias, ConstTensor running_mean, ConstTensor running_var,
                       Tensor y, Workspace workspace) override;
  void batch_norm_train_backward(const BatchNormProblem& p, ConstTensor x, ConstTensor dy,
                                 ConstTensor weight, ConstTensor mean, ConstTensor inverse_std,
                                 Tensor dx, Write dx_write, Tensor dweight, Tensor dbias,
                                 Write parameter_write, Workspace workspace) override;
  void batch_norm_eval_backward(const BatchNormProblem& p, ConstTensor x, ConstTensor dy,
                                ConstTensor weight, ConstTensor running_mean,
                                ConstTensor running_var, Tensor dx, Write dx_write, Tensor dweight,
                                Tensor dbias, Write parameter_write, Workspace workspace) override;
  void lrn_forward(const LrnProblem& p, ConstTensor x, Tensor scale, Tensor y) override;
  void lrn_backward(const LrnProblem& p, ConstTensor x, ConstTensor scale, ConstTensor dy,
                    Tensor dx, Write write) override;

  void relu_forward(double ceiling, ConstTensor x, Tensor y) override;
  void relu_backward(double ceiling, ConstTensor y, ConstTensor dy, Tensor dx,
                     Write write) override;
  void max_pool_forward(const PoolProblem& p, ConstTensor x, Tensor y, Tensor index) override;
  void max_pool_backward(const PoolProblem& p, ConstTensor index, ConstTensor dy, Tensor dx,
                         Write write) override;
  void avg_pool_forward(const PoolProblem& p, ConstTensor x, Tensor y) override;
  void avg_pool_backward(const PoolProblem& p, ConstTensor dy, Tensor dx, Write write) override;
  void dropout(const RandomStream& stream, double p, ConstTensor x, Tensor y, Write) override;
  void dropout_mask(const RandomStream& stream, double p, Tensor mask) override;
  void apply_mask(double p, ConstTensor mask, ConstTensor x, Tensor y, Write write) override;
  void softmax_cross_entropy_forward(const SoftmaxCrossEntropyProblem& p, double weight,
                                     ConstTensor logits, ConstTensor labels, Tensor probabilities,
                                     Tensor loss, Workspace workspace) override;
  void softmax_cross_entropy_backward(const SoftmaxCrossEntropyProblem& p, double seed,
                                      ConstTensor probabilities, ConstTensor labels, Tensor dlogits,
                                      Write write) override;
  void coupled_loss_forward(const CoupledLossProblem& p, ConstTensor x, ConstTensor labels,
                            Tensor kept, Tensor loss, Workspace workspace) override;
  void coupled_loss_backward(const CoupledLossProblem& p, double seed, ConstTensor x,
                             ConstTensor kept, ConstTensor labels, Tensor dx, Write write) override;
  void sgd(const SgdStep& step, Tensor parameter, ConstTensor gradient, Tensor momentum) override;
  void adam(const AdamStep& step, Tensor parameter, ConstTensor gradient, Tensor first_moment,
            Tensor second_moment) override;

 private:
  /// backend.method(operands on the GPU).
  template <class... Parameters>
  void call(void (Backend::*method)(Parameters...),
            const std::type_identity_t<std::remove_cvref_t<Parameters>>&... arguments);

  std::function<OnGpu()> open_;
};

}  // namespace arenagrad::cuda_test
