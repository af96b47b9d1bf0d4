#include "kernels/cudnn/engine_source.h"

#include "kernels/backend.h"

namespace arenagrad::cudnn {
namespace {

std::string none_among(std::size_t offered, std::size_t unwelcome, const EnginePolicy& policy) {
  if (offered == 0) return "cuDNN has no engine for it";
  std::string text = "none of cuDNN's " + std::to_string(offered) + " engines is acceptable: ";
  text += std::to_string(unwelcome) + " not ";
  text += policy.allow_nondeterministic ? "in true f32"
          : policy.allow_tf32           ? "deterministic"
                                        : "deterministic or not in true f32";
  if (policy.workspace != EnginePolicy::Workspace::heuristic)
    text +=
        ", " + std::to_string(offered - unwelcome) + " with too much workspace or not to be built";
  return text;
}

}  // namespace

bool EnginePolicy::welcomes(const Engine& engine, DataType type) const {
  const Notes& notes = engine.notes;
  if (!allow_nondeterministic && notes.has(NumericalNote::nondeterministic)) return false;
  // In f64 and f16 a tensor core computes what was asked for.
  if (allow_tf32 || type != DataType::f32) return true;
  return !notes.has(NumericalNote::tensor_core) && !notes.has(NumericalNote::down_converts_inputs);
}

bool EnginePolicy::accepts(const Engine& engine, DataType type) const {
  if (!welcomes(engine, type)) return false;
  switch (workspace) {
    case Workspace::heuristic: return true;
    case Workspace::none: return engine.workspace == 0;
    case Workspace::limit: return engine.workspace <= limit;
  }
  return false;
}

EngineAnswer DirectSource::first(const ConvKey& key, const EnginePolicy& policy) {
  EngineAnswer answer;
  std::size_t offered = 0, unwelcome = 0;
  try {
    visit_engines(
        target_, key,
        [&](const Engine& engine) {
          const bool welcome = policy.welcomes(engine, key.type);
          ++offered;
          unwelcome += welcome ? 0 : 1;
          return welcome;
        },
        [&](const Engine& engine) {
          if (!policy.accepts(engine, key.type)) return true;
          answer.engine = engine;
          return false;
        });
    if (!answer.engine) answer.why = none_among(offered, unwelcome, policy);
  } catch (const DeviceError& error) {
    answer.why = error.what();
  }
  return answer;
}

std::vector<Engine> DirectSource::all(const ConvKey& key) {
  std::vector<Engine> engines;
  try {
    visit_engines(
        target_, key, [](const Engine&) { return true; },
        [&](const Engine& engine) {
          engines.push_back(engine);
          return true;
        });
  } catch (const DeviceError&) {
    engines.clear();
  }
  return engines;
}

}  // namespace arenagrad::cudnn
