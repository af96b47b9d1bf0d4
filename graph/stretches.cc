#include "graph/stretches.h"

#include <algorithm>
#include <cmath>

namespace arenagrad {
namespace {

/// The nodes in front of which exactly one tensor that a node made is still to be read.
std::vector<std::uint32_t> narrow_places(const Tape& tape, std::uint32_t end) {
  std::vector<std::uint32_t> last_reader(tape.tensors().size(), 0);
  for (std::uint32_t i = 0; i < tape.nodes().size(); ++i) {
    for (TensorId id : tape.nodes()[i].inputs) last_reader[index(id)] = i;
  }
  std::vector<std::uint32_t> places;
  std::vector<TensorId> passing;
  for (std::uint32_t i = 0; i < end; ++i) {
    if (i > 0) passing.push_back(tape.nodes()[i - 1].output);
    std::erase_if(passing, [&](TensorId id) { return last_reader[index(id)] < i; });
    if (passing.size() == 1) places.push_back(i);
  }
  return places;
}

std::vector<std::uint32_t> every(const std::vector<std::uint32_t>& places, std::size_t step) {
  std::vector<std::uint32_t> cuts;
  for (std::size_t k = step; k <= places.size(); k += step) cuts.push_back(places[k - 1]);
  return cuts;
}

std::vector<std::uint32_t> in_front_of(const Tape& tape, const std::vector<std::string>& layers,
                                       std::uint32_t end) {
  std::vector<std::uint32_t> cuts;
  for (const std::string& name : layers) {
    const auto node = tape.find_node(name);
    if (!node || index(*node) >= end) {
      throw Error("recompute: expected the names of layers, got \"" + name + "\", which is none");
    }
    if (index(*node) > 0) cuts.push_back(static_cast<std::uint32_t>(*node));
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

std::vector<std::uint32_t> cuts(const Tape& tape, const Recompute& recompute, std::uint32_t end) {
  switch (recompute.kind) {
    case Recompute::Kind::none: return {};
    case Recompute::Kind::before: return in_front_of(tape, recompute.layers, end);
    case Recompute::Kind::every:
      return every(narrow_places(tape, end), static_cast<std::size_t>(recompute.every));
    case Recompute::Kind::square_root: {
      // m places in steps of about sqrt(m).
      const auto places = narrow_places(tape, end);
      const double root = std::sqrt(static_cast<double>(places.size()));
      return every(places, std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(root))));
    }
  }
  throw ContractError("no such way to recompute");
}

}  // namespace

std::string text(const Recompute& recompute) {
  switch (recompute.kind) {
    case Recompute::Kind::none: return "none";
    case Recompute::Kind::square_root: return "sqrt";
    case Recompute::Kind::every: return "every:" + std::to_string(recompute.every);
    case Recompute::Kind::before: break;
  }
  std::string names;
  for (const std::string& layer : recompute.layers) names += (names.empty() ? "" : ",") + layer;
  return names;
}

std::vector<Stretch> stretches(const Tape& tape, const Recompute& recompute, std::uint32_t end) {
  std::vector<Stretch> result;
  std::uint32_t begin = 0;
  for (std::uint32_t cut : cuts(tape, recompute, end)) {
    result.push_back({begin, cut});
    begin = cut;
  }
  result.push_back({begin, end});
  return result;
}

}  // namespace arenagrad
