// Pooling of PointwiseBackend; a part of pointwise_methods.h.
#pragma once

#include <type_traits>

#include "kernels/bodies/avg_pool.h"
#include "kernels/bodies/dispatch.h"
#include "kernels/bodies/layout.h"
#include "kernels/bodies/max_pool.h"
#include "kernels/bodies/pointwise_backend.h"

namespace arenagrad {
namespace bodies {

/// fn.operator()<Index>() for the types an index may have.
template <class Fn>
void with_index(DType dtype, Fn&& fn) {
  if (dtype == DType::u8) return fn.template operator()<std::uint8_t>();
  if (dtype == DType::i32) return fn.template operator()<std::int32_t>();
  check_contract(dtype == DType::i64, "a max pool's index is u8, i32 or i64");
  fn.template operator()<std::int64_t>();
}

/// About how many inputs a window holds.
inline std::int64_t window_elements(const PoolProblem& problem) {
  const auto along = [](const PoolAxis& axis) {
    return axis.adaptive ? axis.length / axis.output + 1 : axis.kernel;
  };
  return along(problem.h) * along(problem.w);
}

}  // namespace bodies

template <class Exec>
void PointwiseBackend<Exec>::max_pool_forward(const PoolProblem& problem, ConstTensor x, Tensor y,
                                              Tensor index) {
  const PoolAxis &h = problem.h, &w = problem.w;
  check_contract(!h.adaptive && !w.adaptive, "a max pool has no adaptive bins");
  using Planes = typename Exec::Planes;
  const auto planes = bodies::planes_of<Planes>(x);
  bodies::with_float(problem.dtype, [&]<class T>() {
    const auto run = [&]<class Index>(Index* places) {
      exec_.for_grid(problem.planes / planes.count * h.output,
                     bodies::strip_count<Exec>(w.output) * planes.count,
                     bodies::MaxPoolForward<T, Index, Exec::kStrip, Planes>{h, w, planes, x.as<T>(),
                                                                            y.as<T>(), places},
                     Exec::kStrip * bodies::window_elements(problem));
    };
    if (!index) return run(static_cast<void*>(nullptr));
    bodies::with_index(index.dtype, [&]<class Index>() { run(index.as<Index>()); });
  });
}

template <class Exec>
void PointwiseBackend<Exec>::max_pool_backward(const PoolProblem& problem, ConstTensor index,
                                               ConstTensor dy, Tensor dx, Write write) {
  const PoolAxis &h = problem.h, &w = problem.w;
  using Planes = typename Exec::Planes;
  const auto planes = bodies::planes_of<Planes>(dy);
  bodies::with_float(problem.dtype, write, [&]<class T, bool kAccumulate>() {
    bodies::with_index(index.dtype, [&]<class Index>() {
      exec_.for_each(problem.planes * h.length,
                     bodies::MaxPoolBackward<T, Index, Exec::kStrip, kAccumulate, Planes>{
                         h, w, planes, index.as<Index>(), dy.as<T>(), dx.as<T>()},
                     2 * w.length);
    });
  });
}

template <class Exec>
void PointwiseBackend<Exec>::avg_pool_forward(const PoolProblem& problem, ConstTensor x, Tensor y) {
  const PoolAxis &h = problem.h, &w = problem.w;
  using Planes = typename Exec::Planes;
  const auto planes = bodies::planes_of<Planes>(x);
  bodies::with_float(problem.dtype, [&]<class T>() {
    exec_.for_grid(problem.planes / planes.count * h.output, w.output * planes.count,
                   bodies::AvgPoolForward<T, Planes>{h, w, planes, problem.count_include_pad,
                                                     x.as<T>(), y.as<T>()},
                   bodies::window_elements(problem));
  });
}

template <class Exec>
void PointwiseBackend<Exec>::avg_pool_backward(const PoolProblem& problem, ConstTensor dy,
                                               Tensor dx, Write write) {
  const PoolAxis &h = problem.h, &w = problem.w;
  using Planes = typename Exec::Planes;
  const auto planes = bodies::planes_of<Planes>(dy);
  bodies::with_float(problem.dtype, write, [&]<class T, bool kAccumulate>() {
    exec_.for_each(problem.planes * h.length,
                   bodies::AvgPoolBackward<T, kAccumulate, Planes>{
                       h, w, planes, problem.count_include_pad, dy.as<T>(), dx.as<T>()},
                   2 * w.length);
  });
}

}  // namespace arenagrad
