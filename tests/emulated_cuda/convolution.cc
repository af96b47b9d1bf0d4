#include "tests/emulated_cuda/convolution.h"

#include <vector>

namespace emulated_cuda {

const char* Convolution::fault() const {
  if (x.wide != w.wide || x.wide != y.wide) return "tensors of different types";
  if (wide_compute != x.wide) return "a compute type that is not the data's";
  if (x.dims[0] != y.dims[0]) return "batches differ";
  if (w.dims[0] != y.dims[1]) return "output channels differ";
  if (w.dims[1] == 0 || x.dims[1] % w.dims[1] != 0 || w.dims[0] % groups() != 0)
    return "channels and groups";
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t span = dilation[i] * (w.dims[2 + i] - 1) + 1;
    const std::int64_t room = x.dims[2 + i] + before[i] + after[i] - span;
    if (room < 0 || room / stride[i] + 1 != y.dims[2 + i]) return "the output's size";
  }
  return nullptr;
}

void Convolution::run(const std::array<void*, 3>& data) const {
  const Numbers in(data[0], x.wide), filter(data[1], x.wide), out(data[2], x.wide);
  const std::int64_t group_in = w.dims[1], group_out = w.dims[0] / groups();
  // fn(x's place, w's place, y's place) for every product there is, y's place slowest.
  const auto products = [&](std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q,
                            const auto& fn) {
    for (std::int64_t c = 0; c < group_in; ++c)
      for (std::int64_t r = 0; r < w.dims[2]; ++r) {
        const std::int64_t row = p * stride[0] - before[0] + r * dilation[0];
        if (row < 0 || row >= x.dims[2]) continue;
        for (std::int64_t s = 0; s < w.dims[3]; ++s) {
          const std::int64_t column = q * stride[1] - before[1] + s * dilation[1];
          if (column < 0 || column >= x.dims[3]) continue;
          fn(x.at(n, k / group_out * group_in + c, row, column), w.at(k, c, r, s));
        }
      }
  };
  const auto outputs = [&](const auto& fn) {
    for (std::int64_t n = 0; n < y.dims[0]; ++n)
      for (std::int64_t k = 0; k < y.dims[1]; ++k)
        for (std::int64_t p = 0; p < y.dims[2]; ++p)
          for (std::int64_t q = 0; q < y.dims[3]; ++q) fn(n, k, p, q);
  };
  if (direction == ConvDirection::forward) {
    outputs([&](auto n, auto k, auto p, auto q) {
      double sum = 0;
      products(n, k, p, q, [&](auto i, auto j) { sum += in.get(i) * filter.get(j); });
      out.put(y.at(n, k, p, q), alpha * sum, beta);
    });
    return;
  }
  // Gradients are summed in double first, so that each is rounded once.
  const Layout4& written = layout(output());
  std::vector<double> sums(written.extent() / written.element(), 0);
  outputs([&](auto n, auto k, auto p, auto q) {
    const double dy = out.get(y.at(n, k, p, q));
    products(n, k, p, q, [&](auto i, auto j) {
      if (direction == ConvDirection::data)
        sums[static_cast<std::size_t>(i)] += dy * filter.get(j);
      else
        sums[static_cast<std::size_t>(j)] += dy * in.get(i);
    });
  });
  const Numbers& target = direction == ConvDirection::data ? in : filter;
  for (std::int64_t a = 0; a < written.dims[0]; ++a)
    for (std::int64_t b = 0; b < written.dims[1]; ++b)
      for (std::int64_t c = 0; c < written.dims[2]; ++c)
        for (std::int64_t d = 0; d < written.dims[3]; ++d) {
          const std::int64_t at = written.at(a, b, c, d);
          target.put(at, alpha * sums[static_cast<std::size_t>(at)], beta);
        }
}

}  // namespace emulated_cuda
