#include "tests/layers/guarded_memory.h"

#include <algorithm>
#include <cstring>

namespace arenagrad::testing {
namespace {

constexpr std::size_t kAlignment = 64, kRedZone = 128;
constexpr std::byte kRed{0xA5};

template <class T>
void store(Tensor t, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) t.as<T>()[i] = static_cast<T>(values[i]);
}

template <class T>
std::vector<double> load(const ConstTensor& t) {
  const T* data = t.as<T>();
  return {data, data + t.shape.elements()};
}

}  // namespace

std::vector<double> values_of(const ConstTensor& t) {
  switch (t.dtype) {
    case DType::f32: return load<float>(t);
    case DType::f64: return load<double>(t);
    case DType::i64: return load<std::int64_t>(t);
    case DType::i32: return load<std::int32_t>(t);
    case DType::u8: return load<std::uint8_t>(t);
  }
  return {};
}

void* GuardedMemory::allocate(std::size_t size) {
  Block& block = blocks_.emplace_back();
  block.size = size + 2 * kRedZone + 2 * kAlignment;
  block.bytes = std::make_unique_for_overwrite<std::byte[]>(block.size);
  std::byte* const base = block.bytes.get();
  const auto address = reinterpret_cast<std::uintptr_t>(base) + kRedZone;
  // To the next odd multiple of 64: kernels may rely on no more.
  const std::size_t skip = (3 * kAlignment - address % (2 * kAlignment)) % (2 * kAlignment);
  block.begin = kRedZone + skip;
  block.end = block.begin + size;
  std::fill(base, base + block.begin, kRed);
  std::memset(base + block.begin, fill_, size);
  std::fill(base + block.end, base + block.size, kRed);
  return base + block.begin;
}

Tensor GuardedMemory::tensor(const Shape& shape, DType dtype) {
  Tensor t{nullptr, shape, dtype};
  t.data = allocate(t.bytes());
  return t;
}

Workspace GuardedMemory::workspace(std::size_t bytes) {
  return bytes == 0 ? Workspace{} : Workspace{allocate(bytes), bytes};
}

Tensor GuardedMemory::tensor(const Shape& shape, DType dtype, const std::vector<double>& values) {
  const Tensor t = tensor(shape, dtype);
  check_contract(values.size() == static_cast<std::size_t>(shape.elements()),
                 "test values don't fill their tensor");
  switch (dtype) {
    case DType::f32: store<float>(t, values); break;
    case DType::f64: store<double>(t, values); break;
    case DType::i64: store<std::int64_t>(t, values); break;
    case DType::i32: store<std::int32_t>(t, values); break;
    case DType::u8: store<std::uint8_t>(t, values); break;
  }
  return t;
}

void GuardedMemory::kill(Tensor t) const { std::memset(t.data, fill_, t.bytes()); }

void GuardedMemory::check_red_zones() const {
  for (const Block& block : blocks_) {
    const std::byte* const base = block.bytes.get();
    const auto is_red = [](std::byte byte) { return byte == kRed; };
    check_contract(std::all_of(base, base + block.begin, is_red) &&
                       std::all_of(base + block.end, base + block.size, is_red),
                   "a layer wrote outside of its buffers");
  }
}

}  // namespace arenagrad::testing
