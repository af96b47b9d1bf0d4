#include "kernels/cpu/convolve.h"

#include <algorithm>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/parallel.h"

namespace arenagrad::cpu {

namespace {

// Sizes in elements, chosen by measurement: a panel of the unrolled image stays in a 1 MiB L2
// cache.
constexpr std::int64_t kColumns = 448;       // pixels of a tile
constexpr std::int64_t kPanel = 448 * 288;   // pixels x filter elements
constexpr std::int64_t kGatherBelow = 160;   // planes smaller than this are gathered
constexpr std::int64_t kSmallestRows = 128;  // of a tile's output channels

template <class T>
struct Layout {
  explicit Layout(const ConvolveCut& cut) {
    const std::int64_t columns = cut.columns();
    panel = line_bytes<T>(panel_elements<T>(cut.depth.piece, columns));
    if (cut.gathered) product = line_bytes<T>(cut.rows.piece * columns);
    lane = panel + product;
  }
  std::size_t panel = 0, product = 0, lane = 0;
};

}  // namespace

ConvolveCut::ConvolveCut(const ConvProblem& p)
    : unroll(p),
      batch(p.batch),
      groups(p.groups),
      channels(p.out_channels / p.groups),
      filter(p.in_channels / p.groups * unroll.kernel()),
      gathered(unroll.out_plane() < kGatherBelow && p.batch > 1),
      images(p.batch, gathered ? kColumns / unroll.out_plane() : 1),
      lines(p.out_h, gathered ? p.out_h : kColumns / p.out_w),
      rows(channels, channels),
      depth(filter, kPanel / columns()) {
  const std::int64_t wanted = divide_up(kLanes, tiles());
  rows = Pieces(channels, std::max(kSmallestRows, divide_up(channels, wanted)), 16);
}

template <class T>
std::size_t convolve_scratch(const ConvolveCut& cut) {
  return Layout<T>(cut).lane * kLanes;
}

template <class T>
void convolve(const ConvolveCut& cut, const Convolve<T>& o, std::byte* scratch, int threads) {
  const Layout<T> layout(cut);
  const Unroll& u = cut.unroll;
  const std::int64_t in_image = cut.filter / u.kernel() * u.in_plane();
  const std::int64_t out_image = cut.channels * u.out_plane();

  parallel_tiles(threads, cut.tiles(), [&](int slot, std::int64_t tile) {
    std::byte* mine = scratch + slot * layout.lane;
    T* panel_data = reinterpret_cast<T*>(mine);
    T* gathered = reinterpret_cast<T*>(mine + layout.panel);

    const std::int64_t row_piece = tile % cut.rows.count;
    const std::int64_t line_piece = tile / cut.rows.count % cut.lines.count;
    const std::int64_t group = tile / cut.rows.count / cut.lines.count % cut.groups;
    const std::int64_t image_piece = tile / cut.rows.count / cut.lines.count / cut.groups;
    const std::int64_t row = cut.rows.begin(row_piece), rows = cut.rows.size(row_piece);
    const std::int64_t line = cut.lines.begin(line_piece), lines = cut.lines.size(line_piece);
    const std::int64_t image = cut.images.begin(image_piece);
    const std::int64_t images = cut.images.size(image_piece);
    const std::int64_t pixels = lines * u.out_w, columns = images * pixels;

    const T* x = o.x + (image * cut.groups + group) * in_image;
    T* y = o.y + (image * cut.groups + group) * out_image + row * u.out_plane() + line * u.out_w;
    const T* bias = o.bias == nullptr ? nullptr : o.bias + group * cut.channels + row;
    const T* filters = o.filters + (group * cut.channels + row) * o.filter_stride;

    Product<T> product{};
    product.m = rows;
    product.a_row = o.filter_stride, product.a_column = 1;
    product.c = cut.gathered ? gathered : y;
    product.c_stride = cut.gathered ? columns : u.out_plane();
    product.accumulate = !cut.gathered && (o.accumulate || bias != nullptr);
    if (!cut.gathered && bias != nullptr)
      for (std::int64_t r = 0; r < rows; ++r) std::fill_n(y + r * u.out_plane(), pixels, bias[r]);
    for (std::int64_t step = 0; step < cut.depth.count; ++step) {
      const std::int64_t begin = cut.depth.begin(step);
      const Panel<T> panel(cut.depth.size(step), columns, panel_data);
      im2col(u, {begin, panel.k, line, lines}, Images<T>{x, images, cut.groups * in_image}, panel);
      product.a = filters + begin;
      gemm(product, panel);
      product.accumulate = true;
    }
    if (!cut.gathered) return;
    for (std::int64_t i = 0; i < images; ++i)
      for (std::int64_t r = 0; r < rows; ++r) {
        const T* from = gathered + r * columns + i * pixels;
        T* to = y + i * cut.groups * out_image + r * u.out_plane();
        const T offset = bias == nullptr ? T(0) : bias[r];
        for (std::int64_t j = 0; j < pixels; ++j)
          to[j] = (o.accumulate ? to[j] : T(0)) + from[j] + offset;
      }
  });
}

template std::size_t convolve_scratch<float>(const ConvolveCut&);
template std::size_t convolve_scratch<double>(const ConvolveCut&);
template void convolve<float>(const ConvolveCut&, const Convolve<float>&, std::byte*, int);
template void convolve<double>(const ConvolveCut&, const Convolve<double>&, std::byte*, int);

}  // namespace arenagrad::cpu
