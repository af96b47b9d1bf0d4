#include "kernels/cpu/linear.h"

#include <algorithm>

#include "kernels/cpu/floating.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/scratch.h"

namespace arenagrad::cpu {

namespace {

// Sizes in elements, chosen by measurement. A panel stays in the L2 cache; rows of the weights are
// read and written in runs as long as that allows, since with a small batch memory's speed is the
// limit.
constexpr std::int64_t kPanel = 1 << 17;
constexpr std::int64_t kBatch = 512, kColumns = 4096, kDepth = 512;
constexpr std::int64_t kOutputs = 64;  // of a tile of the forward pass

/// Forward is computed as y^T = w x^T: the weights, most of the bytes, are read once and where they
/// are; x is packed once for all tiles, a panel for each piece of the batch and step of the depth.
struct ForwardCut {
  explicit ForwardCut(const LinearProblem& p)
      : outputs(p.out_features, kOutputs),
        batch(p.batch, kBatch),
        depth(p.in_features, kPanel / panel_elements<float>(1, batch.piece)) {}
  Pieces outputs, batch, depth;
};

template <class T>
struct ForwardLayout {
  explicit ForwardLayout(const ForwardCut& cut)
      : panel(panel_elements<T>(cut.depth.piece, cut.batch.piece)),
        panels(line_bytes<T>(panel * cut.depth.count * cut.batch.count)),
        lane(line_bytes<T>(cut.outputs.piece * cut.batch.piece)) {}
  std::int64_t panel;  // elements, a multiple of a cache line's
  std::size_t panels, lane;
  std::size_t total() const { return panels + lane * kLanes; }
};

template <class T>
class Forward {
 public:
  Forward(const LinearProblem& p, std::byte* scratch)
      : p_(p), cut_(p), layout_(cut_), scratch_(scratch) {}

  void run(const T* x, const T* w, const T* bias, T* y, int threads) const {
    parallel_tiles(threads, cut_.batch.count * cut_.depth.count, [&](int, std::int64_t tile) {
      const Panel<T> to = panel(tile / cut_.depth.count, tile % cut_.depth.count);
      pack_transposed(to, 0, to.k,
                      x + cut_.batch.begin(tile / cut_.depth.count) * p_.in_features +
                          cut_.depth.begin(tile % cut_.depth.count),
                      p_.in_features);
    });
    parallel_tiles(threads, cut_.outputs.count * cut_.batch.count,
                   [&](int slot, std::int64_t tile) {
                     multiply(slot, tile / cut_.batch.count, tile % cut_.batch.count, w, bias, y);
                   });
  }

 private:
  Panel<T> panel(std::int64_t batch_piece, std::int64_t step) const {
    T* panels = reinterpret_cast<T*>(scratch_);
    return {cut_.depth.size(step), cut_.batch.size(batch_piece),
            panels + (batch_piece * cut_.depth.count + step) * layout_.panel};
  }

  void multiply(int slot, std::int64_t output_piece, std::int64_t batch_piece, const T* w,
                const T* bias, T* y) const {
    T* sum = reinterpret_cast<T*>(scratch_ + layout_.panels + slot * layout_.lane);
    const std::int64_t output = cut_.outputs.begin(output_piece);
    const std::int64_t batch = cut_.batch.size(batch_piece);
    Product<T> product{};
    product.m = cut_.outputs.size(output_piece);
    product.a_row = p_.in_features, product.a_column = 1;
    product.c = sum, product.c_stride = batch;
    for (std::int64_t step = 0; step < cut_.depth.count; ++step) {
      product.a = w + output * p_.in_features + cut_.depth.begin(step);
      product.accumulate = step > 0;
      gemm(product, panel(batch_piece, step));
    }
    y += cut_.batch.begin(batch_piece) * p_.out_features + output;
    for (std::int64_t n = 0; n < batch; ++n)
      for (std::int64_t i = 0; i < product.m; ++i)
        y[n * p_.out_features + i] =
            sum[i * batch + n] + (bias == nullptr ? T(0) : bias[output + i]);
  }

  LinearProblem p_;
  ForwardCut cut_;
  ForwardLayout<T> layout_;
  std::byte* scratch_;
};

/// Both backwards are c[m, in_features] (=|+=) a b with b cut by columns, packed lane by lane.
template <class T>
struct Backward {
  std::int64_t n, k;
  Product<T> product;  // whole: without tile and step
  const T* b;          // k x n, dense
};

struct BackwardCut {
  BackwardCut(const LinearProblem& p, ConvPass pass)
      : columns(p.in_features, std::min(kColumns, divide_up(p.in_features, kLanes)), 32),
        depth(pass == ConvPass::backward_data ? p.out_features : p.batch,
              std::min(kDepth, kPanel / columns.piece)) {}
  template <class T>
  std::size_t lane() const {
    return line_bytes<T>(panel_elements<T>(depth.piece, columns.piece));
  }
  Pieces columns, depth;
};

template <class T>
void run(const BackwardCut& cut, const Backward<T>& whole, Workspace workspace, int threads) {
  std::byte* scratch = scratch_base(workspace, cut.lane<T>() * kLanes);
  parallel_tiles(threads, cut.columns.count, [&](int slot, std::int64_t tile) {
    const std::int64_t column = cut.columns.begin(tile);
    Product<T> product = whole.product;
    product.c += column;
    for (std::int64_t step = 0; step < cut.depth.count; ++step) {
      const std::int64_t begin = cut.depth.begin(step);
      const Panel<T> panel(cut.depth.size(step), cut.columns.size(tile),
                           reinterpret_cast<T*>(scratch + slot * cut.lane<T>()));
      pack(panel, whole.b + begin * whole.n + column, whole.n);
      product.a = whole.product.a + begin * product.a_column;
      gemm(product, panel);
      product.accumulate = true;
    }
  });
}

}  // namespace

std::size_t linear_workspace(const LinearProblem& p, ConvPass pass) {
  return for_floating(p.dtype, [&]<class T>(T) {
    if (pass == ConvPass::forward) return ForwardLayout<T>(ForwardCut(p)).total();
    return BackwardCut(p, pass).lane<T>() * kLanes;
  });
}

void linear_forward(const LinearProblem& p, ConstTensor x, ConstTensor w, ConstTensor bias,
                    Tensor y, Workspace workspace, int threads) {
  for_floating(p.dtype, [&]<class T>(T) {
    std::byte* scratch = scratch_base(workspace, linear_workspace(p, ConvPass::forward));
    Forward<T>(p, scratch)
        .run(x.as<T>(), w.as<T>(), bias ? bias.as<T>() : nullptr, y.as<T>(), threads);
  });
}

void linear_backward_data(const LinearProblem& p, ConstTensor dy, ConstTensor w, Tensor dx,
                          Write write, Workspace workspace, int threads) {
  for_floating(p.dtype, [&]<class T>(T) {
    const Product<T> product{p.batch,
                             dy.as<T>(),
                             p.out_features,
                             1,
                             dx.as<T>(),
                             p.in_features,
                             write == Write::accumulate};
    run(BackwardCut(p, ConvPass::backward_data),
        Backward<T>{p.in_features, p.out_features, product, w.as<T>()}, workspace, threads);
  });
}

void linear_backward_weight(const LinearProblem& p, ConstTensor x, ConstTensor dy, Tensor dw,
                            Write write, Workspace workspace, int threads) {
  for_floating(p.dtype, [&]<class T>(T) {
    const Product<T> product{p.out_features,
                             dy.as<T>(),
                             1,
                             p.out_features,
                             dw.as<T>(),
                             p.in_features,
                             write == Write::accumulate};
    run(BackwardCut(p, ConvPass::backward_filter),
        Backward<T>{p.in_features, p.batch, product, x.as<T>()}, workspace, threads);
  });
}

}  // namespace arenagrad::cpu
