#include "zoo/hint.h"

#include "allocator/nearest.h"
#include "zoo/json.h"

namespace arenagrad {
namespace {

constexpr std::size_t kLongestList = 24;
constexpr std::size_t kLongestName = 64;  // longer ones are not compared: the cost is quadratic

std::string_view closest(std::string_view name, std::span<const std::string_view> known) {
  if (name.size() > kLongestName) return "";
  const std::string_view nearest = nearest_name(name, known);
  if (!nearest.empty()) return nearest;
  // A name inside the other is close however much is missing: kernel_size, kernel.
  for (std::string_view candidate : known) {
    const bool inside = name.find(candidate) != name.npos || candidate.find(name) != name.npos;
    if (inside && name.size() >= 3 && candidate.size() >= 3) return candidate;
  }
  return "";
}

}  // namespace

std::string hint(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view best = closest(name, known);
  if (!best.empty()) return " (did you mean " + in_quotes(best) + "?)";
  if (known.empty() || known.size() > kLongestList) return "";
  std::string list;
  for (std::string_view candidate : known) {
    list += (list.empty() ? "" : ", ") + std::string(candidate);
  }
  return " (known: " + list + ")";
}

}  // namespace arenagrad
