#include "allocator/units.h"
#include "experiments/experiment.h"
#include "kernels/cuda/convolutions.h"
#include "kernels/cuda/device.h"
#include "kernels/cudnn/engine_planner.h"
#include "tests/cuda/gpu_check/checks.h"
#include "tests/cuda/gpu_under_test.h"

namespace arenagrad::cuda_test {
namespace {

Json to_json(const cudnn::EngineAnswer& answer) {
  if (!answer.engine) return {{"why_none", answer.why}};
  return {{"engine", answer.engine->id},
          {"knobs", answer.engine->knobs},
          {"workspace", answer.engine->workspace},
          {"notes", cudnn::names(answer.engine->notes)}};
}

Json to_json(const std::vector<Disagreement>& disagreements) {
  Json list = Json::array();
  for (const Disagreement& found : disagreements)
    list.push_back({{"convolution", cudnn::text(found.key)},
                    {"accumulate", found.key.accumulate},
                    {"planned", to_json(found.planned)},
                    {"device", to_json(found.device)}});
  return list;
}

/// A step on the whole batch; and one that adds its gradients, micro-batches of the same size.
void plan_every_convolution(const Model& model, std::int64_t batch, const Profile& profile) {
  Settings settings;
  settings.profile = profile;
  settings.plan.batching = {batch, batch};
  settings.plan.mode = GradientMode::full_batch;
  prepare(model, settings);
  settings.plan.batching = {2 * batch, batch};
  settings.plan.mode = GradientMode::per_step;
  prepare(model, settings);
}

}  // namespace

Verdict check_engines(const char* model_name, std::int64_t batch, Layout layout,
                      const PlannedFrom& from, DeviceAnswers& device, Json& details) {
  const Model model = load_model(model_name);
  Profile profile = GpuUnderTest(layout).profile();
  const cudnn::EnginePlanner planner({.layout = layout, .alignment = profile.alignment}, [&from] {
    return std::make_unique<cudnn::DirectSource>(cuda::linked_cudnn(), from.properties);
  });
  profile.kernels = &planner;
  plan_every_convolution(model, batch, profile);
  if (!planner.complete()) throw DeviceError(planner.why_unknown());

  const AnswerComparison compared = compare_answers(
      planner.answers(),
      [&](const cudnn::ConvKey& key) -> const cudnn::EngineAnswer& { return device.answer(key); });
  const auto different = compared.disagreements.size();
  details["model"] = model_name;
  details["batch"] = batch;
  details["layout"] = cudnn::name(layout);
  details["planned_from"] = from.name;
  details["questions"] = compared.questions;
  details["without_engine"] = compared.without_engine;
  details["largest_workspace"] = compared.largest_workspace;
  details["disagreements"] = to_json(compared.disagreements);
  std::string summary = std::to_string(compared.questions) + " questions, " +
                        std::to_string(different) + " answered otherwise by the GPU, workspace " +
                        exact_bytes(compared.largest_workspace) + " at most";
  if (different > 0) summary += "; first " + cudnn::text(compared.disagreements[0].key);
  if (from.is_the_gpu) {
    cuda::open_gpu({}, planner)->make_backend();  // throws when a workspace is another
    details["built"] = planner.table().size();
    summary += "; all built from id and knobs with the planned workspace";
  }
  details["summary"] = summary;
  return verdict(compared.questions > 0 && different == 0);
}

}  // namespace arenagrad::cuda_test
