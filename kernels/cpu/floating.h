// From a tensor's dtype to a template.
#pragma once

#include "kernels/tensor.h"

namespace arenagrad::cpu {

/// fn(float()) or fn(double()).
template <class Fn>
auto for_floating(DType dtype, const Fn& fn) {
  check_contract(dtype == DType::f32 || dtype == DType::f64, "floating type expected");
  return dtype == DType::f32 ? fn(float()) : fn(double());
}

}  // namespace arenagrad::cpu
