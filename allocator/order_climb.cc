#include "allocator/order_climb.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

namespace arenagrad {
namespace {

// Tuned on minimalloc's eleven problems.
constexpr std::uint32_t kPatience = 200;  // tries in a row without a better one
constexpr double kNoise = 0.1;            // of the keys of a start
constexpr double kMoved = 0.05;           // share of the buffers that a change moves
constexpr std::array kBoldness = {0.0, 0.005, 0.02, 0.06};
constexpr double kStep = 0.05;  // how far, as a share of the order

double eighth_power(double x) {
  x *= x;
  x *= x;
  return x * x;
}

}  // namespace

OrderClimb::OrderClimb(const Part& part)
    : part_(part), places_(part.buffers.size()), order_(part.buffers.size()) {
  for (const PackedBuffer& b : part.buffers) {
    crowds_.push_back(
        *std::max_element(part.totals.begin() + b.begin, part.totals.begin() + b.end));
  }
}

std::span<const std::uint32_t> OrderClimb::propose(std::span<const double> blame) {
  if (fresh_) {
    start(blame);
  } else {
    vary(blame);
  }
  return order_;
}

double OrderClimb::boldness() const { return kBoldness[starts_ % kBoldness.size()]; }

void OrderClimb::judge(double cover) {
  if (fresh_ || cover > best_cover_) {
    stalled_ = 0;
  } else {
    ++stalled_;
  }
  if (fresh_ || cover >= best_cover_) {
    best_cover_ = cover;
    best_places_ = places_;
  }
  fresh_ = stalled_ > kPatience;
}

void OrderClimb::start(std::span<const double> blame) {
  const bool by_area = starts_ % 2 == 1;
  const bool noisy = starts_ >= 2;
  ++starts_;
  using Key = std::tuple<double, double, double>;
  std::vector<Key> keys;
  for (std::size_t i = 0; i < part_.buffers.size(); ++i) {
    const PackedBuffer& b = part_.buffers[i];
    const double factor = (noisy ? 1 + kNoise * bell() : 1) * eighth_power(1 + blame[i]);
    const double life = factor * static_cast<double>(b.duration);
    const double area = life * static_cast<double>(b.size);
    const double crowd = factor * static_cast<double>(crowds_[i]);
    keys.push_back(by_area ? Key{area, life, crowd} : Key{life, area, crowd});
  }
  std::iota(order_.begin(), order_.end(), 0u);
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return keys[a] > keys[b]; });
  for (std::size_t r = 0; r < order_.size(); ++r) {
    places_[order_[r]] = static_cast<double>(r) / static_cast<double>(order_.size());
  }
}

void OrderClimb::vary(std::span<const double> blame) {
  places_ = best_places_;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (random() < kMoved) places_[i] += kStep * (bell() - blame[i]);
  }
  std::iota(order_.begin(), order_.end(), 0u);
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return places_[a] < places_[b]; });
}

/// 0 to 1. The standard's distributions differ between libraries, its engines don't.
double OrderClimb::random() { return static_cast<double>(random_()) * 0x1p-32; }

/// Mean 0, deviation 1, of bounded size.
double OrderClimb::bell() {
  double sum = 0;
  for (int i = 0; i < 4; ++i) sum += 2 * random() - 1;
  return sum * 0.866;
}

}  // namespace arenagrad
