// Every operation that is not a convolution, linear or batch norm, for any executor: the class. Its
// member functions are in pointwise_methods.h, which only the file that instantiates them includes.
#pragma once

#include "kernels/backend.h"

namespace arenagrad {

/// `Exec` runs bodies as kernels/bodies/executor.h says. A device's backend derives from this, and
/// adds host copies, convolution, linear and batch norm.
template <class Exec>
class PointwiseBackend : public Backend {
 public:
  explicit PointwiseBackend(const Exec& exec) : exec_(exec) {}

  void fill(Tensor t, double value) override;
  void increment(Tensor t) override;
  void add(ConstTensor from, Tensor to, Write write) override;
  void sum(ConstTensor a, ConstTensor b, Tensor out) override;
  void copy_into_slice(const SliceProblem& problem, ConstTensor narrow, Tensor wide) override;
  void copy_from_slice(const SliceProblem& problem, ConstTensor wide, Tensor narrow,
                       Write write) override;

  void normal(const RandomStream& stream, double scale, Tensor t) override;
  void uniform(const RandomStream& stream, double bound, Tensor t) override;
  void uniform_labels(const RandomStream& stream, std::int64_t classes, Tensor t) override;

  void lrn_forward(const LrnProblem& problem, ConstTensor x, Tensor scale, Tensor y) override;
  void lrn_backward(const LrnProblem& problem, ConstTensor x, ConstTensor scale, ConstTensor dy,
                    Tensor dx, Write write) override;

  void relu_forward(double ceiling, ConstTensor x, Tensor y) override;
  void relu_backward(double ceiling, ConstTensor y, ConstTensor dy, Tensor dx,
                     Write write) override;
  void max_pool_forward(const PoolProblem& problem, ConstTensor x, Tensor y, Tensor index) override;
  void max_pool_backward(const PoolProblem& problem, ConstTensor index, ConstTensor dy, Tensor dx,
                         Write write) override;
  void avg_pool_forward(const PoolProblem& problem, ConstTensor x, Tensor y) override;
  void avg_pool_backward(const PoolProblem& problem, ConstTensor dy, Tensor dx,
                         Write write) override;
  void dropout(const RandomStream& stream, double p, ConstTensor x, Tensor y, Write write) override;
  void dropout_mask(const RandomStream& stream, double p, Tensor mask) override;
  void apply_mask(double p, ConstTensor mask, ConstTensor x, Tensor y, Write write) override;

  void softmax_cross_entropy_forward(const SoftmaxCrossEntropyProblem& problem, double weight,
                                     ConstTensor logits, ConstTensor labels, Tensor probabilities,
                                     Tensor loss, Workspace workspace) override;
  void softmax_cross_entropy_backward(const SoftmaxCrossEntropyProblem& problem, double seed,
                                      ConstTensor probabilities, ConstTensor labels, Tensor dlogits,
                                      Write write) override;
  void coupled_loss_forward(const CoupledLossProblem& problem, ConstTensor x, ConstTensor labels,
                            Tensor kept, Tensor loss, Workspace workspace) override;
  void coupled_loss_backward(const CoupledLossProblem& problem, double seed, ConstTensor x,
                             ConstTensor kept, ConstTensor labels, Tensor dx, Write write) override;
  void sgd(const SgdStep& step, Tensor parameter, ConstTensor gradient, Tensor momentum) override;
  void adam(const AdamStep& step, Tensor parameter, ConstTensor gradient, Tensor first_moment,
            Tensor second_moment) override;

 protected:
  const Exec& exec() const { return exec_; }

 private:
  Exec exec_;
};

}  // namespace arenagrad
