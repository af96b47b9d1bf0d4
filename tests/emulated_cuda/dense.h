// Tensors as the emulated libraries see them: four dimensions with strides, f32 or f64, arithmetic
// in double.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace emulated_cuda {

/// *place = value + keep * what was there; with keep 0 the place is not read.
template <class T>
void blend(T* place, double value, double keep) {
  *place = static_cast<T>(keep == 0 ? value : value + keep * static_cast<double>(*place));
}

struct Layout4 {
  std::array<std::int64_t, 4> dims{}, strides{};
  bool wide = false;  // f64
  std::size_t element() const { return wide ? sizeof(double) : sizeof(float); }
  /// Bytes from the first element's begin to the last one's end.
  std::size_t extent() const {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < 4; ++i) last += (dims[i] - 1) * strides[i];
    return static_cast<std::size_t>(last + 1) * element();
  }
  std::int64_t at(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) const {
    return a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3];
  }
  friend bool operator==(const Layout4&, const Layout4&) = default;
};

/// Elements behind a pointer of either type.
class Numbers {
 public:
  Numbers(const void* data, bool wide) : data_(const_cast<void*>(data)), wide_(wide) {}
  double get(std::int64_t i) const {
    return wide_ ? static_cast<double*>(data_)[i]
                 : static_cast<double>(static_cast<float*>(data_)[i]);
  }
  void put(std::int64_t i, double value, double keep = 0) const {
    if (wide_)
      blend(static_cast<double*>(data_) + i, value, keep);
    else
      blend(static_cast<float*>(data_) + i, value, keep);
  }

 private:
  void* data_;
  bool wide_;
};

}  // namespace emulated_cuda
