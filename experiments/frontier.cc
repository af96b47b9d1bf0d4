#include "experiments/frontier.h"

#include <algorithm>

#include "graph/stretches.h"

namespace arenagrad {

std::vector<Recompute> ways_to_recompute(const Tape& tape, const Recompute& own) {
  const auto nodes = static_cast<std::uint32_t>(tape.nodes().size());
  std::vector<Recompute> ways;
  std::vector<std::vector<Stretch>> cuts;
  const auto add = [&](const Recompute& way) {
    auto cut = stretches(tape, way, nodes);
    if (std::find(cuts.begin(), cuts.end(), cut) != cuts.end()) return;
    ways.push_back(way);
    cuts.push_back(std::move(cut));
  };
  add({});
  add(own);
  add({.kind = Recompute::Kind::square_root});
  for (std::int64_t power = 1; power <= nodes; power *= 2) {
    add({.kind = Recompute::Kind::every, .every = power});
    if (power > 1) add({.kind = Recompute::Kind::every, .every = power + power / 2});
  }
  return ways;
}

std::vector<bool> on_frontier(const std::vector<std::optional<Tradeoff>>& choices) {
  const auto beats = [](const Tradeoff& a, const Tradeoff& b) {
    return a.memory <= b.memory && a.time <= b.time && (a.memory < b.memory || a.time < b.time);
  };
  const auto equals = [](const Tradeoff& a, const Tradeoff& b) {
    return a.memory == b.memory && a.time == b.time;
  };
  std::vector<bool> result(choices.size(), false);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    result[i] = choices[i].has_value();
    for (std::size_t k = 0; k < choices.size() && result[i]; ++k)
      if (choices[k] && k != i &&
          (beats(*choices[k], *choices[i]) || (k < i && equals(*choices[k], *choices[i]))))
        result[i] = false;
  }
  return result;
}

}  // namespace arenagrad
