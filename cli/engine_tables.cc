#include "cli/engine_tables.h"

#include <fmt/format.h>

#include "zoo/engines_file.h"

namespace arenagrad::cli {
namespace {

std::string layers_text(const std::vector<std::string>& layers) {
  return layers.size() == 1 ? layers.front()
                            : fmt::format("{} and {} more", layers.front(), layers.size() - 1);
}

std::string times(std::int64_t a, std::int64_t b) { return fmt::format("{}x{}", a, b); }

std::string problem_text(const ConvProblem& p) {
  auto text = fmt::format("{}x{}x{}x{} * {}x{}x{}x{}", p.batch, p.in_channels, p.in_h, p.in_w,
                          p.out_channels, p.in_channels / p.groups, p.kernel_h, p.kernel_w);
  if (p.stride_h != 1 || p.stride_w != 1) text += " stride " + times(p.stride_h, p.stride_w);
  if (p.pad_h != 0 || p.pad_w != 0) text += " pad " + times(p.pad_h, p.pad_w);
  if (p.dilation_h != 1 || p.dilation_w != 1)
    text += " dilation " + times(p.dilation_h, p.dilation_w);
  if (p.groups != 1) text += fmt::format(" groups {}", p.groups);
  return text;
}

/// Behaviour notes say how an engine is built, not what it computes.
std::string notes_text(const cudnn::Notes& notes) {
  return fmt::format("{}", fmt::join(names(cudnn::Notes{notes.numerical, 0}), ", "));
}

Json to_json(const EngineCandidate& candidate) {
  const auto& engine = candidate.engine;
  Json knobs = Json::array();
  for (const auto& [kind, value] : engine.knobs) knobs.push_back({kind, value});
  return {{"engine", engine.id},
          {"workspace", engine.workspace},
          {"notes", names(engine.notes)},
          {"knobs", std::move(knobs)},
          {"acceptable", candidate.acceptable},
          {"chosen", candidate.chosen}};
}

}  // namespace

Table engines_table(const std::vector<ConvolutionEngines>& list) {
  Table table{"cuDNN's engines, in its order of preference",
              {{"layer", "layer"},
               {"pass", "pass"},
               {"problem", "problem"},
               {"", "taken"},
               {"engine", "engine", true},
               {"workspace B", "workspace", true},
               {"numerical notes", "notes"}},
              {},
              {}};
  for (const auto& entry : list) {
    bool first = true;
    for (const auto& candidate : entry.candidates) {
      std::vector<Cell> row(3, std::string());
      if (std::exchange(first, false))
        row = {layers_text(entry.layers), std::string(cudnn::name(entry.pinned.key.pass)),
               problem_text(entry.pinned.key.problem)};
      row.push_back(std::string(candidate.chosen       ? "taken"
                                : candidate.acceptable ? "acceptable"
                                                       : ""));
      row.push_back(Count{candidate.engine.id});
      row.push_back(Count{static_cast<std::int64_t>(candidate.engine.workspace)});
      row.push_back(notes_text(candidate.engine.notes));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Json engines_json(const std::vector<ConvolutionEngines>& list) {
  Json json = Json::array();
  for (const auto& entry : list) {
    const auto& key = entry.pinned.key;
    Json candidates = Json::array();
    for (const auto& candidate : entry.candidates) candidates.push_back(to_json(candidate));
    const auto& accumulate = entry.pinned.accumulate;
    Json item{{"layers", entry.layers},
              {"pass", cudnn::name(key.pass)},
              {"layout", cudnn::name(key.layout)}};
    item.update(sizes_json(key.problem));
    item["workspace"] = entry.pinned.overwrite.workspace;
    item["workspace_added"] = accumulate ? Json(accumulate->workspace) : Json(nullptr);
    item["candidates"] = std::move(candidates);
    json.push_back(std::move(item));
  }
  return json;
}

}  // namespace arenagrad::cli
