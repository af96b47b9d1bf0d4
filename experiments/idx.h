// IDX files (the format of MNIST): a big-endian header and unsigned bytes. Everything the header
// claims is checked against the file before it is believed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocator/error.h"

namespace arenagrad {

/// A file that is not what its reader expects. what() is "FILE: what, expected, got".
class IdxError : public Error {
 public:
  using Error::Error;
};

struct IdxArray {
  std::vector<std::int64_t> dims;
  std::vector<std::uint8_t> values;  // row-major, the product of `dims`
};

/// Reads a file of unsigned bytes with `rank` dimensions. Throws IdxError.
IdxArray read_idx(const std::string& path, std::size_t rank);

/// Grey images with their labels, read together so that they can be checked together.
struct LabelledImages {
  std::int64_t count = 0, height = 0, width = 0;
  std::uint8_t largest = 0;          // brightest pixel of the file
  std::vector<std::uint8_t> pixels;  // [count, height, width]
  std::vector<std::uint8_t> labels;  // [count], each below the classes asked for
  std::size_t bytes() const { return pixels.size() + labels.size(); }
};

/// Throws IdxError, also for a label that is not below `classes` and for counts that differ.
LabelledImages read_labelled_images(const std::string& images, const std::string& labels,
                                    std::int64_t classes);

}  // namespace arenagrad
