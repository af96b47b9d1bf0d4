// Shapes in elements. A shape says nothing of the batch unless its name does: tapes hold shapes per
// sample, kernels see whole tensors with the batch as dimension 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "allocator/error.h"

namespace arenagrad {

/// Shapes that don't meet; the message shows both.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// a * b, or ShapeError where the product passes 2^63 - 1.
std::int64_t checked_product(std::int64_t a, std::int64_t b);

class Shape {
 public:
  static constexpr std::size_t kMaxRank = 5;

  Shape() = default;
  /// Throws ShapeError for more than kMaxRank dimensions, one below 1, or a count beyond 64 bits.
  Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const std::int64_t> dims);

  std::size_t rank() const { return rank_; }
  std::int64_t operator[](std::size_t i) const { return dims_[i]; }
  std::span<const std::int64_t> dims() const { return {dims_.data(), rank_}; }
  std::int64_t elements() const { return elements_; }

  /// This shape with `n` in front.
  Shape with_batch(std::int64_t n) const;
  /// "3x224x224"; "scalar" for rank 0.
  std::string text() const;
  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<std::int64_t, kMaxRank> dims_{};
  std::size_t rank_ = 0;
  std::int64_t elements_ = 1;
};

}  // namespace arenagrad
