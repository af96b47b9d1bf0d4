#include "kernels/cudnn/convolution.h"

#include <array>

#include "kernels/backend.h"
#include "kernels/cudnn/convolution_graph.h"

namespace arenagrad::cudnn {
namespace {

/// A finished plan for a configured engine.
OwnedDescriptor build_plan(const Target& target, Descriptor engine_config,
                           const std::string& where) {
  OwnedDescriptor plan(target.api(), DescriptorType::execution_plan, where);
  if (target.handle() != nullptr) {
    const Handle handle = target.handle();
    plan.set_raw(Attribute::plan_handle, AttributeType::handle, 1, &handle, where);
  } else {
    plan.set(Attribute::plan_device_properties, target.properties(), where);
  }
  plan.set(Attribute::plan_engine_config, engine_config, where);
  plan.finalize(where);
  return plan;
}

std::size_t workspace_of(const OwnedDescriptor& plan, const std::string& where) {
  return static_cast<std::size_t>(plan.get_int64(Attribute::plan_workspace_size, where));
}

std::uint32_t bits(const std::vector<int>& numbers) {
  std::uint32_t set = 0;
  for (int number : numbers) set |= std::uint32_t{1} << number;
  return set;
}

/// Descriptors to be filled by cuDNN, made beforehand as it wants them.
class Slots {
 public:
  Slots(const CudnnApi& api, DescriptorType type, std::int64_t count, const std::string& where) {
    for (std::int64_t i = 0; i < count; ++i) {
      owned_.emplace_back(api, type, where);
      raw_.push_back(owned_.back().get());
    }
  }
  std::span<Descriptor> raw() { return raw_; }
  const OwnedDescriptor& operator[](std::size_t i) const { return owned_[i]; }

 private:
  std::vector<OwnedDescriptor> owned_;
  std::vector<Descriptor> raw_;
};

/// Reads what a heuristic offers.
class EngineReader {
 public:
  EngineReader(const Target& target, const std::string& where)
      : where_(where),
        engine_(target.api(), DescriptorType::engine, 1, where),
        knobs_(target.api(), DescriptorType::knob_choice, kKnobTypes, where) {}

  /// All but the workspace, which takes a plan.
  Engine read(const OwnedDescriptor& config) {
    config.get_descriptors(Attribute::config_engine, engine_.raw(), where_);
    Engine result;
    result.id = engine_[0].get_int64(Attribute::engine_global_index, where_);
    result.notes.numerical = bits(engine_[0].get_ints(
        Attribute::engine_numerical_note, AttributeType::numerical_note, kNumericalNotes, where_));
    result.notes.behaviour = bits(engine_[0].get_ints(
        Attribute::engine_behaviour_note, AttributeType::behaviour_note, kBehaviourNotes, where_));
    const std::int64_t count =
        config.get_descriptors(Attribute::config_knob_choices, knobs_.raw(), where_);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const auto kind =
          knobs_[i].get_ints(Attribute::knob_type, AttributeType::knob_type, 1, where_);
      result.knobs.emplace_back(kind.at(0), knobs_[i].get_int64(Attribute::knob_value, where_));
    }
    return result;
  }

 private:
  const std::string& where_;
  Slots engine_, knobs_;
};

OwnedDescriptor ask_heuristics(const Target& target, const ConvGraph& graph, HeuristicsMode mode,
                               const std::string& where) {
  OwnedDescriptor heuristics(target.api(), DescriptorType::engine_heuristics, where);
  heuristics.set(Attribute::heuristics_operation_graph, graph.graph.get(), where);
  heuristics.set(Attribute::heuristics_mode, AttributeType::heuristics_mode, static_cast<int>(mode),
                 where);
  if (target.handle() == nullptr)
    heuristics.set(Attribute::heuristics_device_properties, target.properties(), where);
  heuristics.finalize(where);
  return heuristics;
}

/// Builds the plan for its workspace; false when the engine can't do this problem after all.
bool can_build(const Target& target, Descriptor config, Engine& engine, const std::string& where) {
  try {
    engine.workspace = workspace_of(build_plan(target, config, where), where);
    return true;
  } catch (const DeviceError&) {
    return false;
  }
}

}  // namespace

Target::Target(const CudnnApi& api, const std::string& properties)
    : api_(&api), properties_(api, DescriptorType::device_properties, "device properties") {
  properties_.set_raw(Attribute::device_properties_json, AttributeType::character,
                      static_cast<std::int64_t>(properties.size()), properties.data(),
                      "device properties");
  properties_.finalize("device properties");
}

void visit_engines(const Target& target, const ConvKey& key,
                   const std::function<bool(const Engine&)>& worth_building,
                   const std::function<bool(const Engine&)>& visit) {
  const std::string where = text(key);
  const ConvGraph graph = build_graph(target, key, where);
  EngineReader reader(target, where);
  for (const HeuristicsMode mode : {HeuristicsMode::a, HeuristicsMode::fallback}) {
    const OwnedDescriptor heuristics = ask_heuristics(target, graph, mode, where);
    const std::int64_t count = heuristics.get_descriptors(Attribute::heuristics_results, {}, where);
    if (count == 0) continue;
    Slots configs(target.api(), DescriptorType::engine_config, count, where);
    const std::int64_t filled =
        heuristics.get_descriptors(Attribute::heuristics_results, configs.raw(), where);
    for (std::size_t i = 0; i < static_cast<std::size_t>(filled); ++i) {
      Engine engine = reader.read(configs[i]);
      if (!worth_building(engine)) continue;
      if (can_build(target, configs[i].get(), engine, where) && !visit(engine)) return;
    }
  }
}

Plan::Plan(const Target& target, const ConvKey& key, const Engine& engine)
    : api_(&target.api()), where_(text(key) + ", engine " + std::to_string(engine.id)) {
  ConvGraph graph = build_graph(target, key, where_);
  OwnedDescriptor chosen(*api_, DescriptorType::engine, where_);
  chosen.set(Attribute::engine_operation_graph, graph.graph.get(), where_);
  chosen.set(Attribute::engine_global_index, AttributeType::int64, {&engine.id, 1}, where_);
  if (target.handle() == nullptr)
    chosen.set(Attribute::engine_device_properties, target.properties(), where_);
  chosen.finalize(where_);

  OwnedDescriptor config(*api_, DescriptorType::engine_config, where_);
  config.set(Attribute::config_engine, chosen.get(), where_);
  std::vector<Descriptor> choices;
  parts_ = std::move(graph.parts);
  parts_.push_back(std::move(graph.graph));
  parts_.push_back(std::move(chosen));
  for (const auto& [kind, value] : engine.knobs) {
    OwnedDescriptor& choice = parts_.emplace_back(*api_, DescriptorType::knob_choice, where_);
    choice.set(Attribute::knob_type, AttributeType::knob_type, static_cast<int>(kind), where_);
    choice.set(Attribute::knob_value, AttributeType::int64, {&value, 1}, where_);
    choice.finalize(where_);
    choices.push_back(choice.get());
  }
  if (!choices.empty())
    config.set_raw(Attribute::config_knob_choices, AttributeType::descriptor,
                   static_cast<std::int64_t>(choices.size()), choices.data(), where_);
  config.finalize(where_);
  plan_ = build_plan(target, config.get(), where_);
  parts_.push_back(std::move(config));
  workspace_ = workspace_of(plan_, where_);
}

void Plan::execute(Handle handle, const void* x, const void* w, const void* y,
                   void* workspace) const {
  check_contract(api_->execute != nullptr, "a plan was executed without a device");
  const std::array<std::int64_t, 3> numbers{kX, kW, kY};
  const std::array<const void*, 3> pointers{x, w, y};
  OwnedDescriptor pack(*api_, DescriptorType::variant_pack, where_);
  pack.set(Attribute::pack_unique_ids, AttributeType::int64, numbers, where_);
  pack.set_raw(Attribute::pack_data_pointers, AttributeType::pointer, 3, pointers.data(), where_);
  pack.set_raw(Attribute::pack_workspace, AttributeType::pointer, 1, &workspace, where_);
  pack.finalize(where_);
  check(*api_, api_->execute(handle, plan_.get(), pack.get()), "cudnnBackendExecute", where_);
}

}  // namespace arenagrad::cudnn
