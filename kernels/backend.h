// Every numeric operation there is, once. A backend owns no tensor and allocates nothing: it
// computes on views into the arena, with scratch that was declared. Shapes have been checked by
// whoever recorded the tape; a backend may trust them. All methods throw DeviceError when the
// device fails.
//
// Where no comment says otherwise, all images of a call have one layout (kernels/tensor.h); host
// arrays are row-major.
//
// f32 and f64 throughout; labels i64; max-pool indices u8, i32 or i64. An empty tensor (`!t`)
// stands for "none" where the comment allows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/problems.h"
#include "kernels/random.h"
#include "kernels/tensor.h"

namespace arenagrad {

class DeviceError : public Error {
 public:
  using Error::Error;
};

struct SgdStep {
  double learning_rate, momentum, weight_decay;
  bool nesterov;
  bool first;  // the momentum buffer is born in this step: buffer = gradient
};

struct AdamStep {
  double learning_rate, beta1, beta2, eps, weight_decay;
  bool decoupled;     // AdamW: weights shrink by learning_rate * weight_decay, gradient untouched
  std::int64_t step;  // 1-based; in step 1 the moments are born (taken as zero, not read)
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;

  // --- running a program: a backend that has nothing to do here does nothing ---------------------
  /// Memory that a library of the device may use between and during calls, handed over once for
  /// good (Profile::library).
  virtual void use_library(Workspace) {}
  /// A phase of a run begins, inside the one that has begun before it; `leave` ends the innermost.
  /// For profilers.
  virtual void enter(std::string_view /*phase*/) {}
  virtual void leave() {}
  /// Returns when everything asked for so far has been done.
  virtual void finish() {}

  // --- moving data -----------------------------------------------------------------------------
  virtual void copy_from_host(Tensor to, const void* from) = 0;
  virtual void copy_to_host(void* to, ConstTensor from) = 0;
  virtual void fill(Tensor t, double value) = 0;
  /// t[0] += 1; t is i64 (batch norm's counter of batches).
  virtual void increment(Tensor t) = 0;
  /// to (=|+=) from; as many elements, in the order of their shapes whatever their layouts.
  virtual void add(ConstTensor from, Tensor to, Write write) = 0;
  /// out = a + b; out may be a or b.
  virtual void sum(ConstTensor a, ConstTensor b, Tensor out) = 0;
  /// `narrow` into a slice of `wide`, of the same layout.
  virtual void copy_into_slice(const SliceProblem&, ConstTensor narrow, Tensor wide) = 0;
  virtual void copy_from_slice(const SliceProblem&, ConstTensor wide, Tensor narrow, Write) = 0;

  // --- random ----------------------------------------------------------------------------------
  /// scale * standard normal (Box-Muller), drawn in f32 and widened. Dimension 0 is the sample.
  virtual void normal(const RandomStream&, double scale, Tensor t) = 0;
  /// Uniform in [-bound, bound), likewise.
  virtual void uniform(const RandomStream&, double bound, Tensor t) = 0;
  /// Uniform in [0, classes), i64.
  virtual void uniform_labels(const RandomStream&, std::int64_t classes, Tensor t) = 0;

  // --- convolution, linear ---------------------------------------------------------------------
  /// y = x (*) w + bias; bias may be none.
  virtual void conv_forward(const ConvProblem&, std::int64_t engine, ConstTensor x, ConstTensor w,
                            ConstTensor bias, Tensor y, Workspace) = 0;
  virtual void conv_backward_data(const ConvProblem&, std::int64_t engine, ConstTensor dy,
                                  ConstTensor w, Tensor dx, Write, Workspace) = 0;
  virtual void conv_backward_filter(const ConvProblem&, std::int64_t engine, ConstTensor x,
                                    ConstTensor dy, Tensor dw, Write, Workspace) = 0;
  /// db[c] (=|+=) sum of dy over batch and space; dy is [batch, channels, spatial...]. Also
  /// linear's, with spatial 1.
  virtual void bias_gradient(ConstTensor dy, Tensor db, Write) = 0;
  virtual void linear_forward(const LinearProblem&, ConstTensor x, ConstTensor w, ConstTensor bias,
                              Tensor y, Workspace) = 0;
  virtual void linear_backward_data(const LinearProblem&, ConstTensor dy, ConstTensor w, Tensor dx,
                                    Write, Workspace) = 0;
  virtual void linear_backward_weight(const LinearProblem&, ConstTensor x, ConstTensor dy,
                                      Tensor dw, Write, Workspace) = 0;

  // --- normalisation ---------------------------------------------------------------------------
  /// Batch statistics: biased variance normalises; mean and 1/sqrt(var + eps) are written. When
  /// `running_mean` is given, running = (1 - momentum) * running + momentum * batch, with the
  /// unbiased variance. y may be x.
  virtual void batch_norm_train(const BatchNormProblem&, ConstTensor x, ConstTensor weight,
                                ConstTensor bias, Tensor running_mean, Tensor running_var,
                                Tensor mean, Tensor inverse_std, Tensor y, Workspace) = 0;
  virtual void batch_norm_eval(const BatchNormProblem&, ConstTensor x, ConstTensor weight,
                               ConstTensor bias, ConstTensor running_mean, ConstTensor running_var,
                               Tensor y, Workspace) = 0;
  /// Any of dx, dweight, dbias may be none. dx may be dy when written by overwrite.
  virtual void batch_norm_train_backward(const BatchNormProblem&, ConstTensor x, ConstTensor dy,
                                         ConstTensor weight, ConstTensor mean,
                                         ConstTensor inverse_std, Tensor dx, Write dx_write,
                                         Tensor dweight, Tensor dbias, Write parameter_write,
                                         Workspace) = 0;
  virtual void batch_norm_eval_backward(const BatchNormProblem&, ConstTensor x, ConstTensor dy,
                                        ConstTensor weight, ConstTensor running_mean,
                                        ConstTensor running_var, Tensor dx, Write dx_write,
                                        Tensor dweight, Tensor dbias, Write parameter_write,
                                        Workspace) = 0;
  /// scale = k + alpha/size * window sum of x^2 (written when given); y = x * scale^-beta.
  virtual void lrn_forward(const LrnProblem&, ConstTensor x, Tensor scale, Tensor y) = 0;
  virtual void lrn_backward(const LrnProblem&, ConstTensor x, ConstTensor scale, ConstTensor dy,
                            Tensor dx, Write) = 0;

  // --- pointwise and pooling -------------------------------------------------------------------
  /// y = max(x, 0), also min(.., ceiling) when ceiling > 0 (relu6). y may be x.
  virtual void relu_forward(double ceiling, ConstTensor x, Tensor y) = 0;
  /// dx (=|+=) dy where 0 < y (and y < ceiling), else 0. dx may be dy when overwriting.
  virtual void relu_backward(double ceiling, ConstTensor y, ConstTensor dy, Tensor dx, Write) = 0;
  /// First maximum in row-major order; NaN wins. `index` (may be none): u8 and i32 hold the place
  /// inside the window (row * kernel_w + column), i64 the place in the input plane, as PyTorch
  /// keeps.
  virtual void max_pool_forward(const PoolProblem&, ConstTensor x, Tensor y, Tensor index) = 0;
  virtual void max_pool_backward(const PoolProblem&, ConstTensor index, ConstTensor dy, Tensor dx,
                                 Write) = 0;
  virtual void avg_pool_forward(const PoolProblem&, ConstTensor x, Tensor y) = 0;
  virtual void avg_pool_backward(const PoolProblem&, ConstTensor dy, Tensor dx, Write) = 0;
  /// y (=|+=) x * keep / (1 - p), keep drawn from the stream. Forward and backward are the same
  /// call. y may be x when overwriting.
  virtual void dropout(const RandomStream&, double p, ConstTensor x, Tensor y, Write) = 0;
  /// Writes the mask that `dropout` would use: u8 0/1, or floating 0 and 1/(1-p).
  virtual void dropout_mask(const RandomStream&, double p, Tensor mask) = 0;
  /// y (=|+=) x * mask / (1 - p), or x * mask for a floating mask. y may be x when overwriting.
  virtual void apply_mask(double p, ConstTensor mask, ConstTensor x, Tensor y, Write) = 0;

  // --- loss and update -------------------------------------------------------------------------
  /// probabilities = softmax(logits) (may be the logits' memory, or none); loss[0] = weight * sum
  /// over the batch of -log softmax(logits)[label].
  virtual void softmax_cross_entropy_forward(const SoftmaxCrossEntropyProblem&, double weight,
                                             ConstTensor logits, ConstTensor labels,
                                             Tensor probabilities, Tensor loss, Workspace) = 0;
  /// dlogits (=|+=) seed * (probabilities - onehot(labels)).
  virtual void softmax_cross_entropy_backward(const SoftmaxCrossEntropyProblem&, double seed,
                                              ConstTensor probabilities, ConstTensor labels,
                                              Tensor dlogits, Write) = 0;
  /// loss[0] of the whole batch. `kept` ([classes]; none for contrastive, and where nothing is
  /// saved) is what backward reads.
  virtual void coupled_loss_forward(const CoupledLossProblem&, ConstTensor x, ConstTensor labels,
                                    Tensor kept, Tensor loss, Workspace) = 0;
  /// dx (=|+=) seed * dloss/dx.
  virtual void coupled_loss_backward(const CoupledLossProblem&, double seed, ConstTensor x,
                                     ConstTensor kept, ConstTensor labels, Tensor dx, Write) = 0;
  virtual void sgd(const SgdStep&, Tensor parameter, ConstTensor gradient, Tensor momentum) = 0;
  virtual void adam(const AdamStep&, Tensor parameter, ConstTensor gradient, Tensor first_moment,
                    Tensor second_moment) = 0;
};

}  // namespace arenagrad
