// Feeds a model from labelled images: scaled to the model's shape, wrapping round at the end.
#pragma once

#include <string>
#include <vector>

#include "experiments/idx.h"
#include "graph/execute.h"

namespace arenagrad {

/// Pixels are divided by the brightest one of the file, so values lie in [0, 1] whatever the file's
/// scale. Where the model wants another height or width, each image is resized bilinearly (centres
/// of pixels aligned, edges clamped, no smoothing when it shrinks). The grey channel is repeated
/// for each channel of the model.
///
/// Step t reads samples t*N .. t*N + N - 1 of the file, which wraps round.
class DataFeed final : public Feed {
 public:
  /// `sample`: the model's input, channels x height x width. Throws Error when it has another rank.
  DataFeed(LabelledImages data, const Shape& sample);

  void write(const Tape& tape, TensorId id, std::int64_t step, std::int64_t batch,
             std::int64_t first_sample, Backend& backend, Tensor t) override;

  /// One sentence on what is done to the images, for the user.
  std::string describe() const;
  /// Memory held: the images, as the file has them and as the model gets them one by one.
  std::size_t bytes() const;

 private:
  /// One grey image in the model's height and width, values in [0, 1].
  void resize(std::int64_t image);
  template <class T>
  void write_samples(std::int64_t first, Backend& backend, Tensor t);

  LabelledImages data_;
  std::int64_t channels_, height_, width_;
  std::vector<float> plane_;        // one resized grey image
  std::vector<std::byte> staging_;  // one micro-batch
};

}  // namespace arenagrad
