#include "experiments/data_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace arenagrad {
namespace {

/// Where an output pixel's centre falls between two input pixels: the lower one and the share of
/// the upper one.
std::pair<std::int64_t, float> source(std::int64_t out, std::int64_t out_size,
                                      std::int64_t in_size) {
  const double scale = static_cast<double>(in_size) / static_cast<double>(out_size);
  const double at = std::clamp((static_cast<double>(out) + 0.5) * scale - 0.5, 0.0,
                               static_cast<double>(in_size - 1));
  const auto lower = static_cast<std::int64_t>(std::floor(at));
  return {lower, static_cast<float>(at - static_cast<double>(lower))};
}

}  // namespace

DataFeed::DataFeed(LabelledImages data, const Shape& sample) : data_(std::move(data)) {
  if (sample.rank() != 3)
    throw Error(
        fmt::format("--data: expected a model whose input is channels x height x width, got "
                    "{}",
                    sample.text()));
  channels_ = sample[0];
  height_ = sample[1];
  width_ = sample[2];
  plane_.resize(static_cast<std::size_t>(height_ * width_));
}

void DataFeed::resize(std::int64_t image) {
  const auto* pixels = data_.pixels.data() + image * data_.height * data_.width;
  const float brightest = std::max<float>(1, data_.largest);
  for (std::int64_t y = 0; y < height_; ++y) {
    const auto [top, down] = source(y, height_, data_.height);
    const auto bottom = std::min(top + 1, data_.height - 1);
    for (std::int64_t x = 0; x < width_; ++x) {
      const auto [left, across] = source(x, width_, data_.width);
      const auto right = std::min(left + 1, data_.width - 1);
      const auto at = [&](std::int64_t row, std::int64_t column) {
        return static_cast<float>(pixels[row * data_.width + column]) / brightest;
      };
      const float upper = at(top, left) + across * (at(top, right) - at(top, left));
      const float lower = at(bottom, left) + across * (at(bottom, right) - at(bottom, left));
      plane_[static_cast<std::size_t>(y * width_ + x)] = upper + down * (lower - upper);
    }
  }
}

template <class T>
void DataFeed::write_samples(std::int64_t first, Backend& backend, Tensor t) {
  const auto samples = t.shape[0];
  staging_.resize(static_cast<std::size_t>(t.shape.elements()) * sizeof(T));
  auto* out = reinterpret_cast<T*>(staging_.data());
  for (std::int64_t i = 0; i < samples; ++i) {
    resize((first + i) % data_.count);
    for (std::int64_t channel = 0; channel < channels_; ++channel)
      out = std::copy(plane_.begin(), plane_.end(), out);
  }
  backend.copy_from_host(t, staging_.data());
}

void DataFeed::write(const Tape& tape, TensorId id, std::int64_t step, std::int64_t batch,
                     std::int64_t first_sample, Backend& backend, Tensor t) {
  const auto first = step * batch + first_sample;
  if (!tape.tensor(id).is_labels) {
    t.dtype == DType::f64 ? write_samples<double>(first, backend, t)
                          : write_samples<float>(first, backend, t);
    return;
  }
  staging_.resize(static_cast<std::size_t>(t.shape[0]) * sizeof(std::int64_t));
  auto* out = reinterpret_cast<std::int64_t*>(staging_.data());
  for (std::int64_t i = 0; i < t.shape[0]; ++i)
    out[i] = data_.labels[static_cast<std::size_t>((first + i) % data_.count)];
  backend.copy_from_host(t, staging_.data());
}

std::string DataFeed::describe() const {
  auto text = fmt::format("{} images of {}x{}, values divided by their largest, {}", data_.count,
                          data_.height, data_.width, std::max(1, int{data_.largest}));
  if (height_ != data_.height || width_ != data_.width)
    text += fmt::format(", scaled bilinearly to {}x{}", height_, width_);
  if (channels_ != 1) text += fmt::format(", repeated over {} channels", channels_);
  return text;
}

std::size_t DataFeed::bytes() const {
  return data_.bytes() + plane_.size() * sizeof(float) + staging_.size();
}

}  // namespace arenagrad
