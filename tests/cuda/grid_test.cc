// The arithmetic of cutting work into blocks.
#include "kernels/cuda/grid.h"

#include <gtest/gtest.h>

namespace arenagrad::cuda {
namespace {

TEST(Grid, CutsAnyNumberOfItems) {
  EXPECT_EQ(blocks_for(-1), 0);
  EXPECT_EQ(blocks_for(0), 0);
  EXPECT_EQ(blocks_for(1), 1);
  EXPECT_EQ(blocks_for(kBlock), 1);
  EXPECT_EQ(blocks_for(kBlock + 1), 2);
  EXPECT_EQ(blocks_for(kMostBlocks * kBlock - 1), kMostBlocks);
  for (const std::int64_t many : {std::int64_t{1} << 31, (std::int64_t{1} << 31) - 1,
                                  (std::int64_t{1} << 31) + 1, INT64_MAX}) {
    EXPECT_EQ(blocks_for(many), kMostBlocks);
    EXPECT_LE(blocks_for(many), INT32_MAX) << "what a GPU takes";
  }
}

}  // namespace
}  // namespace arenagrad::cuda
