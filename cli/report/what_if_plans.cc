#include "cli/report/what_if_plans.h"

#include <fmt/format.h>

#include "cli/parse.h"
#include "cli/sweep_tables.h"
#include "cli/to_json.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "experiments/sweep.h"
#include "zoo/catalogue.h"

namespace arenagrad::cli {
namespace {

/// What of a point a panel reads.
Json to_panel(const SweepPoint& point) {
  const auto whole = to_json(point);
  Json json;
  for (const char* key : {"batch", "mode", "input", "peak_at"}) json[key] = whole[key];
  for (const char* key : {"by_category_at_peak", "peak_requested"})
    json["bytes"][key] = whole["bytes"][key];
  return json;
}

/// The peaks of a model in every gradient mode that it can be trained in; why not in the others.
Json peaks(const ModelSource& source, SweepOptions options) {
  const auto model = source(std::nullopt);
  // A header as of any sweep: a panel keeps apart what was made by another program or of another
  // spec of the same name.
  Json json = {{"schema", "arenagrad.sweep/1"},
               {"version", version()},
               {"spec", {{"path", model.path}, {"hash", model.hash}}},
               {"name", model.name},
               {"device", options.settings.profile.name},
               {"workspace_included", options.settings.profile.kernels->complete()}};
  put(json, options.settings);
  for (const auto* key : {"mode", "batch", "micro_batch"}) json.erase(key);
  for (const auto* key : {"points", "decomposition", "refused"}) json[key] = Json::object();
  json["points"] = Json::array();
  for (const auto mode : kGradientModes) {
    options.modes = {mode};
    try {
      const auto result = sweep(source, options);
      for (const auto& point : result.points)
        if (point.error.empty()) json["points"].push_back(to_panel(point));
      json["decomposition"][std::string(name(mode))] = to_json(result.decompositions.front());
    } catch (const ModeRefused& refused) {
      json["refused"][std::string(name(mode))] = refused.what();
    }
  }
  return json;
}

/// The images to plan for: those of --inputs, or the spec's alone.
std::vector<std::optional<Shape>> images(const Flags& flags, const Model& model) {
  if (flags.batches.inputs.empty()) return {std::nullopt};
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
  constexpr SavedPolicy kPolicies[] = {SavedPolicy::lean, SavedPolicy::pytorch};
  const Update updates[] = {{Kind::none, {}}, {Kind::sgd, {}}, {Kind::sgd, 0.9}, {Kind::adam, {}}};
  const auto file = resolve_spec(flags.spec);
  const auto text = read_text(file);  // once: it may come through a pipe
  const auto model = [&](const std::optional<Shape>& image) {
    auto model = parse_model(text, file == "-" ? "<stdin>" : file, {.input = image});
    model.path = flags.spec;
    return model;
  };
  const auto sizes = images(flags, model(std::nullopt));
  Progress progress(flags.output, console);
  std::vector<ReportInput> plans;
  for (const auto& image : sizes)
    for (const auto policy : kPolicies)
      for (const auto& update : updates) {
        progress.show(fmt::format("what if: {} of {}", plans.size() + 1,
                                  sizes.size() * std::size(kPolicies) * std::size(updates)));
        Flags one = flags;
        one.policy = policy;
        one.optimizer = update.kind;
        one.momentum = update.momentum;
        one.steps = 2;  // optimizer state is born in the first
        SweepOptions options;
        options.settings = one.settings(kDefaultBatch);
        options.batches = flags.batches.batches.empty() ? parse_range("--batches", "1:32")
                                                        : flags.batches.batches;
        options.peaks_alone = true;
        options.interrupted = console.interrupted;
        plans.push_back(
            {flags.spec,
             "sweep",
             "",
             peaks([&](std::optional<std::int64_t>) { return model(image); }, std::move(options)),
             {}});
      }
  return plans;
}

}  // namespace arenagrad::cli
