#include "experiments/data_feed.h"

#include <gtest/gtest.h>

#include "kernels/cpu/backend.h"
#include "tests/experiments/temporary.h"

namespace arenagrad {
namespace {

/// Two images of 2x2, brightest pixel 8.
LabelledImages two_images() {
  LabelledImages data;
  data.count = 2;
  data.height = data.width = 2;
  data.largest = 8;
  data.pixels = {0, 8, 4, 4, 8, 8, 8, 8};
  data.labels = {3, 1};
  return data;
}

struct Fixture {
  Tape tape;
  TensorId sample, labels;
  CpuBackend backend{1};
  explicit Fixture(Shape shape)
      : sample(tape.input("input", shape)), labels(tape.labels("labels", 10)) {}

  template <class T>
  std::vector<T> write(DataFeed& feed, TensorId id, Shape shape, std::int64_t step,
                       std::int64_t batch, std::int64_t first) {
    std::vector<T> values(static_cast<std::size_t>(shape.elements()));
    feed.write(tape, id, step, batch, first, backend, {values.data(), shape, dtype_of<T>});
    return values;
  }
};

TEST(DataFeed, DividesByTheBrightestPixelAndRepeatsChannels) {
  Fixture f({2, 2, 2});
  DataFeed feed(two_images(), {2, 2, 2});
  EXPECT_EQ(f.write<float>(feed, f.sample, {1, 2, 2, 2}, 0, 1, 0),
            (std::vector<float>{0, 1, 0.5, 0.5, 0, 1, 0.5, 0.5}));
  EXPECT_EQ(feed.describe(),
            "2 images of 2x2, values divided by their largest, 8, repeated over 2 channels");
}

TEST(DataFeed, WrapsRoundOverStepsAndMicroBatches) {
  Fixture f({1, 2, 2});
  DataFeed feed(two_images(), {1, 2, 2});
  // Step 1 of 3 samples begins at sample 3 of the stream: the file's sample 1.
  EXPECT_EQ(f.write<std::int64_t>(feed, f.labels, {2}, 1, 3, 0), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(f.write<std::int64_t>(feed, f.labels, {1}, 1, 3, 2), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(f.write<double>(feed, f.sample, {1, 1, 2, 2}, 1, 3, 0),
            (std::vector<double>{1, 1, 1, 1}));
}

TEST(DataFeed, ScalesBilinearlyWithPixelCentresAligned) {
  Fixture f({1, 4, 4});
  DataFeed feed(two_images(), {1, 4, 4});
  const auto image = f.write<double>(feed, f.sample, {1, 1, 4, 4}, 0, 1, 0);
  // Corners keep the corners' values; along the first row the centres fall at 0, .25, .75 and 1.
  EXPECT_EQ(std::vector(image.begin(), image.begin() + 4), (std::vector<double>{0, .25, .75, 1}));
  EXPECT_DOUBLE_EQ(image[5], 0.75 * 0.25 + 0.25 * 0.5);  // row .25, column .25
  EXPECT_EQ(image[15], 0.5);
  EXPECT_NE(feed.describe().find("scaled bilinearly to 4x4"), std::string::npos);
}

TEST(DataFeed, ShrinksToTheMiddleOfAnImage) {
  Fixture f({1, 1, 1});
  DataFeed feed(two_images(), {1, 1, 1});
  EXPECT_EQ(f.write<double>(feed, f.sample, {1, 1, 1, 1}, 0, 1, 0), (std::vector<double>{0.5}));
}

TEST(DataFeed, RefusesAModelWhoseInputIsNoImage) {
  EXPECT_EQ(test::message_of([] { DataFeed(two_images(), {12}); }),
            "--data: expected a model whose input is channels x height x width, got 12");
}

}  // namespace
}  // namespace arenagrad
