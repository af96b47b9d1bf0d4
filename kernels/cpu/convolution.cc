#include "kernels/cpu/convolution.h"

#include "kernels/cpu/conv_data.h"
#include "kernels/cpu/conv_filter.h"
#include "kernels/cpu/convolve.h"
#include "kernels/cpu/floating.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/planes.h"

namespace arenagrad::cpu {

namespace {

void check_engine(std::int64_t engine) {
  check_contract(engine == 0, "the CPU has one convolution engine, 0");
}

template <class T>
std::size_t workspace_of(const ConvProblem& problem, ConvPass pass) {
  switch (pass) {
    case ConvPass::forward: return convolve_scratch<T>(ConvolveCut(problem));
    case ConvPass::backward_data: return data_gradient_scratch<T>(problem);
    case ConvPass::backward_filter: return filter_gradient_scratch<T>(FilterCut(problem));
  }
  return 0;
}

}  // namespace

std::size_t conv_workspace(const ConvProblem& problem, ConvPass pass) {
  return for_floating(problem.dtype, [&]<class T>(T) { return workspace_of<T>(problem, pass); });
}

void conv_forward(const ConvProblem& problem, std::int64_t engine, ConstTensor x, ConstTensor w,
                  ConstTensor bias, Tensor y, Workspace workspace, int threads) {
  check_engine(engine);
  for_floating(problem.dtype, [&]<class T>(T) {
    const ConvolveCut cut(problem);
    std::byte* scratch = scratch_base(workspace, convolve_scratch<T>(cut));
    const Convolve<T> operands{x.as<T>(), w.as<T>(), cut.filter, bias ? bias.as<T>() : nullptr,
                               y.as<T>(), false};
    convolve(cut, operands, scratch, threads);
  });
}

void conv_backward_data(const ConvProblem& problem, std::int64_t engine, ConstTensor dy,
                        ConstTensor w, Tensor dx, Write write, Workspace workspace, int threads) {
  check_engine(engine);
  for_floating(problem.dtype, [&]<class T>(T) {
    std::byte* scratch = scratch_base(workspace, data_gradient_scratch<T>(problem));
    data_gradient(problem, dy.as<T>(), w.as<T>(), dx.as<T>(), write == Write::accumulate, scratch,
                  threads);
  });
}

void conv_backward_filter(const ConvProblem& problem, std::int64_t engine, ConstTensor x,
                          ConstTensor dy, Tensor dw, Write write, Workspace workspace,
                          int threads) {
  check_engine(engine);
  for_floating(problem.dtype, [&]<class T>(T) {
    const FilterCut cut(problem);
    std::byte* scratch = scratch_base(workspace, filter_gradient_scratch<T>(cut));
    filter_gradient(cut, x.as<T>(), dy.as<T>(), dw.as<T>(), write == Write::accumulate, scratch,
                    threads);
  });
}

void bias_gradient(ConstTensor dy, Tensor db, Write write, int threads) {
  const std::int64_t batch = dy.shape[0], channels = dy.shape[1];
  const std::int64_t spatial = dy.shape.elements() / batch / channels;
  for_floating(dy.dtype, [&]<class T>(T) {
    const T* from = dy.as<T>();
    T* to = db.as<T>();
    const Pieces pieces(channels, 16);
    parallel_tiles(threads, pieces.count, [&](int, std::int64_t piece) {
      const std::int64_t begin = pieces.begin(piece);
      for (std::int64_t c = begin; c < begin + pieces.size(piece); ++c) {
        double sum = 0;
        for (std::int64_t n = 0; n < batch; ++n)
          sum += plane_sum(from + (n * channels + c) * spatial, spatial);
        to[c] = static_cast<T>(write == Write::accumulate ? to[c] + sum : sum);
      }
    });
  });
}

}  // namespace arenagrad::cpu
