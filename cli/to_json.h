// Results as JSON. Every key is described in docs/json.md.
#pragma once

#include "cli/flags.h"
#include "cli/output.h"
#include "experiments/compare.h"
#include "experiments/does_not_fit.h"
#include "experiments/layer_table.h"
#include "experiments/measurement.h"
#include "experiments/model_list.h"
#include "zoo/model.h"

namespace arenagrad::cli {

/// What every document begins with: schema ("arenagrad.plan/1"), version, argv.
Json json_header(const std::string& verb, const Flags& flags);
/// And what goes on for verbs with an input, a spec or a trace: spec, seed, backend.
Json json_header(const std::string& verb, const Flags& flags, const std::string& path,
                 const std::string& hash, const std::string& backend);
Json json_header(const std::string& verb, const Flags& flags, const Model& model,
                 const std::string& backend);

/// Appends the value's keys to an object.
void put(Json& object, const Settings& settings);
void put(Json& object, const Measurement& measurement);
void put(Json& object, const LayerTable& table);
void put(Json& object, const Comparison& comparison);

Json to_json(const OutOfMemoryReport& report);
Json to_json(const ModelRow& row);
/// A number; null when it is not finite.
Json number(double value);
Json by_category(const CategoryBytes& bytes);

}  // namespace arenagrad::cli
