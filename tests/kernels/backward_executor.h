// An executor that runs everything in the opposite order, one column at a time: a stand-in for a
// device whose threads come in any order. A body that keeps its contract gives the same bits.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "kernels/bodies/executor.h"
#include "kernels/bodies/pointwise_methods.h"

namespace arenagrad::cpu_test {

struct BackwardExecutor {
  static constexpr int kStrip = 1;
  using Planes = bodies::PlanesInterleaved;
  using Order = bodies::ChannelsInnermost;

  template <class Body>
  void for_each(std::int64_t n, const Body& body, std::int64_t = 1) const {
    for (std::int64_t i = n; i-- > 0;) body(i);
  }
  template <class Body>
  void for_grid(std::int64_t rows, std::int64_t columns, const Body& body, std::int64_t = 1) const {
    for (std::int64_t column = columns; column-- > 0;)
      for (std::int64_t row = rows; row-- > 0;) body(row, column);
  }
  /// The tree as the contract tells it, by recursion.
  template <class Body>
  void reduce_rows(std::int64_t rows, std::int64_t columns, const Body& body) const {
    for (std::int64_t row = rows; row-- > 0;) {
      std::vector<typename Body::Value> lanes;
      for (int l = bodies::kReductionLanes; l-- > 0;) {
        typename Body::Value value = body.identity();
        for (std::int64_t c = l; c < columns; c += bodies::kReductionLanes)
          value = body.combine(value, body.load(row, c));
        lanes.insert(lanes.begin(), value);
      }
      while (lanes.size() > 1) {
        const std::size_t half = lanes.size() / 2;
        for (std::size_t l = half; l-- > 0;) lanes[l] = body.combine(lanes[l], lanes[l + half]);
        lanes.resize(half);
      }
      body.finish(row, lanes[0]);
    }
  }
};

/// What no shared body serves is refused.
class BackwardBackend final : public PointwiseBackend<BackwardExecutor> {
 public:
  BackwardBackend() : PointwiseBackend(BackwardExecutor()) {}
  std::string_view name() const override { return "backward"; }
  void copy_from_host(Tensor, const void*) override { refuse(); }
  void copy_to_host(void*, ConstTensor) override { refuse(); }
  void conv_forward(const ConvProblem&, std::int64_t, ConstTensor, ConstTensor, ConstTensor, Tensor,
                    Workspace) override {
    refuse();
  }
  void conv_backward_data(const ConvProblem&, std::int64_t, ConstTensor, ConstTensor, Tensor, Write,
                          Workspace) override {
    refuse();
  }
  void conv_backward_filter(const ConvProblem&, std::int64_t, ConstTensor, ConstTensor, Tensor,
                            Write, Workspace) override {
    refuse();
  }
  void bias_gradient(ConstTensor, Tensor, Write) override { refuse(); }
  void linear_forward(const LinearProblem&, ConstTensor, ConstTensor, ConstTensor, Tensor,
                      Workspace) override {
    refuse();
  }
  void linear_backward_data(const LinearProblem&, ConstTensor, ConstTensor, Tensor, Write,
                            Workspace) override {
    refuse();
  }
  void linear_backward_weight(const LinearProblem&, ConstTensor, ConstTensor, Tensor, Write,
                              Workspace) override {
    refuse();
  }
  void batch_norm_train(const BatchNormProblem&, ConstTensor, ConstTensor, ConstTensor, Tensor,
                        Tensor, Tensor, Tensor, Tensor, Workspace) override {
    refuse();
  }
  void batch_norm_eval(const BatchNormProblem&, ConstTensor, ConstTensor, ConstTensor, ConstTensor,
                       ConstTensor, Tensor, Workspace) override {
    refuse();
  }
  void batch_norm_train_backward(const BatchNormProblem&, ConstTensor, ConstTensor, ConstTensor,
                                 ConstTensor, ConstTensor, Tensor, Write, Tensor, Tensor, Write,
                                 Workspace) override {
    refuse();
  }
  void batch_norm_eval_backward(const BatchNormProblem&, ConstTensor, ConstTensor, ConstTensor,
                                ConstTensor, ConstTensor, Tensor, Write, Tensor, Tensor, Write,
                                Workspace) override {
    refuse();
  }

 private:
  [[noreturn]] static void refuse() { throw std::logic_error("no shared body"); }
};

}  // namespace arenagrad::cpu_test
