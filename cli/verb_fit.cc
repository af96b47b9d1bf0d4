#include <fmt/format.h>

#include "allocator/units.h"
#include "cli/fit_tables.h"
#include "cli/frontier_tables.h"
#include "cli/parse.h"
#include "cli/tables.h"
#include "cli/to_json.h"
#include "cli/verbs.h"

namespace arenagrad::cli {
namespace {

/// What was typed, else what the device of the profile has.
std::size_t memory_of(const Flags& flags, const Settings& settings) {
  const auto& memory = flags.batches.memory;
  if (memory && flags.capacity) throw UsageError("--memory: expected it or --capacity, got both");
  if (memory || flags.capacity) return memory ? *memory : *flags.capacity;
  if (settings.profile.capacity != kUnlimited) return settings.profile.capacity;
  throw UsageError("--memory: expected a size such as 6GiB, got none");
}

/// Where no convolution may take workspace, the bytes don't depend on which engines there are, and
/// each question takes longer than everything else. A proof runs them, and --save-engines wants
/// what was answered.
bool asks_engines(const Flags& flags) {
  using Workspace = cudnn::EnginePolicy::Workspace;
  return flags.device.opened()->planner() != nullptr &&
         (flags.device.choice.policy.workspace != Workspace::none || flags.batches.prove ||
          !flags.device.save_engines.empty());
}

/// Not on the processor, which has one engine.
bool engines_left_out(const Flags& flags) {
  return flags.device.opened()->planner() != nullptr && !asks_engines(flags);
}

FitOptions options_of(const Flags& flags, const Model& model, const Console& console) {
  if (flags.batches.frontier && flags.no_grad)
    throw UsageError("--frontier: expected gradients to recompute for, got --no-grad");
  if (flags.output.plot && !flags.batches.frontier)
    throw UsageError("--plot: expected --frontier, which it draws, got it alone");
  auto one = flags;  // --batch is another question here
  one.batch.reset();
  FitOptions options;
  options.settings = one.settings(std::max(kDefaultBatch, flags.micro_batch.value_or(1)));
  options.memory = memory_of(flags, options.settings);
  options.reserve = flags.batches.reserve;
  if (options.reserve >= options.memory)
    throw UsageError(fmt::format("--reserve: expected less than the memory of {}, got {}",
                                 exact_bytes(options.memory), exact_bytes(options.reserve)));
  options.micro_batch = flags.micro_batch;
  options.most = flags.batches.most;
  options.most_was_asked = flags.batches.most != BatchFlags{}.most;
  options.effective = flags.batch;
  options.prove = flags.batches.prove;
  options.frontier = flags.batches.frontier;
  options.asks_engines = asks_engines(flags);
  if (engines_left_out(flags)) options.settings.profile = flags.device.opened()->unasked_profile();
  options.budget = flags.budget;
  options.interrupted = console.interrupted;
  if (flags.spec != "-" && model.samples.size() == 1)
    options.sized = [&flags, &model](std::int64_t size) {
      const auto& shape = model.tape.tensor(model.samples.front()).shape;
      return load_model(flags.spec, {.input = Shape{shape[0], size, size}});
    };
  return options;
}

std::string strategy_text(const Settings& settings) {
  return fmt::format("{}, {}", name(settings.plan.mode), settings.strategy);
}

std::string proof_text(const Proof& proof) {
  if (!proof.ran) return " It was not run: " + proof.message;
  return fmt::format(" Run for real, its ledger {} the plan's; {}.",
                     proof.same_ledger ? "is" : "IS NOT",
                     proof.next_refused ? "one sample more is refused" : proof.message);
}

std::string answer_of(const Model& model, const Fit& fit, std::optional<std::int64_t> effective) {
  const auto& found = fit.found;
  const auto capacity = exact_bytes(fit.capacity);
  if (found.largest == 0) {
    auto text = fmt::format("no batch of {} fits in {}", model.name, capacity);
    if (fit.why_not)
      text += fmt::format("; at {}: {}", fit.settings.plan.batching.batch,
                          arenagrad::text(*fit.why_not));
    for (const auto& remedy : fit.remedies)
      if (remedy.fits && remedy.footprint)
        return text +
               fmt::format(" With {} it fits, in {}.", remedy.what,
                           exact_bytes(*remedy.footprint)) +
               frontier_text(fit, effective);
    return text + frontier_text(fit, effective);
  }
  auto text =
      fmt::format("the largest batch of {} in {} is {}{} ({}), with a footprint of {}", model.name,
                  capacity, found.next_is_refused() ? "" : "at least ", found.largest,
                  strategy_text(fit.settings), exact_bytes(fit.footprint_at_largest));
  if (found.unexamined) {
    text += fmt::format("; {} to {} were not examined, time ran out", found.unexamined->first,
                        found.unexamined->second);
  } else if (!found.next_is_refused()) {
    text += fit.stopped_by_graph ? "; a longer graph is looked for with --max alone"
                                 : "; no larger one was looked at (--max)";
  } else if (fit.footprint_at_next) {
    text +=
        fmt::format("; {} would take {}", found.largest + 1, exact_bytes(*fit.footprint_at_next));
  }
  for (const auto& route : fit.routes)
    if (route.mode == GradientMode::per_step && route.fits && !fit.routes.front().fits)
      text += fmt::format(". per-step reaches {} in micro-batches of {}, with a footprint of {}",
                          route.batch, route.micro_batch, exact_bytes(*route.footprint));
  text += ".";
  text += frontier_text(fit, effective);
  if (fit.proof) text += proof_text(*fit.proof);
  return text;
}

Fit fitted(const Model& model, FitOptions options, const Flags& flags, const Console& console) {
  Progress progress(flags.output, console);
  options.progress = [&](std::int64_t batch) {
    progress.show(fmt::format("planning batch {}", batch));
  };
  return arenagrad::fit(model, options);
}

bool proof_failed(const Fit& fit) {
  const auto& proof = fit.proof;
  return proof && proof->ran &&
         (!proof->same_ledger || (fit.found.next_is_refused() && !proof->next_refused));
}

}  // namespace

ExitCode fit(const Flags& flags, const Console& console) {
  const auto model = load(flags);
  auto options = options_of(flags, model, console);
  const auto device = options.prove ? flags.device.opened()->open() : nullptr;
  options.device = device.get();
  const auto result = fitted(model, options, flags, console);
  if (engines_left_out(flags))
    note(fmt::format("no engine was asked about: each convolution is taken to have one without "
                     "workspace; plan --device {} --workspace none asks cuDNN whether it has",
                     flags.device.choice.device),
         flags.output, console);

  Document document;
  document.json = json_header("fit", flags, model, result.proof ? result.proof->backend : "none");
  document.json["name"] = model.name;
  document.json["device"] = result.settings.profile.name;
  put(document.json, result.settings);
  document.json.erase("batch");
  document.json["workspace_included"] = result.settings.profile.kernels->complete();
  document.json["engines_asked"] =
      flags.device.opened()->planner() == nullptr ? Json(nullptr) : Json(asks_engines(flags));
  put(document.json, result, options);
  document.tables = {fit_table(result, options), formulas_table(result)};
  if (!result.routes.empty()) document.tables.push_back(routes_table(result));
  if (options.frontier) {
    document.tables.push_back(frontier_table(result));
    document.plot = frontier_plot(result, model.name);
  }
  if (result.why_not)
    for (auto& table : out_of_memory_tables(*result.why_not))
      document.tables.push_back(std::move(table));
  if (!result.remedies.empty()) document.tables.push_back(remedies_table(result));
  document.answer = answer_of(model, result, options.effective);
  document.json["answer"] = document.answer;
  if (result.found.largest == 0) {
    emit_failure(document, flags.output, console);
    return ExitCode::does_not_fit;
  }
  emit(document, flags.output, console);
  if (result.proof && !result.proof->ran) return ExitCode::does_not_fit;
  return proof_failed(result) ? ExitCode::check_failed : ExitCode::ok;
}

}  // namespace arenagrad::cli
