#include <fmt/format.h>

#include "allocator/units.h"
#include "cli/tables.h"
#include "cli/to_json.h"
#include "cli/verbs.h"

namespace arenagrad::cli {

ExitCode summary(const Flags& flags, const Console& console) {
  const auto settings = flags.settings(1);
  const auto model = load(flags);
  const auto experiment = prepare(model, settings);
  const auto layers = layer_table(experiment);
  const auto saved = saved_bytes(experiment.program, model.tape);

  Document document;
  auto& json = document.json = json_header("summary", flags, model, "none");
  json["name"] = model.name;
  json["device"] = experiment.profile.name;
  json["workspace_included"] = experiment.profile.kernels->complete();
  put(json, experiment.settings);
  json["parameters"] = model.tape.parameter_count();
  put(json, layers);
  json["bytes"] = {{"persistent", persistent_bytes(experiment.program)},
                   {"saved", saved.total},
                   {"saved_per_sample", saved.per_sample},
                   {"saved_fixed", saved.fixed}};
  document.tables.push_back(
      layers_table(layers, fmt::format("{}, forward of {} sample{}, {}, {}", model.name,
                                       layers.samples, layers.samples == 1 ? "" : "s",
                                       name(settings.plan.run), name(settings.plan.policy))));
  if (layers.overflow)
    note("multiply-adds pass 64 bits; they are cut to the largest number", flags.output, console);
  document.answer = fmt::format(
      "{}: {} parameters, {} multiply-adds and {} saved for backward in a forward of {} sample{} "
      "under the {} policy.",
      model.name, with_commas(model.tape.parameter_count()),
      with_commas(layers.total.multiply_adds), exact_bytes(saved.total), layers.samples,
      layers.samples == 1 ? "" : "s", name(settings.plan.policy));
  json["answer"] = document.answer;
  emit(document, flags.output, console);
  return ExitCode::ok;
}

}  // namespace arenagrad::cli
