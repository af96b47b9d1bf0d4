#include "kernels/cpu/conv_data.h"

#include <algorithm>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/parallel.h"

namespace arenagrad::cpu {

namespace {

// Sizes in elements, chosen by measurement.
constexpr std::int64_t kColumns = 448;      // pixels of a step
constexpr std::int64_t kPanel = 448 * 288;  // pixels x filter elements
constexpr std::int64_t kFewestInputs = 16;  // of a tile
constexpr std::int64_t kTurnPiece = 32;     // input channels turned by one tile

/// The problem whose forward pass takes dy to dx.
ConvProblem turned(const ConvProblem& p) {
  ConvProblem t = p;
  t.in_channels = p.out_channels, t.in_h = p.out_h, t.in_w = p.out_w;
  t.out_channels = p.in_channels, t.out_h = p.in_h, t.out_w = p.in_w;
  t.pad_h = p.dilation_h * (p.kernel_h - 1) - p.pad_h;
  t.pad_w = p.dilation_w * (p.kernel_w - 1) - p.pad_w;
  return t;
}

/// The filters as the gradient's left operand. Turned: a row for each input channel, [out][kernel,
/// reversed]. Transposed: a row for each (input channel, kernel element), [out]. Both are the same
/// for a 1x1 kernel.
template <class T>
struct DataFilters {
  DataFilters(const ConvProblem& p, bool turned)
      : groups(p.groups),
        outs(p.out_channels / p.groups),
        ins(p.in_channels / p.groups),
        kernel(p.kernel_h * p.kernel_w),
        rows(turned ? ins : ins * kernel),
        stride(spread_stride<T>(turned ? outs * kernel : outs)) {}

  std::int64_t groups, outs, ins, kernel;  // outs and ins of one group
  std::int64_t rows, stride;               // of one group
  std::size_t bytes() const { return line_bytes<T>(groups * rows * stride); }

  void fill(const T* w, T* to, int threads) const {
    const Pieces pieces(rows, kTurnPiece);
    parallel_tiles(threads, groups * pieces.count, [&](int, std::int64_t tile) {
      const std::int64_t group = tile / pieces.count, piece = tile % pieces.count;
      const std::int64_t begin = pieces.begin(piece), count = pieces.size(piece);
      const T* from = w + group * outs * ins * kernel;
      T* place = to + (group * rows + begin) * stride;
      if (rows == ins * kernel)
        pack_transposed(Panel<T>(count, outs, stride, place), 0, count, from + begin, rows);
      else
        turn(from, begin, count, place);
    });
  }

 private:
  void turn(const T* w, std::int64_t begin, std::int64_t count, T* to) const {
    for (std::int64_t out = 0; out < outs; ++out)
      for (std::int64_t in = 0; in < count; ++in) {
        const T* from = w + (out * ins + begin + in) * kernel;
        T* place = to + in * stride + out * kernel;
        for (std::int64_t i = 0; i < kernel; ++i) place[kernel - 1 - i] = from[i];
      }
  }
};

/// A tile is some input channels of one image, or of several small ones; it takes the output lines
/// in steps.
struct FoldCut {
  explicit FoldCut(const ConvProblem& p)
      : unroll(p),
        groups(p.groups),
        channels(p.out_channels / p.groups),
        inputs(p.in_channels / p.groups),
        images(p.batch, std::min(kColumns, kPanel / channels) / unroll.out_plane()),
        lines(p.out_h,
              images.piece > 1 ? p.out_h : std::min(kColumns, kPanel / channels) / p.out_w),
        ins(inputs, kPanel / (columns() * unroll.kernel())) {
    const std::int64_t wanted = divide_up(kLanes, images.count * p.groups * ins.count);
    ins = Pieces(inputs, std::min(ins.piece, std::max(kFewestInputs, divide_up(inputs, wanted))));
  }
  std::int64_t columns() const { return images.piece * lines.piece * unroll.out_w; }
  std::int64_t rows() const { return ins.piece * unroll.kernel(); }
  std::int64_t tiles() const { return images.count * groups * ins.count; }

  Unroll unroll;
  std::int64_t groups, channels, inputs;  // channels and inputs of one group
  Pieces images, lines, ins;
};

template <class T>
struct FoldLayout {
  explicit FoldLayout(const FoldCut& cut)
      : unrolled(line_bytes<T>(cut.rows() * cut.columns())),
        lane(unrolled + line_bytes<T>(panel_elements<T>(cut.channels, cut.columns()))) {}
  std::size_t unrolled, lane;
};

template <class T>
void fold(const FoldCut& cut, const T* dy, const T* filters, std::int64_t filter_stride, T* dx,
          bool accumulate, std::byte* scratch, int threads) {
  const FoldLayout<T> layout(cut);
  const Unroll& u = cut.unroll;
  const std::int64_t out_image = cut.groups * cut.channels * u.out_plane();
  const std::int64_t in_image = cut.groups * cut.inputs * u.in_plane();
  parallel_tiles(threads, cut.tiles(), [&](int slot, std::int64_t tile) {
    std::byte* mine = scratch + slot * layout.lane;
    T* unrolled = reinterpret_cast<T*>(mine);
    T* panel_data = reinterpret_cast<T*>(mine + layout.unrolled);
    const std::int64_t piece = tile % cut.ins.count;
    const std::int64_t group = tile / cut.ins.count % cut.groups;
    const std::int64_t image = cut.images.begin(tile / cut.ins.count / cut.groups);
    const std::int64_t images = cut.images.size(tile / cut.ins.count / cut.groups);
    const std::int64_t in = cut.ins.begin(piece), ins = cut.ins.size(piece);
    const T* from = dy + image * out_image + group * cut.channels * u.out_plane();
    T* to = dx + image * in_image + (group * cut.inputs + in) * u.in_plane();
    if (!accumulate)
      for (std::int64_t i = 0; i < images; ++i)
        std::fill_n(to + i * in_image, ins * u.in_plane(), T(0));

    Product<T> product{};
    product.m = ins * u.kernel();
    product.a = filters + (group * cut.inputs + in) * u.kernel() * filter_stride;
    product.a_row = filter_stride, product.a_column = 1;
    product.c = unrolled;
    for (std::int64_t step = 0; step < cut.lines.count; ++step) {
      const std::int64_t line = cut.lines.begin(step), lines = cut.lines.size(step);
      const std::int64_t pixels = lines * u.out_w;
      const Panel<T> panel(cut.channels, images * pixels, panel_data);
      for (std::int64_t channel = 0; channel < cut.channels; ++channel)
        for (std::int64_t i = 0; i < images; ++i)
          pack_row(panel, channel, i * pixels, pixels,
                   from + i * out_image + channel * u.out_plane() + line * u.out_w);
      pack_padding(panel, 0, panel.k);
      product.c_stride = panel.n;
      gemm(product, panel);
      for (std::int64_t i = 0; i < images; ++i)
        col2im_add(u, {0, product.m, line, lines}, unrolled + i * pixels, panel.n,
                   to + i * in_image);
    }
  });
}

}  // namespace

bool data_gradient_convolves(const ConvProblem& p) {
  // Not where the input is much larger than the output: the turned convolution would mostly
  // multiply padding.
  return p.stride_h == 1 && p.stride_w == 1 && 2 * p.in_h * p.in_w <= 3 * p.out_h * p.out_w;
}

template <class T>
std::size_t data_gradient_scratch(const ConvProblem& p) {
  const bool convolves = data_gradient_convolves(p);
  return DataFilters<T>(p, convolves).bytes() + (convolves
                                                     ? convolve_scratch<T>(ConvolveCut(turned(p)))
                                                     : FoldLayout<T>(FoldCut(p)).lane * kLanes);
}

template <class T>
void data_gradient(const ConvProblem& p, const T* dy, const T* w, T* dx, bool accumulate,
                   std::byte* scratch, int threads) {
  const bool convolves = data_gradient_convolves(p);
  const DataFilters<T> filters(p, convolves);
  T* rows = reinterpret_cast<T*>(scratch);
  filters.fill(w, rows, threads);
  scratch += filters.bytes();
  if (convolves) {
    const Convolve<T> operands{dy, rows, filters.stride, nullptr, dx, accumulate};
    convolve(ConvolveCut(turned(p)), operands, scratch, threads);
  } else {
    fold(FoldCut(p), dy, rows, filters.stride, dx, accumulate, scratch, threads);
  }
}

template std::size_t data_gradient_scratch<float>(const ConvProblem&);
template std::size_t data_gradient_scratch<double>(const ConvProblem&);
template void data_gradient<float>(const ConvProblem&, const float*, const float*, float*, bool,
                                   std::byte*, int);
template void data_gradient<double>(const ConvProblem&, const double*, const double*, double*, bool,
                                    std::byte*, int);

}  // namespace arenagrad::cpu
