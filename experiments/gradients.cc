#include "experiments/gradients.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "allocator/error.h"

namespace arenagrad {
namespace {

/// Sums over one tensor, from which every measure is made.
struct Sums {
  double aa = 0, bb = 0, ab = 0, dd = 0;  // squares, product, squared difference
  double max_abs = 0, largest = 0;        // of the difference; of the values
  std::size_t elements = 0;
  bool finite = true;

  void add(const Sums& other) {
    aa += other.aa;
    bb += other.bb;
    ab += other.ab;
    dd += other.dd;
    max_abs = std::max(max_abs, other.max_abs);
    largest = std::max(largest, other.largest);
    finite = finite && other.finite;
    elements += other.elements;
  }
  double norm() const { return std::sqrt(std::max(aa, bb)); }
};

template <class T>
using Values = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;

/// Elements that stay in the cache while each sum passes over them.
constexpr Eigen::Index kBlock = 1024;

template <class A, class B>
Sums sums(const HostTensor& first, const HostTensor& second) {
  const auto count = static_cast<Eigen::Index>(first.elements());
  const Values<A> all_a(reinterpret_cast<const A*>(first.bytes.data()), count);
  const Values<B> all_b(reinterpret_cast<const B*>(second.bytes.data()), count);
  Sums result;
  for (Eigen::Index at = 0; at < count; at += kBlock) {
    const Eigen::Index n = std::min(kBlock, count - at);
    const auto a = all_a.segment(at, n).template cast<double>();
    const auto b = all_b.segment(at, n).template cast<double>();
    Sums block;
    block.aa = a.square().sum();
    block.bb = b.square().sum();
    block.ab = (a * b).sum();
    block.dd = (a - b).square().sum();
    block.max_abs = (a - b).abs().maxCoeff();
    block.largest = std::max(a.abs().maxCoeff(), b.abs().maxCoeff());
    block.elements = static_cast<std::size_t>(n);
    block.finite = a.allFinite() && b.allFinite();
    result.add(block);
  }
  return result;
}

Sums sums(const HostTensor& a, const HostTensor& b) {
  check_contract(a.name == b.name && a.elements() == b.elements(),
                 "compared tensors have different names or sizes");
  const bool wide_a = a.dtype == DType::f64, wide_b = b.dtype == DType::f64;
  if (wide_a) return wide_b ? sums<double, double>(a, b) : sums<double, float>(a, b);
  return wide_b ? sums<float, double>(a, b) : sums<float, float>(a, b);
}

}  // namespace

double HostTensor::value(std::size_t i) const {
  if (dtype == DType::f64) {
    double v;
    std::memcpy(&v, bytes.data() + i * sizeof v, sizeof v);
    return v;
  }
  check_contract(dtype == DType::f32, "host tensors are f32 or f64");
  float v;
  std::memcpy(&v, bytes.data() + i * sizeof v, sizeof v);
  return v;
}

std::size_t bytes_of(const HostTensors& tensors) {
  std::size_t total = 0;
  for (const auto& tensor : tensors) total += tensor.bytes.size();
  return total;
}

double ulp(double magnitude, DType dtype) {
  if (dtype == DType::f64)
    return std::nextafter(magnitude, std::numeric_limits<double>::infinity()) - magnitude;
  const auto narrow = static_cast<float>(magnitude);
  return double{std::nextafter(narrow, std::numeric_limits<float>::infinity())} - double{narrow};
}

Difference difference(const HostTensors& a, const HostTensors& b) {
  check_contract(a.size() == b.size(), "compared sets have different numbers of tensors");
  std::vector<Sums> each;
  each.reserve(a.size());
  Sums whole;
  for (std::size_t i = 0; i < a.size(); ++i) {
    each.push_back(sums(a[i], b[i]));
    whole.add(each.back());
  }
  Difference result;
  result.max_abs = whole.max_abs;
  result.finite = whole.finite;
  if (whole.norm() > 0) result.rel_l2 = std::sqrt(whole.dd) / whole.norm();
  if (whole.aa > 0 && whole.bb > 0)
    result.cosine = std::clamp(whole.ab / std::sqrt(whole.aa) / std::sqrt(whole.bb), -1.0, 1.0);
  else if (whole.norm() > 0)
    result.cosine = 0;

  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto& one = each[i];
    const double share = static_cast<double>(one.elements) / static_cast<double>(whole.elements);
    const double floor = 1e-6 * whole.norm() * std::sqrt(share);
    if (one.norm() < floor || one.norm() == 0) {
      result.zero_up_to_rounding.push_back(a[i].name);
      continue;
    }
    result.max_ulp = std::max(result.max_ulp, one.max_abs / ulp(one.largest, a[i].dtype));
    const double relative = std::sqrt(one.dd) / std::max(one.norm(), floor);
    if (relative > result.worst_difference) {
      result.worst_difference = relative;
      result.worst_parameter = a[i].name;
    }
  }
  return result;
}

}  // namespace arenagrad
