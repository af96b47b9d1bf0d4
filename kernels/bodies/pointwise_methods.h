// The member functions of PointwiseBackend: types found, bodies filled in, launched. Included by
// the one file of a device that instantiates them, after its executor.
#pragma once

#include "kernels/bodies/coupled_loss_methods.h"
#include "kernels/bodies/dispatch.h"
#include "kernels/bodies/layout.h"
#include "kernels/bodies/lrn.h"
#include "kernels/bodies/optimizer.h"
#include "kernels/bodies/pointwise.h"
#include "kernels/bodies/pointwise_backend.h"
#include "kernels/bodies/pool_methods.h"
#include "kernels/bodies/random_methods.h"
#include "kernels/bodies/softmax.h"
#include "kernels/bodies/workspace.h"

namespace arenagrad {

template <class Exec>
void PointwiseBackend<Exec>::fill(Tensor t, double value) {
  const auto run = [&]<class T>(T* out) {
    exec_.for_each(t.shape.elements(), bodies::Fill<T>{static_cast<T>(value), out});
  };
  switch (t.dtype) {
    case DType::f32: return run(t.as<float>());
    case DType::f64: return run(t.as<double>());
    case DType::i64: return run(t.as<std::int64_t>());
    case DType::i32: return run(t.as<std::int32_t>());
    case DType::u8: return run(t.as<std::uint8_t>());
  }
}

template <class Exec>
void PointwiseBackend<Exec>::increment(Tensor t) {
  exec_.for_each(t.shape.elements(), bodies::Increment<std::int64_t>{t.as<std::int64_t>()});
}

template <class Exec>
void PointwiseBackend<Exec>::add(ConstTensor from, Tensor to, Write write) {
  bodies::with_float(to.dtype, write, [&]<class T, bool kAccumulate>() {
    const std::int64_t n = to.shape.elements();
    if (from.channels_last() == to.channels_last())
      return exec_.for_each(n, bodies::Add<T, kAccumulate>{from.as<T>(), to.as<T>()});
    using Order = typename Exec::Order;
    exec_.for_each(n, bodies::AddReordered<T, kAccumulate, Order>{bodies::order_of<Order>(from),
                                                                  bodies::order_of<Order>(to),
                                                                  from.as<T>(), to.as<T>()});
  });
}

template <class Exec>
void PointwiseBackend<Exec>::sum(ConstTensor a, ConstTensor b, Tensor out) {
  bodies::with_float(out.dtype, [&]<class T>() {
    exec_.for_each(out.shape.elements(), bodies::Sum<T>{a.as<T>(), b.as<T>(), out.as<T>()});
  });
}

template <class Exec>
void PointwiseBackend<Exec>::copy_into_slice(const SliceProblem& problem, ConstTensor narrow,
                                             Tensor wide) {
  const SliceProblem p = bodies::as_laid_out(problem, wide);
  bodies::with_float(p.dtype, [&]<class T>() {
    exec_.for_grid(p.batch, p.channels * p.spatial,
                   bodies::CopyIntoSlice<T>{bodies::slice_of(p), narrow.as<T>(), wide.as<T>()});
  });
}

template <class Exec>
void PointwiseBackend<Exec>::copy_from_slice(const SliceProblem& problem, ConstTensor wide,
                                             Tensor narrow, Write write) {
  const SliceProblem p = bodies::as_laid_out(problem, wide);
  bodies::with_float(p.dtype, write, [&]<class T, bool kAccumulate>() {
    exec_.for_grid(
        p.batch, p.channels * p.spatial,
        bodies::CopyFromSlice<T, kAccumulate>{bodies::slice_of(p), wide.as<T>(), narrow.as<T>()});
  });
}

template <class Exec>
void PointwiseBackend<Exec>::relu_forward(double ceiling, ConstTensor x, Tensor y) {
  bodies::with_float(y.dtype, [&]<class T>() {
    bodies::with_flag(ceiling > 0, [&]<bool kCapped>() {
      exec_.for_each(y.shape.elements(), bodies::ReluForward<T, kCapped>{static_cast<T>(ceiling),
                                                                         x.as<T>(), y.as<T>()});
    });
  });
}

template <class Exec>
void PointwiseBackend<Exec>::relu_backward(double ceiling, ConstTensor y, ConstTensor dy, Tensor dx,
                                           Write write) {
  bodies::with_float(dx.dtype, write, [&]<class T, bool kAccumulate>() {
    bodies::with_flag(ceiling > 0, [&]<bool kCapped>() {
      exec_.for_each(dx.shape.elements(),
                     bodies::ReluBackward<T, kCapped, kAccumulate>{
                         static_cast<T>(ceiling), y.as<T>(), dy.as<T>(), dx.as<T>()});
    });
  });
}

template <class Exec>
void PointwiseBackend<Exec>::lrn_forward(const LrnProblem& images, ConstTensor x, Tensor scale,
                                         Tensor y) {
  const LrnProblem problem = bodies::as_laid_out(images, x);
  bodies::with_float(problem.dtype, [&]<class T>() {
    bodies::with_flag(problem.beta == 0.75, [&]<bool kThreeQuarters>() {
      bodies::with_flag(static_cast<bool>(scale), [&]<bool kKeepScale>() {
        exec_.for_grid(problem.batch * problem.channels, bodies::strip_count<Exec>(problem.spatial),
                       bodies::LrnForward<T, Exec::kStrip, kThreeQuarters, kKeepScale>{
                           problem.channels, problem.spatial, problem.size,
                           static_cast<T>(problem.alpha / static_cast<double>(problem.size)),
                           static_cast<T>(problem.beta), static_cast<T>(problem.k), x.as<T>(),
                           kKeepScale ? scale.as<T>() : nullptr, y.as<T>()},
                       Exec::kStrip * problem.size);
      });
    });
  });
}

template <class Exec>
void PointwiseBackend<Exec>::lrn_backward(const LrnProblem& images, ConstTensor x,
                                          ConstTensor scale, ConstTensor dy, Tensor dx,
                                          Write write) {
  const LrnProblem problem = bodies::as_laid_out(images, x);
  const double factor = 2 * problem.alpha * problem.beta / static_cast<double>(problem.size);
  bodies::with_float(problem.dtype, write, [&]<class T, bool kAccumulate>() {
    bodies::with_flag(problem.beta == 0.75, [&]<bool kThreeQuarters>() {
      exec_.for_grid(
          problem.batch * problem.channels, problem.spatial,
          bodies::LrnBackward<T, Exec::kStrip, kThreeQuarters, kAccumulate>{
              problem.channels, problem.spatial, problem.size, static_cast<T>(factor),
              static_cast<T>(problem.beta), x.as<T>(), scale.as<T>(), dy.as<T>(), dx.as<T>()},
          3 * Exec::kStrip * problem.size);
    });
  });
}

template <class Exec>
void PointwiseBackend<Exec>::softmax_cross_entropy_forward(
    const SoftmaxCrossEntropyProblem& problem, double weight, ConstTensor logits,
    ConstTensor labels, Tensor probabilities, Tensor loss, Workspace workspace) {
  check_contract(workspace.bytes >= softmax_cross_entropy_workspace(problem),
                 "softmax_cross_entropy_forward: too little workspace");
  auto* state = static_cast<double*>(workspace.data);
  double* row_loss = state + problem.batch;
  bodies::with_float(problem.dtype, [&]<class T>() {
    const T* x = logits.as<T>();
    T* p = probabilities ? probabilities.as<T>() : nullptr;
    const std::int64_t rows = problem.batch, classes = problem.classes;
    exec_.reduce_rows(
        rows, classes,
        bodies::RowMaximum<T>{classes, x, labels.as<std::int64_t>(), state, row_loss});
    exec_.reduce_rows(rows, classes, bodies::RowExponentials<T>{classes, x, p, state, row_loss});
    if (p != nullptr) exec_.for_grid(rows, classes, bodies::Probabilities<T>{classes, state, p});
    exec_.reduce_rows(1, rows, bodies::TotalLoss<T>{weight, row_loss, loss.as<T>()});
  });
}

template <class Exec>
void PointwiseBackend<Exec>::softmax_cross_entropy_backward(
    const SoftmaxCrossEntropyProblem& problem, double seed, ConstTensor probabilities,
    ConstTensor labels, Tensor dlogits, Write write) {
  bodies::with_float(problem.dtype, write, [&]<class T, bool kAccumulate>() {
    exec_.for_grid(problem.batch, problem.classes,
                   bodies::SoftmaxCrossEntropyBackward<T, kAccumulate>{
                       problem.classes, static_cast<T>(seed), probabilities.as<T>(),
                       labels.as<std::int64_t>(), dlogits.as<T>()});
  });
}

template <class Exec>
void PointwiseBackend<Exec>::sgd(const SgdStep& step, Tensor parameter, ConstTensor gradient,
                                 Tensor momentum) {
  bodies::with_float(parameter.dtype, [&]<class T>() {
    bodies::with_flag(static_cast<bool>(momentum), [&]<bool kMomentum>() {
      exec_.for_each(parameter.shape.elements(),
                     bodies::Sgd<T, kMomentum>{static_cast<T>(step.learning_rate),
                                               static_cast<T>(step.momentum),
                                               static_cast<T>(step.weight_decay), step.nesterov,
                                               step.first, parameter.as<T>(), gradient.as<T>(),
                                               kMomentum ? momentum.as<T>() : nullptr});
    });
  });
}

template <class Exec>
void PointwiseBackend<Exec>::adam(const AdamStep& step, Tensor parameter, ConstTensor gradient,
                                  Tensor first_moment, Tensor second_moment) {
  const auto t = static_cast<double>(step.step);
  const double step_size = step.learning_rate / (1 - std::pow(step.beta1, t));
  const double second_root = std::sqrt(1 - std::pow(step.beta2, t));
  const double coupled = step.decoupled ? 0 : step.weight_decay;
  const double shrink = step.decoupled ? 1 - step.learning_rate * step.weight_decay : 1;
  bodies::with_float(parameter.dtype, [&]<class T>() {
    exec_.for_each(parameter.shape.elements(),
                   bodies::Adam<T>{static_cast<T>(step.beta1), static_cast<T>(1 - step.beta1),
                                   static_cast<T>(step.beta2), static_cast<T>(1 - step.beta2),
                                   static_cast<T>(step.eps), static_cast<T>(step_size),
                                   static_cast<T>(second_root), static_cast<T>(coupled),
                                   static_cast<T>(shrink), step.step == 1, parameter.as<T>(),
                                   gradient.as<T>(), first_moment.as<T>(), second_moment.as<T>()});
  });
}

}  // namespace arenagrad
