#include <fmt/format.h>

#include "cli/to_json.h"

namespace arenagrad::cli {
namespace {

/// The keys that a pair and a comparison with the f64 run share.
void put_difference(Json& object, const Difference& difference, std::uint64_t flips) {
  object["max_abs"] = number(difference.max_abs);
  object["rel_l2"] = number(difference.rel_l2);
  object["max_ulp"] = number(difference.max_ulp);
  object["cosine"] = number(difference.cosine);
  object["finite"] = difference.finite;
  object["flips"] = flips;
}

void put_worst(Json& object, const Difference& difference) {
  object["worst_parameter"] =
      difference.worst_parameter.empty() ? Json(nullptr) : Json(difference.worst_parameter);
  object["worst_difference"] = number(difference.worst_difference);
  object["zero_up_to_rounding"] = difference.zero_up_to_rounding;
}

Json curve_json(const CurveDifference& curve) {
  return {{"max_relative", number(curve.max_relative)}, {"step", curve.step}};
}

Json pair_json(const PairResult& pair) {
  Json json = {{"a", name(pair.a)}, {"b", name(pair.b)}};
  put_difference(json, pair.gradient, pair.flips);
  json["verdict"] = text(pair.verdict, pair.flips);
  put_worst(json, pair.gradient);
  json["same_computation"] = pair.same_computation;
  json["rel_l2_f64"] = pair.rel_l2_f64 ? number(*pair.rel_l2_f64) : Json(nullptr);
  json["losses"] = curve_json(pair.losses);
  json["states"] = {{"max_abs", number(pair.states.max_abs)},
                    {"rel_l2", number(pair.states.rel_l2)}};
  return json;
}

Json reference_json(const ReferenceResult& entry) {
  Json json = {{"mode", name(entry.mode)}, {"reference_mode", name(entry.reference_mode)}};
  put_difference(json, entry.gradient, entry.flips);
  put_worst(json, entry.gradient);
  json["losses"] = curve_json(entry.losses);
  return json;
}

Json mode_json(const ModeResult& mode) {
  Json json = Json::object();
  if (mode.measurement) {
    put(json, *mode.measurement);
    json["error"] = nullptr;
  } else if (mode.out_of_memory) {
    json["error"] = to_json(*mode.out_of_memory);
  } else {
    json["error"] = {{"kind", mode.refused ? "mode_refused" : "not_enough_memory"},
                     {"message", mode.error}};
  }
  return json;
}

}  // namespace

void put(Json& object, const Comparison& comparison) {
  object["modes"] = Json::object();
  for (const auto& mode : comparison.modes)
    object["modes"][std::string(name(mode.mode))] = mode_json(mode);
  object["pairs"] = Json::array();
  for (const auto& pair : comparison.pairs) object["pairs"].push_back(pair_json(pair));
  object["against_f64"] = Json::array();
  for (const auto& entry : comparison.against_f64)
    object["against_f64"].push_back(reference_json(entry));
  object["no_reference"] =
      comparison.no_reference.empty() ? Json(nullptr) : Json(comparison.no_reference);
  object["reference_bytes"] = comparison.reference_bytes;
  object["closest"] = comparison.closest ? Json(name(*comparison.closest)) : Json(nullptr);
  object["coupled_layers"] = comparison.coupled_layers;
  object["failed"] = comparison.failed();
}

}  // namespace arenagrad::cli
