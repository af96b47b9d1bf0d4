// PointwiseBackend's losses that couple samples; see pointwise_methods.h.
#pragma once

#include "kernels/bodies/coupled_loss.h"
#include "kernels/bodies/dispatch.h"
#include "kernels/bodies/pointwise_backend.h"
#include "kernels/bodies/workspace.h"

namespace arenagrad {

template <class Exec>
void PointwiseBackend<Exec>::coupled_loss_forward(const CoupledLossProblem& p, ConstTensor x,
                                                  ConstTensor labels, Tensor kept, Tensor loss,
                                                  Workspace workspace) {
  check_contract(workspace.bytes >= coupled_loss_workspace(p),
                 "coupled_loss_forward: too little workspace");
  auto* terms = static_cast<double*>(workspace.data);
  bodies::with_float(p.dtype, [&]<class T>() {
    T* keep = kept ? kept.as<T>() : nullptr;
    switch (p.kind) {
      case CoupledLoss::cross_entropy_of_mean_logits:
        exec_.for_each(p.classes,
                       bodies::ClassMeans<T>{p.batch, p.classes, x.as<T>(),
                                             labels.as<std::int64_t>(), terms, terms + p.classes},
                       p.batch);
        exec_.for_each(
            1, bodies::MeanLogitsLoss<T>{p.classes, terms, terms + p.classes, keep, loss.as<T>()});
        return;
      case CoupledLoss::variance:
        exec_.for_each(p.classes,
                       bodies::ClassVariances<T>{p.batch, p.classes, x.as<T>(), keep, terms},
                       p.batch);
        exec_.for_each(1, bodies::SumOfTerms<T>{p.classes, 1 / static_cast<double>(p.classes),
                                                terms, loss.as<T>()});
        return;
      case CoupledLoss::contrastive: {
        const bodies::Pairs<T> pairs{p.batch, p.classes, p.margin, x.as<T>(),
                                     labels.as<std::int64_t>()};
        exec_.for_each(p.batch, bodies::PairLosses<T>{pairs, terms}, p.batch * p.classes);
        exec_.for_each(1, bodies::SumOfTerms<T>{p.batch, p.pair_weight(), terms, loss.as<T>()});
        return;
      }
    }
  });
}

template <class Exec>
void PointwiseBackend<Exec>::coupled_loss_backward(const CoupledLossProblem& p, double seed,
                                                   ConstTensor x, ConstTensor kept,
                                                   ConstTensor labels, Tensor dx, Write write) {
  const auto batch = static_cast<double>(p.batch), classes = static_cast<double>(p.classes);
  bodies::with_float(p.dtype, write, [&]<class T, bool kAccumulate>() {
    switch (p.kind) {
      case CoupledLoss::cross_entropy_of_mean_logits:
        exec_.for_grid(p.batch, p.classes,
                       bodies::MeanLogitsBackward<T, kAccumulate>{p.classes, seed / batch,
                                                                  kept.as<T>(), dx.as<T>()});
        return;
      case CoupledLoss::variance:
        exec_.for_grid(
            p.batch, p.classes,
            bodies::VarianceBackward<T, kAccumulate>{p.classes, 2 * seed / (batch * classes),
                                                     x.as<T>(), kept.as<T>(), dx.as<T>()});
        return;
      case CoupledLoss::contrastive:
        exec_.for_each(p.batch,
                       bodies::PairsBackward<T, kAccumulate>{
                           {p.batch, p.classes, p.margin, x.as<T>(), labels.as<std::int64_t>()},
                           seed * p.pair_weight(),
                           dx.as<T>()},
                       p.batch * p.classes);
        return;
    }
  });
}

}  // namespace arenagrad
