#include "experiments/batch_formulas.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>

#include "allocator/units.h"

namespace arenagrad {
namespace {

constexpr std::int64_t kFloat = 4;  // what all of these formulas count in
constexpr const char* kThread = "stackoverflow.com/questions/46654424";

double mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1048576; }

std::int64_t power_of_two_within(std::int64_t batch) {
  return batch < 1 ? 0
                   : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(batch)));
}

BatchFormula elements_and_parameters(const Model& model, std::int64_t capacity) {
  std::int64_t elements = listed_elements(model);
  for (const auto id : model.samples) elements += model.tape.tensor(id).shape.elements();
  const auto parameters = model.tape.parameter_count();
  return {
      "memory / 4 / (tensor elements + parameters)", capacity / kFloat / (elements + parameters),
      fmt::format("every sample brings its own copy of the parameters: {} tensor elements and {} "
                  "parameters",
                  with_commas(elements), with_commas(parameters)),
      kThread};
}

std::vector<BatchFormula> torchsummary(const Model& model, std::int64_t capacity) {
  const auto slope = torchsummary_bytes(model);
  const auto parameters = model.tape.parameter_count() * kFloat;
  const auto batch = slope == 0 ? 0 : std::max<std::int64_t>(0, capacity - parameters) / slope;
  const auto claims = fmt::format(
      "a sample takes torchsummary's forward/backward size, {:.2f} MiB: twice each layer's output",
      mebibytes(slope));
  return {{"(memory - model) / forward/backward size", batch, claims, kThread},
          {"the same, down to a power of two", power_of_two_within(batch), claims, kThread}};
}

BatchFormula halving(const std::function<std::optional<bool>(std::int64_t)>& fits) {
  std::int64_t batch = 512;
  while (batch > 0 && fits(batch) == false) batch /= 2;
  return {"512, halved until it runs", batch,
          "the answer is a power of two, and what runs once runs again", kThread};
}

/// For a GPU in a machine with more than 15 processors.
BatchFormula by_parameters(const Model& model) {
  const auto parameters = model.tape.parameter_count();
  const std::int64_t batch = parameters > 100'000'000   ? 1
                             : parameters >= 10'000'000 ? 8
                             : parameters >= 2'000'000  ? 16
                             : parameters >= 1'000'000  ? 32
                                                        : 64;
  return {"FindBatchSize", batch,
          fmt::format("the number of parameters decides, {}; memory is not looked at",
                      with_commas(parameters)),
          kThread};
}

}  // namespace

std::int64_t listed_elements(const Model& model) {
  std::int64_t elements = 0;
  for (const auto& node : model.tape.nodes()) {
    const auto op = node.layer->op();
    const bool listed = op != "add" && op != "concat" && op != "flatten" && !node.layer->is_loss();
    if (listed) elements += model.tape.tensor(node.output).shape.elements();
  }
  return elements;
}

std::int64_t torchsummary_bytes(const Model& model) { return 2 * kFloat * listed_elements(model); }

std::vector<BatchFormula> batch_formulas(
    const Model& model, std::size_t capacity,
    const std::function<std::optional<bool>(std::int64_t)>& fits) {
  const auto bytes = static_cast<std::int64_t>(
      std::min<std::size_t>(capacity, std::numeric_limits<std::int64_t>::max()));
  std::vector<BatchFormula> result{elements_and_parameters(model, bytes)};
  for (auto& formula : torchsummary(model, bytes)) result.push_back(std::move(formula));
  result.push_back(halving(fits));
  result.push_back(by_parameters(model));
  for (BatchFormula& formula : result)
    if (formula.batch > 0) formula.fits = fits(formula.batch);
  return result;
}

}  // namespace arenagrad
