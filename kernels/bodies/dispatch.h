// From the types of tensors at run time to template arguments.
#pragma once

#include "kernels/tensor.h"

namespace arenagrad::bodies {

/// fn.operator()<T>() for a floating type.
template <class Fn>
void with_float(DType dtype, Fn&& fn) {
  if (dtype == DType::f32) return fn.template operator()<float>();
  check_contract(dtype == DType::f64, "kernel for a floating type called with another one");
  fn.template operator()<double>();
}

/// fn.operator()<flag>().
template <class Fn>
void with_flag(bool flag, Fn&& fn) {
  if (flag) return fn.template operator()<true>();
  fn.template operator()<false>();
}

/// fn.operator()<T, accumulate>().
template <class Fn>
void with_float(DType dtype, Write write, Fn&& fn) {
  with_float(dtype, [&]<class T>() {
    with_flag(write == Write::accumulate,
              [&]<bool kAccumulate>() { fn.template operator()<T, kAccumulate>(); });
  });
}

/// How many strips of an executor's width hold `n` columns.
template <class Exec>
std::int64_t strip_count(std::int64_t n) {
  return (n + Exec::kStrip - 1) / Exec::kStrip;
}

}  // namespace arenagrad::bodies
