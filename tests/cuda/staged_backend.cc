#include "tests/cuda/staged_backend.h"

#include <tuple>

#include "tests/cuda/stage.h"

namespace arenagrad::cuda_test {

template <class... Parameters>
void StagedBackend::call(
    void (Backend::*method)(Parameters...),
    const std::type_identity_t<std::remove_cvref_t<Parameters>>&... arguments) {
  const OnGpu gpu = open_();
  Stage stage(gpu.memory, gpu.layout);
  // Braces: operands are staged in order.
  const std::tuple<std::remove_cvref_t<Parameters>...> staged{stage.operand(arguments)...};
  check_contract(stage.size() <= gpu.bytes, "the operands of a call don't fit the test's memory");
  const Tensor all{gpu.memory, Shape{static_cast<std::int64_t>(stage.size())}, DType::u8};
  gpu.backend->copy_from_host(all, stage.mirror());
  std::apply([&](const auto&... operands) { (gpu.backend->*method)(operands...); }, staged);
  std::vector<std::byte> after(stage.size());
  gpu.backend->copy_to_host(after.data(), all);
  stage.take(after);
}

void StagedBackend::copy_from_host(Tensor to, const void* from) {
  call(&Backend::copy_from_host, to, from);
}

void StagedBackend::copy_to_host(void* to, ConstTensor from) {
  call(&Backend::copy_to_host, to, from);
}

void StagedBackend::fill(Tensor t, double value) { call(&Backend::fill, t, value); }

void StagedBackend::increment(Tensor t) { call(&Backend::increment, t); }

void StagedBackend::add(ConstTensor from, Tensor to, Write write) {
  call(&Backend::add, from, to, write);
}

void StagedBackend::sum(ConstTensor a, ConstTensor b, Tensor out) {
  call(&Backend::sum, a, b, out);
}

void StagedBackend::copy_into_slice(const SliceProblem& p, ConstTensor narrow, Tensor wide) {
  call(&Backend::copy_into_slice, p, narrow, wide);
}

void StagedBackend::copy_from_slice(const SliceProblem& p, ConstTensor wide, Tensor narrow,
                                    Write write) {
  call(&Backend::copy_from_slice, p, wide, narrow, write);
}

void StagedBackend::normal(const RandomStream& stream, double scale, Tensor t) {
  call(&Backend::normal, stream, scale, t);
}

void StagedBackend::uniform(const RandomStream& stream, double bound, Tensor t) {
  call(&Backend::uniform, stream, bound, t);
}

void StagedBackend::uniform_labels(const RandomStream& stream, std::int64_t classes, Tensor t) {
  call(&Backend::uniform_labels, stream, classes, t);
}

void StagedBackend::conv_forward(const ConvProblem& p, std::int64_t engine, ConstTensor x,
                                 ConstTensor w, ConstTensor bias, Tensor y, Workspace workspace) {
  call(&Backend::conv_forward, p, engine, x, w, bias, y, workspace);
}

void StagedBackend::conv_backward_data(const ConvProblem& p, std::int64_t engine, ConstTensor dy,
                                       ConstTensor w, Tensor dx, Write write, Workspace workspace) {
  call(&Backend::conv_backward_data, p, engine, dy, w, dx, write, workspace);
}

void StagedBackend::conv_backward_filter(const ConvProblem& p, std::int64_t engine, ConstTensor x,
                                         ConstTensor dy, Tensor dw, Write write,
                                         Workspace workspace) {
  call(&Backend::conv_backward_filter, p, engine, x, dy, dw, write, workspace);
}

void StagedBackend::bias_gradient(ConstTensor dy, Tensor db, Write write) {
  call(&Backend::bias_gradient, dy, db, write);
}

void StagedBackend::linear_forward(const LinearProblem& p, ConstTensor x, ConstTensor w,
                                   ConstTensor bias, Tensor y, Workspace workspace) {
  call(&Backend::linear_forward, p, x, w, bias, y, workspace);
}

void StagedBackend::linear_backward_data(const LinearProblem& p, ConstTensor dy, ConstTensor w,
                                         Tensor dx, Write write, Workspace workspace) {
  call(&Backend::linear_backward_data, p, dy, w, dx, write, workspace);
}

void StagedBackend::linear_backward_weight(const LinearProblem& p, ConstTensor x, ConstTensor dy,
                                           Tensor dw, Write write, Workspace workspace) {
  call(&Backend::linear_backward_weight, p, x, dy, dw, write, workspace);
}

void StagedBackend::batch_norm_train(const BatchNormProblem& p, ConstTensor x, ConstTensor weight,
                                     ConstTensor bias, Tensor running_mean, Tensor running_var,
                                     Tensor mean, Tensor inverse_std, Tensor y,
                                     Workspace workspace) {
  call(&Backend::batch_norm_train, p, x, weight, bias, running_mean, running_var, mean, inverse_std,
       y, workspace);
}

void StagedBackend::batch_norm_eval(const BatchNormProblem& p, ConstTensor x, ConstTensor weight,
                                    ConstTensor bias, ConstTensor running_mean,
                                    ConstTensor running_var, Tensor y, Workspace workspace) {
  call(&Backend::batch_norm_eval, p, x, weight, bias, running_mean, running_var, y, workspace);
}

void StagedBackend::batch_norm_train_backward(const BatchNormProblem& p, ConstTensor x,
                                              ConstTensor dy, ConstTensor weight, ConstTensor mean,
                                              ConstTensor inverse_std, Tensor dx, Write dx_write,
                                              Tensor dweight, Tensor dbias, Write parameter_write,
                                              Workspace workspace) {
  call(&Backend::batch_norm_train_backward, p, x, dy, weight, mean, inverse_std, dx, dx_write,
       dweight, dbias, parameter_write, workspace);
}

void StagedBackend::batch_norm_eval_backward(const BatchNormProblem& p, ConstTensor x,
                                             ConstTensor dy, ConstTensor weight,
                                             ConstTensor running_mean, ConstTensor running_var,
                                             Tensor dx, Write dx_write, Tensor dweight,
                                             Tensor dbias, Write parameter_write,
                                             Workspace workspace) {
  call(&Backend::batch_norm_eval_backward, p, x, dy, weight, running_mean, running_var, dx,
       dx_write, dweight, dbias, parameter_write, workspace);
}

void StagedBackend::lrn_forward(const LrnProblem& p, ConstTensor x, Tensor scale, Tensor y) {
  call(&Backend::lrn_forward, p, x, scale, y);
}

void StagedBackend::lrn_backward(const LrnProblem& p, ConstTensor x, ConstTensor scale,
                                 ConstTensor dy, Tensor dx, Write write) {
  call(&Backend::lrn_backward, p, x, scale, dy, dx, write);
}

void StagedBackend::relu_forward(double ceiling, ConstTensor x, Tensor y) {
  call(&Backend::relu_forward, ceiling, x, y);
}

void StagedBackend::relu_backward(double ceiling, ConstTensor y, ConstTensor dy, Tensor dx,
                                  Write write) {
  call(&Backend::relu_backward, ceiling, y, dy, dx, write);
}

void StagedBackend::max_pool_forward(const PoolProblem& p, ConstTensor x, Tensor y, Tensor index) {
  call(&Backend::max_pool_forward, p, x, y, index);
}

void StagedBackend::max_pool_backward(const PoolProblem& p, ConstTensor index, ConstTensor dy,
                                      Tensor dx, Write write) {
  call(&Backend::max_pool_backward, p, index, dy, dx, write);
}

void StagedBackend::avg_pool_forward(const PoolProblem& p, ConstTensor x, Tensor y) {
  call(&Backend::avg_pool_forward, p, x, y);
}

void StagedBackend::avg_pool_backward(const PoolProblem& p, ConstTensor dy, Tensor dx,
                                      Write write) {
  call(&Backend::avg_pool_backward, p, dy, dx, write);
}

void StagedBackend::dropout(const RandomStream& stream, double p, ConstTensor x, Tensor y,
                            Write write) {
  call(&Backend::dropout, stream, p, x, y, write);
}

void StagedBackend::dropout_mask(const RandomStream& stream, double p, Tensor mask) {
  call(&Backend::dropout_mask, stream, p, mask);
}

void StagedBackend::apply_mask(double p, ConstTensor mask, ConstTensor x, Tensor y, Write write) {
  call(&Backend::apply_mask, p, mask, x, y, write);
}

void StagedBackend::softmax_cross_entropy_forward(const SoftmaxCrossEntropyProblem& p,
                                                  double weight, ConstTensor logits,
                                                  ConstTensor labels, Tensor probabilities,
                                                  Tensor loss, Workspace workspace) {
  call(&Backend::softmax_cross_entropy_forward, p, weight, logits, labels, probabilities, loss,
       workspace);
}

void StagedBackend::softmax_cross_entropy_backward(const SoftmaxCrossEntropyProblem& p, double seed,
                                                   ConstTensor probabilities, ConstTensor labels,
                                                   Tensor dlogits, Write write) {
  call(&Backend::softmax_cross_entropy_backward, p, seed, probabilities, labels, dlogits, write);
}

void StagedBackend::coupled_loss_forward(const CoupledLossProblem& p, ConstTensor x,
                                         ConstTensor labels, Tensor kept, Tensor loss,
                                         Workspace workspace) {
  call(&Backend::coupled_loss_forward, p, x, labels, kept, loss, workspace);
}

void StagedBackend::coupled_loss_backward(const CoupledLossProblem& p, double seed, ConstTensor x,
                                          ConstTensor kept, ConstTensor labels, Tensor dx,
                                          Write write) {
  call(&Backend::coupled_loss_backward, p, seed, x, kept, labels, dx, write);
}

void StagedBackend::sgd(const SgdStep& step, Tensor parameter, ConstTensor gradient,
                        Tensor momentum) {
  call(&Backend::sgd, step, parameter, gradient, momentum);
}

void StagedBackend::adam(const AdamStep& step, Tensor parameter, ConstTensor gradient,
                         Tensor first_moment, Tensor second_moment) {
  call(&Backend::adam, step, parameter, gradient, first_moment, second_moment);
}

}  // namespace arenagrad::cuda_test
