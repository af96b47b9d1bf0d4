#include "experiments/idx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>

#include "kernels/shape.h"

namespace arenagrad {
namespace {

constexpr std::uint8_t kUnsignedByte = 0x08;

std::string type_name(std::uint8_t code) {
  switch (code) {
    case 0x08: return "unsigned byte";
    case 0x09: return "signed byte";
    case 0x0b: return "short";
    case 0x0c: return "int";
    case 0x0d: return "float";
    case 0x0e: return "double";
    default: return "unknown";
  }
}

std::vector<std::uint8_t> read_bytes(const std::string& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code))
    throw IdxError(fmt::format("{}: expected an IDX file, got a directory", path));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IdxError(fmt::format("{}: cannot read: {}", path, std::strerror(errno)));
  std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) throw IdxError(fmt::format("{}: reading failed", path));
  return bytes;
}

void check_magic(const std::string& path, std::span<const std::uint8_t> bytes, std::size_t rank) {
  if (bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
    throw IdxError(
        fmt::format("{}: expected an IDX file, got a gzip archive; unpack it first", path));
  if (bytes.size() < 4)
    throw IdxError(
        fmt::format("{}: no IDX header: expected at least 4 bytes, got {}", path, bytes.size()));
  if (bytes[0] != 0 || bytes[1] != 0)
    throw IdxError(
        fmt::format("{}: not an IDX file: expected it to begin with bytes 00 00, got "
                    "{:02x} {:02x}",
                    path, bytes[0], bytes[1]));
  if (bytes[2] != kUnsignedByte)
    throw IdxError(fmt::format("{}: element type: expected 08 (unsigned byte), got {:02x} ({})",
                               path, bytes[2], type_name(bytes[2])));
  if (bytes[3] != rank)
    throw IdxError(fmt::format("{}: dimensions: expected {}, got {}", path, rank, bytes[3]));
}

std::int64_t big_endian(std::span<const std::uint8_t> bytes) {
  return std::int64_t{bytes[0]} << 24 | std::int64_t{bytes[1]} << 16 | std::int64_t{bytes[2]} << 8 |
         std::int64_t{bytes[3]};
}

std::int64_t product(const std::string& path, const std::vector<std::int64_t>& dims) {
  std::int64_t elements = 1;
  try {
    for (const auto dim : dims) elements = checked_product(elements, dim);
  } catch (const ShapeError&) {
    throw IdxError(fmt::format("{}: dimensions {} name more bytes than 64 bits can count", path,
                               fmt::join(dims, "x")));
  }
  return elements;
}

}  // namespace

IdxArray read_idx(const std::string& path, std::size_t rank) {
  const auto bytes = read_bytes(path);
  check_magic(path, bytes, rank);
  const std::size_t header = 4 + 4 * rank;
  if (bytes.size() < header)
    throw IdxError(
        fmt::format("{}: header cut short: expected {} bytes, got {}", path, header, bytes.size()));
  IdxArray array;
  for (std::size_t i = 0; i < rank; ++i) {
    array.dims.push_back(big_endian(std::span(bytes).subspan(4 + 4 * i, 4)));
    if (array.dims.back() == 0)
      throw IdxError(fmt::format("{}: dimension {}: expected at least 1, got 0", path, i));
  }
  const auto elements = product(path, array.dims);
  const auto got = static_cast<std::int64_t>(bytes.size() - header);
  if (got != elements)
    throw IdxError(fmt::format("{}: {}: expected {} bytes for {}, got {}", path,
                               got < elements ? "data cut short" : "bytes after the data", elements,
                               fmt::join(array.dims, "x"), got));
  array.values.assign(bytes.begin() + static_cast<std::ptrdiff_t>(header), bytes.end());
  return array;
}

LabelledImages read_labelled_images(const std::string& images, const std::string& labels,
                                    std::int64_t classes) {
  auto pixels = read_idx(images, 3);
  auto classes_of = read_idx(labels, 1);
  if (pixels.dims[0] != classes_of.dims[0])
    throw IdxError(fmt::format("{}: labels: expected {}, one for each image of {}, got {}", labels,
                               pixels.dims[0], images, classes_of.dims[0]));
  for (std::size_t i = 0; i < classes_of.values.size(); ++i)
    if (classes_of.values[i] >= classes)
      throw IdxError(
          fmt::format("{}: label {}: expected 0 to {} (the model has {} classes), got {}", labels,
                      i, classes - 1, classes, classes_of.values[i]));
  LabelledImages result;
  result.count = pixels.dims[0];
  result.height = pixels.dims[1];
  result.width = pixels.dims[2];
  result.largest = *std::max_element(pixels.values.begin(), pixels.values.end());
  result.pixels = std::move(pixels.values);
  result.labels = std::move(classes_of.values);
  return result;
}

}  // namespace arenagrad
