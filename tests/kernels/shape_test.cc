#include "kernels/shape.h"

#include <gtest/gtest.h>

#include <limits>

namespace arenagrad {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(CheckedProduct, ReachesTheLastNumberAndNoFurther) {
  EXPECT_EQ(checked_product(0, kMax), 0);
  EXPECT_EQ(checked_product(1, kMax), kMax);
  EXPECT_EQ(checked_product(std::int64_t{1} << 31, std::int64_t{1} << 31), std::int64_t{1} << 62);
  EXPECT_THROW(checked_product(std::int64_t{1} << 31, std::int64_t{1} << 32), ShapeError);
  EXPECT_THROW(checked_product(kMax, 2), ShapeError);
}

TEST(CheckedProduct, ShowsBothFactors) {
  try {
    checked_product(kMax, 7);
    FAIL();
  } catch (const ShapeError& error) {
    EXPECT_NE(std::string(error.what()).find("9223372036854775807 * 7"), std::string::npos)
        << error.what();
  }
}

TEST(Shape, ScalarHasOneElement) {
  const Shape shape;
  EXPECT_EQ(shape.rank(), 0u);
  EXPECT_EQ(shape.elements(), 1);
  EXPECT_EQ(shape.text(), "scalar");
  EXPECT_EQ(shape, Shape(std::initializer_list<std::int64_t>{}));
}

TEST(Shape, CountsAndPrints) {
  const Shape shape{3, 224, 225};
  EXPECT_EQ(shape.rank(), 3u);
  EXPECT_EQ(shape[2], 225);
  EXPECT_EQ(shape.dims().size(), 3u);
  EXPECT_EQ(shape.elements(), 3 * 224 * 225);
  EXPECT_EQ(shape.text(), "3x224x225");
  EXPECT_NE(shape, (Shape{3, 225, 224}));
  EXPECT_NE(Shape{3}, (Shape{3, 1}));
}

TEST(Shape, PutsTheBatchInFront) {
  EXPECT_EQ((Shape{3, 4}.with_batch(7)), (Shape{7, 3, 4}));
  EXPECT_EQ(Shape().with_batch(7), Shape{7});
  EXPECT_THROW((Shape{1, 1, 1, 1, 1}.with_batch(2)), ShapeError);
  EXPECT_THROW(Shape{3}.with_batch(0), ShapeError);
  EXPECT_THROW(Shape{kMax}.with_batch(2), ShapeError);
}

TEST(Shape, RefusesWhatIsNoShape) {
  EXPECT_THROW((Shape{1, 1, 1, 1, 1, 1}), ShapeError);
  EXPECT_THROW((Shape{3, 0}), ShapeError);
  EXPECT_THROW((Shape{-1}), ShapeError);
  EXPECT_THROW((Shape{std::int64_t{1} << 32, std::int64_t{1} << 31}), ShapeError);
  EXPECT_EQ((Shape{std::int64_t{1} << 31, std::int64_t{1} << 31}.elements()),
            std::int64_t{1} << 62);
  try {
    Shape{3, 0, 5};
    FAIL();
  } catch (const ShapeError& error) {
    EXPECT_NE(std::string(error.what()).find("got 0 in 3x0x5"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace arenagrad
