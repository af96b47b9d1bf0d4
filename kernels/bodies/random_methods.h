// Random numbers and dropout of PointwiseBackend; a part of pointwise_methods.h.
#pragma once

#include "kernels/bodies/dispatch.h"
#include "kernels/bodies/dropout.h"
#include "kernels/bodies/pointwise_backend.h"
#include "kernels/bodies/random.h"

namespace arenagrad {
namespace bodies {

/// What counters see of a tensor: its samples, and the blocks of four that a sample takes.
struct SampleGrid {
  std::int64_t samples, elements, groups;
};

inline SampleGrid sample_grid(const RandomStream& stream, const Shape& shape) {
  const bool whole = stream.purpose == RandomPurpose::initialisation || shape.rank() == 0;
  const std::int64_t samples = whole ? 1 : shape[0];
  const std::int64_t elements = shape.elements() / samples;
  return {samples, elements, (elements + 3) / 4};
}

/// About how many elements' worth of work a block of words is.
inline constexpr std::int64_t kBlockWork = 16;

template <class T, class Exec, class Draw>
void fill_randomly(const Exec& exec, const RandomStream& stream, const Draw& draw,
                   const Tensor& t) {
  const SampleGrid grid = sample_grid(stream, t.shape);
  using Order = typename Exec::Order;
  exec.for_grid(grid.samples, grid.groups,
                RandomFill<T, Draw, Order>{sample_words(stream), draw, grid.elements,
                                           order_of<Order>(t), t.as<T>()},
                kBlockWork);
}

}  // namespace bodies

template <class Exec>
void PointwiseBackend<Exec>::normal(const RandomStream& stream, double scale, Tensor t) {
  const bodies::NormalDraw draw{static_cast<float>(scale)};
  bodies::with_float(t.dtype, [&]<class T>() { bodies::fill_randomly<T>(exec_, stream, draw, t); });
}

template <class Exec>
void PointwiseBackend<Exec>::uniform(const RandomStream& stream, double bound, Tensor t) {
  const bodies::UniformDraw draw{static_cast<float>(bound)};
  bodies::with_float(t.dtype, [&]<class T>() { bodies::fill_randomly<T>(exec_, stream, draw, t); });
}

template <class Exec>
void PointwiseBackend<Exec>::uniform_labels(const RandomStream& stream, std::int64_t classes,
                                            Tensor t) {
  const bodies::LabelDraw draw{static_cast<std::uint64_t>(classes)};
  bodies::fill_randomly<std::int64_t>(exec_, stream, draw, t);
}

template <class Exec>
void PointwiseBackend<Exec>::dropout(const RandomStream& stream, double p, ConstTensor x, Tensor y,
                                     Write write) {
  const bodies::SampleGrid grid = bodies::sample_grid(stream, y.shape);
  using Order = typename Exec::Order;
  bodies::with_float(y.dtype, write, [&]<class T, bool kAccumulate>() {
    exec_.for_grid(
        grid.samples, grid.groups,
        bodies::Dropout<T, kAccumulate, Order>{
            bodies::sample_words(stream), bodies::keep_threshold(p), bodies::keep_scale<T>(p),
            grid.elements, bodies::order_of<Order>(y), x.as<T>(), y.as<T>()},
        bodies::kBlockWork);
  });
}

template <class Exec>
void PointwiseBackend<Exec>::dropout_mask(const RandomStream& stream, double p, Tensor mask) {
  const std::uint32_t threshold = bodies::keep_threshold(p);
  if (mask.dtype == DType::u8)
    return bodies::fill_randomly<std::uint8_t>(exec_, stream,
                                               bodies::MaskDraw<std::uint8_t>{threshold, 1}, mask);
  bodies::with_float(mask.dtype, [&]<class T>() {
    bodies::fill_randomly<T>(exec_, stream,
                             bodies::MaskDraw<T>{threshold, bodies::keep_scale<T>(p)}, mask);
  });
}

template <class Exec>
void PointwiseBackend<Exec>::apply_mask(double p, ConstTensor mask, ConstTensor x, Tensor y,
                                        Write write) {
  const std::int64_t n = y.shape.elements();
  bodies::with_float(y.dtype, write, [&]<class T, bool kAccumulate>() {
    if (mask.dtype == DType::u8)
      return exec_.for_each(
          n, bodies::ApplyByteMask<T, kAccumulate>{bodies::keep_scale<T>(p),
                                                   mask.as<std::uint8_t>(), x.as<T>(), y.as<T>()});
    exec_.for_each(n, bodies::ApplyFactorMask<T, kAccumulate>{mask.as<T>(), x.as<T>(), y.as<T>()});
  });
}

}  // namespace arenagrad
