#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace arenagrad {

enum class DType : std::uint8_t { f32, f64, i64, i32, u8 };

constexpr std::size_t size_of(DType type) {
  switch (type) {
    case DType::f32: return 4;
    case DType::f64: return 8;
    case DType::i64: return 8;
    case DType::i32: return 4;
    case DType::u8: return 1;
  }
  return 0;
}

constexpr std::string_view name(DType type) {
  switch (type) {
    case DType::f32: return "f32";
    case DType::f64: return "f64";
    case DType::i64: return "i64";
    case DType::i32: return "i32";
    case DType::u8: return "u8";
  }
  return "?";
}

template <class T>
inline constexpr DType dtype_of = [] {
  if constexpr (sizeof(T) == 8 && T(0.5) != T(0))
    return DType::f64;
  else if constexpr (T(0.5) != T(0))
    return DType::f32;
  else if constexpr (sizeof(T) == 8)
    return DType::i64;
  else if constexpr (sizeof(T) == 4)
    return DType::i32;
  else
    return DType::u8;
}();

}  // namespace arenagrad
