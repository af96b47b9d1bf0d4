#include "kernels/cpu/conv_filter.h"

#include <algorithm>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/parallel.h"

namespace arenagrad::cpu {

namespace {

// Sizes in elements, chosen by measurement.
constexpr std::int64_t kPixels = 448;              // of a step of the sum
constexpr std::int64_t kPanel = 448 * 288;         // pixels x channels
constexpr std::int64_t kGatherBelow = 160;         // planes smaller than this are gathered
constexpr std::int64_t kUnrolledRows = 24;         // unrolled at a time: stay in the L1 or L2 cache
constexpr std::int64_t kLargestLaneSum = 1 << 16;  // gradients up to this are summed by lanes
constexpr std::int64_t kChannels = 512, kFewestChannels = 64, kFewestRows = 256;

template <class T>
struct Layout {
  explicit Layout(const FilterCut& cut)
      : unrolled(cut.direct() ? 0 : line_bytes<T>(kUnrolledRows * cut.pixels())),
        panel(line_bytes<T>(panel_elements<T>(cut.pixels(), cut.columns.piece))),
        sum_stride(spread_stride<T>(cut.columns.piece)),
        sum(line_bytes<T>(cut.rows.piece * sum_stride * (cut.summed_by_lanes ? cut.groups : 1))),
        lane(unrolled + panel + sum) {}
  std::size_t unrolled, panel;
  std::int64_t sum_stride;  // elements
  std::size_t sum, lane;
};

template <class T>
class FilterGradient {
 public:
  FilterGradient(const FilterCut& cut, const T* x, const T* dy, std::byte* scratch)
      : cut_(cut), layout_(cut), x_(x), dy_(dy), scratch_(scratch) {}

  T* sum(std::int64_t lane) const {
    return reinterpret_cast<T*>(scratch_ + lane * layout_.lane + layout_.unrolled + layout_.panel);
  }

  std::int64_t sum_stride() const { return layout_.sum_stride; }

  /// One step of the sum of one tile, into `to`: rows x columns of the tile.
  void add_step(int lane, std::int64_t group, std::int64_t row_piece, std::int64_t column_piece,
                std::int64_t step, T* to, bool accumulate) const {
    const Unroll& u = cut_.unroll;
    std::byte* mine = scratch_ + lane * layout_.lane;
    const std::int64_t in_image = cut_.filter / u.kernel() * u.in_plane();
    const std::int64_t out_image = cut_.channels * u.out_plane();
    const std::int64_t image = cut_.images.begin(step / cut_.lines.count);
    const std::int64_t images = cut_.images.size(step / cut_.lines.count);
    const std::int64_t line = cut_.lines.begin(step % cut_.lines.count);
    const std::int64_t lines = cut_.lines.size(step % cut_.lines.count);
    const std::int64_t pixels = lines * u.out_w;
    const T* x = x_ + (image * cut_.groups + group) * in_image;
    const T* dy = dy_ + (image * cut_.groups + group) * out_image + line * u.out_w +
                  cut_.columns.begin(column_piece) * u.out_plane();

    const Panel<T> panel(images * pixels, cut_.columns.size(column_piece),
                         reinterpret_cast<T*>(mine + layout_.unrolled));
    for (std::int64_t i = 0; i < images; ++i)
      pack_transposed(panel, i * pixels, pixels, dy + i * cut_.groups * out_image, u.out_plane());

    Product<T> product{};
    product.a_column = 1;
    product.c_stride = layout_.sum_stride;
    product.accumulate = accumulate;
    const std::int64_t begin = cut_.rows.begin(row_piece);
    const std::int64_t end = begin + cut_.rows.size(row_piece);
    if (cut_.direct()) {
      product.m = end - begin;
      product.a = x + begin * u.in_plane() + line * u.out_w, product.a_row = u.in_plane();
      product.c = to;
      gemm(product, panel);
      return;
    }
    for (std::int64_t row = begin; row < end; row += kUnrolledRows) {
      product.m = std::min(kUnrolledRows, end - row);
      T* unrolled = reinterpret_cast<T*>(mine);
      const Panel<T> plain(product.m, panel.k, panel.k, unrolled);
      im2col(u, {row, product.m, line, lines}, Images<T>{x, images, cut_.groups * in_image}, plain);
      product.a = unrolled, product.a_row = panel.k;
      product.c = to + (row - begin) * layout_.sum_stride;
      gemm(product, panel);
    }
  }

 private:
  const FilterCut& cut_;
  Layout<T> layout_;
  const T* x_;
  const T* dy_;
  std::byte* scratch_;
};

/// dw[j][i] (=|+=) the sum over lanes of sums[lane][i][j], for `columns` j and `rows` i: some
/// columns at a time, through a small square that turns them.
template <class T>
void write_turned(const FilterGradient<T>& gradient, std::int64_t lane, std::int64_t lanes,
                  std::int64_t place, std::int64_t rows, std::int64_t columns, T* dw,
                  std::int64_t dw_stride, bool accumulate) {
  constexpr std::int64_t kSide = 16, kRun = 256;
  T square[kSide][kRun];
  for (std::int64_t left = 0; left < columns; left += kSide)
    for (std::int64_t top = 0; top < rows; top += kRun) {
      const std::int64_t width = std::min(kSide, columns - left);
      const std::int64_t height = std::min(kRun, rows - top);
      for (std::int64_t i = 0; i < height; ++i) {
        const std::int64_t at = place + (top + i) * gradient.sum_stride() + left;
        T total[kSide];
        std::copy_n(gradient.sum(lane) + at, width, total);
        for (std::int64_t other = lane + 1; other < lane + lanes; ++other) {
          const T* from = gradient.sum(other) + at;
          for (std::int64_t j = 0; j < width; ++j) total[j] += from[j];
        }
        for (std::int64_t j = 0; j < width; ++j) square[j][i] = total[j];
      }
      for (std::int64_t j = 0; j < width; ++j) {
        T* to = dw + (left + j) * dw_stride + top;
        if (accumulate)
          for (std::int64_t i = 0; i < height; ++i) to[i] += square[j][i];
        else
          std::copy_n(square[j], height, to);
      }
    }
}

template <class T>
void sum_tiles(const FilterCut& cut, const FilterGradient<T>& gradient, T* dw, bool accumulate,
               int threads) {
  const std::int64_t tiles = cut.groups * cut.rows.count * cut.columns.count;
  parallel_tiles(threads, tiles, [&](int slot, std::int64_t tile) {
    const std::int64_t row_piece = tile % cut.rows.count;
    const std::int64_t column_piece = tile / cut.rows.count % cut.columns.count;
    const std::int64_t group = tile / cut.rows.count / cut.columns.count;
    for (std::int64_t step = 0; step < cut.images.count * cut.lines.count; ++step)
      gradient.add_step(slot, group, row_piece, column_piece, step, gradient.sum(slot), step > 0);
    const std::int64_t channel = group * cut.channels + cut.columns.begin(column_piece);
    write_turned(gradient, slot, 1, 0, cut.rows.size(row_piece), cut.columns.size(column_piece),
                 dw + channel * cut.filter + cut.rows.begin(row_piece), cut.filter, accumulate);
  });
}

template <class T>
void sum_lanes(const FilterCut& cut, const FilterGradient<T>& gradient, T* dw, bool accumulate,
               int threads) {
  const std::int64_t steps = cut.images.count * cut.lines.count;
  const std::int64_t group_size = cut.filter * gradient.sum_stride();
  parallel_lanes(threads, steps, [&](int lane, std::int64_t step) {
    const bool first = step < kLanes;  // of this lane
    for (std::int64_t group = 0; group < cut.groups; ++group)
      gradient.add_step(lane, group, 0, 0, step, gradient.sum(lane) + group * group_size, !first);
  });
  const std::int64_t lanes = std::min<std::int64_t>(steps, kLanes);
  const Pieces pieces(cut.channels, 16);
  parallel_tiles(threads, cut.groups * pieces.count, [&](int, std::int64_t tile) {
    const std::int64_t group = tile / pieces.count, begin = pieces.begin(tile % pieces.count);
    write_turned(gradient, 0, lanes, group * group_size + begin, cut.filter,
                 pieces.size(tile % pieces.count), dw + (group * cut.channels + begin) * cut.filter,
                 cut.filter, accumulate);
  });
}

}  // namespace

FilterCut::FilterCut(const ConvProblem& p)
    : unroll(p),
      batch(p.batch),
      groups(p.groups),
      channels(p.out_channels / p.groups),
      filter(p.in_channels / p.groups * unroll.kernel()),
      summed_by_lanes(elements() <= kLargestLaneSum),
      rows(filter, filter),
      columns(channels, summed_by_lanes ? channels : kChannels),
      gathered(unroll.out_plane() < kGatherBelow && p.batch > 1),
      images(1, 1),
      lines(1, 1) {
  if (!summed_by_lanes) {
    // Where x must be unrolled, cutting channels would unroll it again; else the cheaper cut is
    // this.
    if (unroll.identity() && !gathered)
      columns = Pieces(channels, std::max(kFewestChannels, divide_up(channels, kLanes)), 16);
    const std::int64_t wanted = divide_up(kLanes, groups * columns.count);
    rows = Pieces(filter, std::max(kFewestRows, divide_up(filter, wanted)), 8);
  }
  const std::int64_t step = std::min(kPixels, kPanel / columns.piece);
  images = Pieces(p.batch, gathered ? step / unroll.out_plane() : 1);
  gathered = images.piece > 1;
  lines = Pieces(p.out_h, gathered ? p.out_h : step / p.out_w);
}

template <class T>
std::size_t filter_gradient_scratch(const FilterCut& cut) {
  return Layout<T>(cut).lane * kLanes;
}

template <class T>
void filter_gradient(const FilterCut& cut, const T* x, const T* dy, T* dw, bool accumulate,
                     std::byte* scratch, int threads) {
  const FilterGradient<T> gradient(cut, x, dy, scratch);
  if (cut.summed_by_lanes)
    sum_lanes(cut, gradient, dw, accumulate, threads);
  else
    sum_tiles(cut, gradient, dw, accumulate, threads);
}

template std::size_t filter_gradient_scratch<float>(const FilterCut&);
template std::size_t filter_gradient_scratch<double>(const FilterCut&);
template void filter_gradient<float>(const FilterCut&, const float*, const float*, float*, bool,
                                     std::byte*, int);
template void filter_gradient<double>(const FilterCut&, const double*, const double*, double*, bool,
                                      std::byte*, int);

}  // namespace arenagrad::cpu
