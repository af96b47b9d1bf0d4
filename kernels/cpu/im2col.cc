#include "kernels/cpu/im2col.h"

#include <algorithm>

namespace arenagrad::cpu {

namespace {

/// [begin, end) of the outputs whose input, output * stride + shift, lies in [0, length).
struct Inside {
  std::int64_t begin, end;

  Inside(std::int64_t length, std::int64_t outputs, std::int64_t stride, std::int64_t shift) {
    begin = shift >= 0 ? 0 : std::min(outputs, (-shift + stride - 1) / stride);
    const std::int64_t room = length - shift;
    end = room <= 0 ? 0 : std::min(outputs, (room + stride - 1) / stride);
    end = std::max(begin, end);
  }
};

/// One row of the matrix: which kernel element, which outputs it has inputs for.
struct Row {
  std::int64_t channel, shift_h, shift_w;
  Inside h, w;

  Row(const Unroll& u, std::int64_t row)
      : channel(row / u.kernel()),
        shift_h(row % u.kernel() / u.kernel_w * u.dilation_h - u.pad_h),
        shift_w(row % u.kernel_w * u.dilation_w - u.pad_w),
        h(u.in_h, u.out_h, u.stride_h, shift_h),
        w(u.in_w, u.out_w, u.stride_w, shift_w) {}
};

/// Outputs [begin, end) of one line.
template <class T>
void gather_line(const Unroll& u, const Row& row, const T* plane, std::int64_t line,
                 std::int64_t begin, std::int64_t end, T* to) {
  std::int64_t inside = std::clamp(row.w.begin, begin, end);
  std::int64_t outside = std::clamp(row.w.end, inside, end);
  if (line < row.h.begin || line >= row.h.end) inside = outside = end;
  const T* from = plane + (line * u.stride_h + row.shift_h) * u.in_w + row.shift_w;
  std::fill(to, to + (inside - begin), T(0));
  to -= begin;
  if (u.stride_w == 1)
    std::copy(from + inside, from + outside, to + inside);
  else if (u.stride_w == 2)
    for (std::int64_t x = inside; x < outside; ++x) to[x] = from[2 * x];
  else
    for (std::int64_t x = inside; x < outside; ++x) to[x] = from[u.stride_w * x];
  std::fill(to + outside, to + end, T(0));
}

/// Whole lines with stride 1 that are as long as the input's are one shifted copy, in which only
/// what ran over the ends of a line is wrong: outputs [begin, end) of [first, last), each from
/// `shift` further.
struct Shifted {
  std::int64_t shift, first, last, begin, end;

  Shifted(const Unroll& u, const Row& row, std::int64_t line, std::int64_t lines)
      : shift(row.shift_h * u.out_w + row.shift_w),
        first(line * u.out_w),
        last(first + lines * u.out_w),
        begin(std::clamp(std::max(row.h.begin * u.out_w, -shift), first, last)),
        end(std::clamp(std::min(row.h.end * u.out_w, u.in_plane() - shift), begin, last)) {}
};

template <class T>
void copy_shifted(const Unroll& u, const Row& row, const T* plane, std::int64_t line,
                  std::int64_t lines, T* to) {
  const Shifted part(u, row, line, lines);
  const std::int64_t width = u.out_w;
  std::fill(to, to + (part.begin - part.first), T(0));
  std::copy(plane + part.begin + part.shift, plane + part.end + part.shift,
            to + (part.begin - part.first));
  std::fill(to + (part.end - part.first), to + (part.last - part.first), T(0));
  for (std::int64_t x = 0; x < row.w.begin; ++x)
    for (T* at = to + x; at < to + lines * width; at += width) *at = T(0);
  for (std::int64_t x = row.w.end; x < width; ++x)
    for (T* at = to + x; at < to + lines * width; at += width) *at = T(0);
}

/// Writes rows of a panel. Long shifted copies go where they belong, as does everything in a panel
/// of one strip; the rest is put together in a small buffer, which stays in the L1 cache.
template <class T>
class RowWriter {
 public:
  explicit RowWriter(const Panel<T>& panel) : panel_(panel) {}

  void begin_row(std::int64_t row) { row_ = row, column_ = 0; }

  void write(const Unroll& u, const Row& row, const T* plane, std::int64_t line,
             std::int64_t lines) {
    if (u.out_w > kBuffer) {
      for (const std::int64_t end = line + lines; line < end; ++line)
        for (std::int64_t x = 0; x < u.out_w; x += kBuffer) {
          const std::int64_t count = std::min(kBuffer, u.out_w - x);
          gather_line(u, row, plane, line, x, x + count, room(count));
        }
      return;
    }
    const bool shifted = u.stride_h == 1 && u.stride_w == 1 && u.out_w == u.in_w;
    if (shifted && lines * u.out_w >= kDirect && panel_.width < panel_.n) {
      end_row();
      pack_shifted(u, row, plane, line, lines);
      column_ += lines * u.out_w;
      return;
    }
    while (lines > 0) {
      const std::int64_t part = std::min(lines, kBuffer / u.out_w);
      T* to = room(part * u.out_w);
      if (shifted)
        copy_shifted(u, row, plane, line, part, to);
      else
        for (std::int64_t i = 0; i < part; ++i)
          gather_line(u, row, plane, line + i, 0, u.out_w, to + i * u.out_w);
      line += part, lines -= part;
    }
  }

  void end_row() {
    pack_row(panel_, row_, column_, used_, buffer_);
    column_ += used_, used_ = 0;
  }

 private:
  T* room(std::int64_t count) {
    if (panel_.width >= panel_.n) {
      column_ += count;
      return panel_.data + row_ * panel_.width + column_ - count;
    }
    if (used_ + count > kBuffer) end_row();
    used_ += count;
    return buffer_ + used_ - count;
  }

  void pack_shifted(const Unroll& u, const Row& row, const T* plane, std::int64_t line,
                    std::int64_t lines) {
    const Shifted part(u, row, line, lines);
    pack_zeros(panel_, row_, column_, 1, part.begin - part.first);
    pack_row(panel_, row_, column_ + part.begin - part.first, part.end - part.begin,
             plane + part.begin + part.shift);
    pack_zeros(panel_, row_, column_ + part.end - part.first, 1, part.last - part.end);
    for (std::int64_t x = 0; x < row.w.begin; ++x)
      pack_zeros(panel_, row_, column_ + x, u.out_w, lines);
    for (std::int64_t x = row.w.end; x < u.out_w; ++x)
      pack_zeros(panel_, row_, column_ + x, u.out_w, lines);
  }

  static constexpr std::int64_t kBuffer = 1024, kDirect = 192;
  const Panel<T>& panel_;
  std::int64_t row_ = 0, column_ = 0, used_ = 0;
  T buffer_[kBuffer];
};

/// Asks for the lines of a plane that a piece reads. They are a run too short for the hardware to
/// notice in time, so the next channel's are fetched while this one's are unrolled.
template <class T>
void prefetch_lines(const Unroll& u, const UnrollPiece& piece, const T* plane) {
  constexpr std::int64_t kMost = 8192 / sizeof(T);
  const std::int64_t top = std::clamp<std::int64_t>(piece.line * u.stride_h - u.pad_h, 0, u.in_h);
  const std::int64_t end = std::clamp<std::int64_t>(
      (piece.line + piece.lines - 1) * u.stride_h - u.pad_h + (u.kernel_h - 1) * u.dilation_h + 1,
      top, u.in_h);
  const std::int64_t count = std::min((end - top) * u.in_w, kMost);
  for (std::int64_t i = 0; i < count; i += 64 / sizeof(T))
    __builtin_prefetch(plane + top * u.in_w + i);
}

}  // namespace

template <class T>
void im2col(const Unroll& u, const UnrollPiece& piece, const Images<T>& images,
            const Panel<T>& panel) {
  RowWriter<T> writer(panel);
  for (std::int64_t r = 0; r < piece.rows; ++r) {
    const Row row(u, piece.row + r);
    const T* plane = images.first + row.channel * u.in_plane();
    const bool first_of_channel = (piece.row + r) % u.kernel() == 0;
    if (first_of_channel && r + u.kernel() < piece.rows)
      for (std::int64_t i = 0; i < images.count; ++i)
        prefetch_lines(u, piece, plane + u.in_plane() + i * images.stride);
    writer.begin_row(r);
    for (std::int64_t i = 0; i < images.count; ++i, plane += images.stride)
      writer.write(u, row, plane, piece.line, piece.lines);
    writer.end_row();
  }
  pack_padding(panel, 0, piece.rows);
}

template <class T>
void col2im_add(const Unroll& u, const UnrollPiece& piece, const T* column, std::int64_t stride,
                T* image) {
  for (std::int64_t r = piece.row; r < piece.row + piece.rows; ++r, column += stride) {
    const Row row(u, r);
    T* plane = image + row.channel * u.in_plane();
    const std::int64_t begin = std::max(piece.line, row.h.begin);
    const std::int64_t end = std::min(piece.line + piece.lines, row.h.end);
    for (std::int64_t line = begin; line < end; ++line) {
      const T* from = column + (line - piece.line) * u.out_w;
      T* to = plane + (line * u.stride_h + row.shift_h) * u.in_w + row.shift_w;
      if (u.stride_w == 1)
        for (std::int64_t x = row.w.begin; x < row.w.end; ++x) to[x] += from[x];
      else
        for (std::int64_t x = row.w.begin; x < row.w.end; ++x) to[u.stride_w * x] += from[x];
    }
  }
}

template void im2col<float>(const Unroll&, const UnrollPiece&, const Images<float>&,
                            const Panel<float>&);
template void im2col<double>(const Unroll&, const UnrollPiece&, const Images<double>&,
                             const Panel<double>&);
template void col2im_add<float>(const Unroll&, const UnrollPiece&, const float*, std::int64_t,
                                float*);
template void col2im_add<double>(const Unroll&, const UnrollPiece&, const double*, std::int64_t,
                                 double*);

}  // namespace arenagrad::cpu
