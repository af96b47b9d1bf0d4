// The arena's memory on the emulated GPU, apart from training.
#include "kernels/cuda/driver.h"

#include "tests/cuda/training.h"

namespace arenagrad::cuda_test {
namespace {

using GpuMemory = OnEmulatedGpu;

/// What Driver itself keeps from happening, so that its drivers can be asked all the same.
struct Unchecked : Driver {
  static bool map(Driver& driver, std::size_t offset, std::size_t source, std::size_t bytes) {
    constexpr bool (Driver::*kMap)(std::size_t, std::size_t, std::size_t) = &Unchecked::do_map;
    return (driver.*kMap)(offset, source, bytes);
  }
};

TEST_F(GpuMemory, WithNothingBehindItIsNotMapped) {
  const auto driver = cuda::make_growing_driver(0, 8 * cuda::kGranule, cuda::kGranule);
  const std::size_t range = driver->reserve(4 * cuda::kGranule, Sharing::shareable);
  ASSERT_TRUE(driver->commit(range, cuda::kGranule));
  const std::size_t shown = driver->reserve(2 * cuda::kGranule);
  try {
    Unchecked::map(*driver, shown, range, 2 * cuda::kGranule);
    FAIL() << "a granule without memory was mapped";
  } catch (const ContractError& error) {
    EXPECT_EQ(std::string(error.what())
                  .rfind("a growing arena: expected memory committed at "
                         "offset " +
                             std::to_string(range + cuda::kGranule),
                         0),
              0u)
        << error.what();
  }
  EXPECT_TRUE(driver->map(shown, range, cuda::kGranule));  // nothing of it was left behind
  driver->unmap(shown, cuda::kGranule);
}

}  // namespace
}  // namespace arenagrad::cuda_test
