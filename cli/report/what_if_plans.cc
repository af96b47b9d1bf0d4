#include "cli/report/what_if_plans.h"

#include <fmt/format.h>

#include "cli/parse.h"
#include "cli/verbs.h"

namespace arenagrad::cli {
namespace {

/// What of a sweep a panel reads.
Json trimmed(const Json& whole) {
  Json json = Json::object();
  for (const char* key : {"schema", "name", "device", "dtype", "policy", "optimizer_settings",
                          "recompute", "run", "decomposition"})
    if (whole.contains(key)) json[key] = whole[key];
  json["points"] = Json::array();
  for (const auto& point : whole.at("points")) {
    if (point.at("bytes").is_null()) continue;
    Json kept = {{"batch", point["batch"]},
                 {"mode", point["mode"]},
                 {"input", point["input"]},
                 {"peak_at", point["peak_at"]}};
    for (const char* key : {"by_category_at_peak", "peak_requested"})
      kept["bytes"][key] = point["bytes"][key];
    json["points"].push_back(std::move(kept));
  }
  return json;
}

/// The images to plan for: those of --inputs, or the spec's alone.
std::vector<std::optional<Shape>> images(const Flags& flags) {
  if (flags.batches.inputs.empty()) return {std::nullopt};
  const auto model = load(flags);
  const auto& shape = model.tape.tensor(model.samples.front()).shape;
  if (model.samples.size() != 1 || shape.rank() != 3)
    throw UsageError("--inputs: expected a model with one input, CxHxW, got " + model.name);
  std::vector<std::optional<Shape>> shapes;
  for (const auto size : flags.batches.inputs) shapes.push_back(Shape{shape[0], size, size});
  return shapes;
}

}  // namespace

std::vector<ReportInput> what_if_plans(const Flags& flags, const Console& console) {
  if (flags.spec.empty()) return {};
  using Kind = OptimizerSpec::Kind;
  struct Update {
    Kind kind;
    std::optional<double> momentum;
  };
  const Update updates[] = {{Kind::none, {}}, {Kind::sgd, {}}, {Kind::sgd, 0.9}, {Kind::adam, {}}};
  Progress progress(flags.output, console);
  std::vector<ReportInput> plans;
  for (const auto& image : images(flags))
    for (const auto policy : {SavedPolicy::lean, SavedPolicy::pytorch})
      for (const auto& update : updates) {
        progress.show(fmt::format("what if: sweep {}", plans.size() + 1));
        Flags one = flags;
        one.batches.inputs.clear();
        one.input = image;
        one.policy = policy;
        one.optimizer = update.kind;
        one.momentum = update.momentum;
        one.modes = parse_modes("--modes", "all");
        one.steps = 2;  // optimizer state is born in the first
        one.output = {};
        one.output.json = "-";
        one.output.quiet = true;
        StringSink out;
        Console own{out, console.err};
        own.interrupted = console.interrupted;
        sweep(one, own);
        plans.push_back({flags.spec, "sweep", "", trimmed(Json::parse(out.text())), {}});
      }
  return plans;
}

}  // namespace arenagrad::cli
