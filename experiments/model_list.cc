#include "experiments/model_list.h"

#include "zoo/model.h"

namespace arenagrad {

std::vector<ModelRow> list_models() {
  std::vector<ModelRow> rows;
  for (const auto& entry : zoo_models()) {
    const auto model = load_model(entry.path);
    ModelRow row{entry.name, entry.path, entry.description, {}, model.classes, 0, 0, 0};
    if (!model.samples.empty()) row.input = model.tape.tensor(model.samples.front()).shape;
    row.layers = static_cast<std::int64_t>(model.tape.nodes().size());
    row.parameters = model.tape.parameter_count();
    for (const auto& node : model.tape.nodes()) row.multiply_adds += node.multiply_adds;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace arenagrad
