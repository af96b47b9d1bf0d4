#include "kernels/shape.h"

#include <algorithm>

namespace arenagrad {

std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product))
    throw ShapeError("product of sizes: expected at most 2^63 - 1, got " + std::to_string(a) +
                     " * " + std::to_string(b));
  return product;
}

Shape::Shape(std::span<const std::int64_t> dims) : rank_(dims.size()) {
  if (rank_ > kMaxRank)
    throw ShapeError("shape: expected at most " + std::to_string(kMaxRank) + " dimensions, got " +
                     std::to_string(rank_));
  std::copy(dims.begin(), dims.end(), dims_.begin());
  for (const std::int64_t dim : dims) {
    if (dim < 1)
      throw ShapeError("shape: expected dimensions of at least 1, got " + std::to_string(dim) +
                       " in " + text());
    elements_ = checked_product(elements_, dim);
  }
}

Shape Shape::with_batch(std::int64_t n) const {
  std::array<std::int64_t, kMaxRank + 1> dims{n};
  std::copy_n(dims_.begin(), rank_, dims.begin() + 1);
  return Shape(std::span(dims.data(), rank_ + 1));
}

std::string Shape::text() const {
  if (rank_ == 0) return "scalar";
  std::string out;
  for (const std::int64_t dim : dims()) {
    if (!out.empty()) out += 'x';
    out += std::to_string(dim);
  }
  return out;
}

}  // namespace arenagrad
