#include <fmt/format.h>

#include "allocator/units.h"
#include "experiments/does_not_fit.h"
#include "experiments/host_memory.h"
#include "experiments/run.h"
#include "kernels/cuda/device.h"
#include "kernels/cudnn/engine_planner.h"
#include "tests/cuda/gpu_check/checks.h"
#include "tests/cuda/gpu_under_test.h"

namespace arenagrad::cuda_test {
namespace {

/// PyTorch's result for the same step; null where there is none.
Json find_theirs(const Json& pytorch, const std::string& model, std::int64_t batch, Layout layout) {
  if (pytorch.is_null()) return nullptr;
  for (const Json& result : pytorch.at("results"))
    if (result.at("model") == model && result.at("batch") == batch &&
        result.at("channels_last") == (layout == Layout::nhwc))
      return result;
  return nullptr;
}

std::string beside(const Json& theirs, double ours) {
  if (theirs.is_null()) return "; no PyTorch beside it";
  if (theirs.at("seconds").is_null()) return "; PyTorch: " + theirs.value("error", "no time");
  const double seconds = theirs.at("seconds");
  std::string text =
      fmt::format("; PyTorch {:.2f} ms ({:.2f} x ours)", 1e3 * seconds, seconds / ours);
  if (theirs.at("peak_allocated").is_number())
    text += fmt::format(", allocated {}, reserved {}",
                        human_bytes(theirs.at("peak_allocated").get<std::size_t>()),
                        human_bytes(theirs.at("peak_reserved").get<std::size_t>()));
  return text;
}

}  // namespace

Verdict check_time(const char* model_name, std::int64_t batch, Layout layout, const Json& pytorch,
                   Json& details) {
  const Model model = load_model(model_name);
  const GpuUnderTest gpu(layout);
  Settings settings;
  settings.plan.batching = {batch, batch};
  settings.plan.mode = GradientMode::full_batch;
  settings.plan.optimizer = {.kind = OptimizerSpec::Kind::sgd, .momentum = 0.9};
  settings.steps = 12;
  settings.profile = gpu.profile();
  const Json theirs = find_theirs(pytorch, model_name, batch, layout);
  details["model"] = model_name;
  details["batch"] = batch;
  details["layout"] = cudnn::name(layout);
  details["pytorch"] = theirs;
  const auto device = gpu.open();
  try {
    const Run run = run_real(model, settings, {.device = device.get()});
    const Measurement& m = run.measurement;
    const Seconds seconds = m.seconds.value();
    details["seconds"] = {{"forward", seconds.forward},
                          {"backward", seconds.backward},
                          {"update", seconds.update},
                          {"step", seconds.step_median}};
    details["peak_requested"] = m.bytes.peak_requested;
    details["footprint"] = m.bytes.footprint;
    details["reserved"] = m.bytes.reserved;
    details["context"] = m.bytes.context;
    details["summary"] =
        fmt::format("{:.2f} ms a step, needs {}, reserved {}{}", 1e3 * seconds.step_median,
                    human_bytes(m.bytes.peak_requested), human_bytes(m.bytes.reserved),
                    beside(theirs, seconds.step_median));
    return verdict(m.planned_equals_observed == true && m.balanced && seconds.step_median > 0);
  } catch (const DoesNotFit& error) {
    details["summary"] = error.what();
  } catch (const NotEnoughMemory& error) {
    details["summary"] = error.what();
  }
  return Verdict::left_out;
}

}  // namespace arenagrad::cuda_test
