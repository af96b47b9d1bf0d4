#include "experiments/engine_list.h"

#include <algorithm>
#include <map>

namespace arenagrad {
namespace {

std::vector<EngineCandidate> candidates(const cudnn::PinnedEngines& pinned,
                                        const cudnn::EnginePlanner& planner) {
  std::vector<EngineCandidate> result;
  for (cudnn::Engine& engine : planner.candidates(pinned.key)) {
    const bool acceptable = planner.options().policy.accepts(engine, pinned.key.type);
    result.push_back({std::move(engine), acceptable, false});
  }
  const auto chosen =
      std::ranges::find(result, pinned.overwrite, [](const auto& c) { return c.engine; });
  if (chosen != result.end())
    chosen->chosen = true;
  else
    result.push_back({pinned.overwrite, true, true});
  return result;
}

}  // namespace

std::vector<ConvolutionEngines> list_engines(const Experiment& experiment,
                                             const cudnn::EnginePlanner& planner) {
  const Program& program = experiment.program;
  const auto& nodes = experiment.model->tape.nodes();
  std::vector<ConvolutionEngines> list;
  std::map<std::int64_t, std::size_t> place;  // in the list, by engine number
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].layer->op() != "conv2d") continue;
    const Needs& needs = program.needs[program.needs_of_node[i]];
    for (const std::int64_t engine :
         {needs.forward_engine, needs.backward_data_engine, needs.backward_filter_engine}) {
      if (engine == kNoEngine) continue;
      const auto [found, is_new] = place.try_emplace(engine, list.size());
      if (is_new) {
        const cudnn::PinnedEngines& pinned = planner.pinned(engine);
        list.push_back({{}, pinned, candidates(pinned, planner)});
      }
      list[found->second].layers.push_back(nodes[i].name);
    }
  }
  return list;
}

}  // namespace arenagrad
