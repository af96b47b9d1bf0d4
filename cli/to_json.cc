#include "cli/to_json.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/version.h"

namespace arenagrad::cli {
namespace {

Json dims(const Shape& shape) {
  Json list = Json::array();
  for (const auto dim : shape.dims()) list.push_back(dim);
  return list;
}

Json to_json(const LiveBuffer& buffer) {
  return {{"name", buffer.name},         {"shape", dims(buffer.shape)},
          {"dtype", name(buffer.dtype)}, {"category", name(buffer.category)},
          {"bytes", buffer.bytes},       {"born", buffer.born},
          {"dies", buffer.dies}};
}

Json to_json(const std::vector<LiveBuffer>& buffers) {
  Json list = Json::array();
  for (const auto& buffer : buffers) list.push_back(to_json(buffer));
  return list;
}

/// What an opaque strategy leaves unknown is null.
Json unless(bool opaque, std::size_t bytes) { return opaque ? Json(nullptr) : Json(bytes); }

Json to_json(const ByteReport& bytes, bool opaque) {
  return {{"by_category_at_peak", by_category(bytes.by_category_at_peak)},
          {"persistent", bytes.persistent},
          {"saved", bytes.saved},
          {"saved_per_sample", bytes.saved_per_sample},
          {"saved_fixed", bytes.saved_fixed},
          {"peak_requested", bytes.peak_requested},
          {"peak_granted", unless(opaque, bytes.peak_granted)},
          {"footprint", unless(opaque, bytes.footprint)},
          {"reserved", unless(opaque, bytes.reserved)},
          {"lower_bound", bytes.lower_bound},
          {"aligned_bound", bytes.aligned_bound},
          {"unaccounted", unless(opaque, bytes.unaccounted)},
          {"context", bytes.context},
          {"host", bytes.host}};
}

Json to_json(const PoolCounters& pool) {
  return {{"reserved", pool.reserved},
          {"reserved_high", pool.reserved_high},
          {"used", pool.used},
          {"used_high", pool.used_high}};
}

Json to_json(const OptimizerSpec& optimizer) {
  using Kind = OptimizerSpec::Kind;
  Json json = {{"kind", name(optimizer.kind)}};
  if (optimizer.kind == Kind::none) return json;
  json["lr"] = optimizer.learning_rate;
  json["weight_decay"] = optimizer.weight_decay;
  if (optimizer.kind == Kind::sgd) {
    json["momentum"] = optimizer.momentum;
    json["nesterov"] = optimizer.nesterov;
  } else {
    json["beta1"] = optimizer.beta1;
    json["beta2"] = optimizer.beta2;
    json["eps"] = optimizer.eps;
  }
  return json;
}

Json to_json(const LayerRow& row) {
  return {{"name", row.name},
          {"op", row.op},
          {"output", dims(row.output)},
          {"parameters", row.parameters},
          {"multiply_adds", row.multiply_adds},
          {"output_bytes", row.output_bytes},
          {"saved", row.saved},
          {"workspace", row.workspace}};
}

}  // namespace

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json by_category(const CategoryBytes& bytes) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kCategoryCount; ++i) json[std::string(kCategoryNames[i])] = bytes[i];
  return json;
}

Json json_header(const std::string& verb, const Flags& flags) {
  return {{"schema", "arenagrad." + verb + "/1"}, {"version", version()}, {"argv", flags.argv}};
}

Json json_header(const std::string& verb, const Flags& flags, const Model& model,
                 const std::string& backend) {
  return json_header(verb, flags, model.path, model.hash, backend);
}

Json json_header(const std::string& verb, const Flags& flags, const std::string& path,
                 const std::string& hash, const std::string& backend) {
  auto json = json_header(verb, flags);
  json["spec"] = {{"path", path}, {"hash", hash}};
  json["seed"] = flags.seed;
  json["backend"] = backend;
  return json;
}

void put(Json& object, const Settings& settings) {
  const auto& plan = settings.plan;
  object["layout"] = name(settings.profile.layout);
  object["dtype"] = name(plan.dtype);
  object["mode"] = name(plan.mode);
  object["policy"] = name(plan.policy);
  object["strategy"] = settings.strategy;
  object["optimizer"] = name(plan.optimizer.kind);
  object["optimizer_settings"] = to_json(plan.optimizer);
  object["batch"] = plan.batching.batch;
  object["micro_batch"] = plan.batching.micro_batch;
  object["run"] = name(plan.run);
  object["recompute"] = text(plan.recompute);
  object["calibrate"] = plan.calibrate;
  object["steps"] = settings.steps;
  object["capacity"] = settings.capacity ? Json(*settings.capacity) : Json(nullptr);
}

void put(Json& object, const Measurement& m) {
  object["name"] = m.name;
  object["device"] = m.device;
  object["workspace_included"] = m.workspace_included;
  put(object, m.settings);
  object["parameters"] = m.parameters;
  object["balanced"] = m.balanced;
  object["planned_equals_observed"] =
      m.planned_equals_observed ? Json(*m.planned_equals_observed) : Json(nullptr);
  object["events"] = m.events;
  object["digest"] = fmt::format("{:016x}", m.digest);
  object["bytes"] = to_json(m.bytes, m.opaque);
  object["pool"] = m.pool ? to_json(*m.pool) : Json(nullptr);
  object["peak_at"] = {{"step", m.peak_at.step},
                       {"phase", m.peak_at.phase},
                       {"layer", m.peak_at.layer.empty() ? Json(nullptr) : Json(m.peak_at.layer)},
                       {"buffer", m.peak_at.buffer}};
  object["top"] = to_json(m.top);
  object["loss"] = m.losses.empty() ? Json(nullptr) : number(m.losses.back());
  object["losses"] = Json::array();
  for (const auto loss : m.losses) object["losses"].push_back(number(loss));
  object["seconds"] = nullptr;
  if (m.seconds)
    object["seconds"] = {{"forward", m.seconds->forward},
                         {"backward", m.seconds->backward},
                         {"update", m.seconds->update},
                         {"step_median", m.seconds->step_median}};
}

void put(Json& object, const LayerTable& table) {
  object["samples"] = table.samples;
  object["layers"] = Json::array();
  for (const auto& row : table.rows) object["layers"].push_back(to_json(row));
  auto total = to_json(table.total);
  for (const char* key : {"name", "op", "output"}) total.erase(key);
  object["total"] = std::move(total);
}

Json to_json(const ModelRow& row) {
  return {{"name", row.name},
          {"path", row.path},
          {"description", row.description},
          {"input", dims(row.input)},
          {"classes", row.classes},
          {"layers", row.layers},
          {"parameters", row.parameters},
          {"multiply_adds", row.multiply_adds}};
}

Json to_json(const OutOfMemoryReport& report) {
  const auto optional = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  Json alternatives = Json::array();
  for (const auto& other : report.alternatives)
    alternatives.push_back({{"strategy", other.strategy},
                            {"fits", other.fits},
                            {"footprint", optional(other.footprint)}});
  return {{"kind", "out_of_memory"},
          {"message", text(report)},
          {"device", report.device},
          {"parameters", report.parameters},
          {"tensor", report.tensor},
          {"layer", report.layer.empty() ? Json(nullptr) : Json(report.layer)},
          {"phase", report.phase},
          {"category", name(report.category)},
          {"shape", dims(report.shape)},
          {"dtype", name(report.dtype)},
          {"requested", report.requested},
          {"granted", unless(report.opaque, report.granted)},
          {"live", by_category(report.live)},
          {"live_total", report.live_total},
          {"waste",
           {{"internal", unless(report.opaque, report.internal_waste)},
            {"external", unless(report.opaque, report.external_waste)}}},
          {"footprint", unless(report.opaque, report.footprint)},
          {"reserved", unless(report.opaque, report.reserved)},
          {"free", unless(report.opaque, report.free)},
          {"largest_hole", unless(report.opaque, report.largest_hole)},
          {"capacity", report.capacity},
          {"system_refused", report.system_refused},
          {"needed", unless(report.opaque, report.needed)},
          {"whole_plan", report.whole_plan},
          {"top", to_json(report.top)},
          {"lower_bound", report.lower_bound},
          {"aligned_bound", report.aligned_bound},
          {"fits_without_fragmentation", report.fits_without_fragmentation},
          {"footprint_without_limit", optional(report.footprint_without_limit)},
          {"alternatives", std::move(alternatives)}};
}

}  // namespace arenagrad::cli
