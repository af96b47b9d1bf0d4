#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "allocator/units.h"
#include "cli/tables.h"
#include "cli/to_json.h"
#include "cli/verb_plots.h"
#include "cli/verbs.h"

namespace arenagrad::cli {
namespace {

/// "a, b, c and 17 more": the JSON has them all.
std::string first_few(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  if (names.size() <= kShown + 1) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + kShown, ", "),
                     names.size() - kShown);
}

/// "all 3 pairs are equal (rel_l2 at most 3.1e-07)".
std::string verdicts(const Comparison& comparison) {
  const auto& pairs = comparison.pairs;
  if (pairs.empty()) return "no pair of modes ran";
  double apart = 0;
  std::vector<std::string> words;
  for (const auto& pair : pairs) {
    if (pair.same_computation) apart = std::max(apart, pair.gradient.rel_l2);
    words.push_back(fmt::format("{} and {} are {}", name(pair.a), name(pair.b),
                                text(pair.verdict, pair.flips)));
  }
  const bool all_equal = std::all_of(pairs.begin(), pairs.end(), [](const PairResult& pair) {
    return pair.verdict == Verdict::equal;
  });
  const auto what = all_equal ? fmt::format("all {} pair{} equal", pairs.size(),
                                            pairs.size() == 1 ? " is" : "s are")
                              : fmt::format("{}", fmt::join(words, ", "));
  return fmt::format("{} (rel_l2 at most {:.3g})", what, apart);
}

std::string least_memory(const Comparison& comparison) {
  const ModeResult* least = nullptr;
  const ModeResult* most = nullptr;
  for (const auto& mode : comparison.modes) {
    if (!mode.measurement) continue;
    const auto peak = mode.measurement->bytes.peak_requested;
    if (!least || peak < least->measurement->bytes.peak_requested) least = &mode;
    if (!most || peak > most->measurement->bytes.peak_requested) most = &mode;
  }
  if (!least || least == most) return "";
  return fmt::format("; {} peaks lowest at {}, {} highest at {}", name(least->mode),
                     exact_bytes(least->measurement->bytes.peak_requested), name(most->mode),
                     exact_bytes(most->measurement->bytes.peak_requested));
}

std::string closest(const Comparison& comparison) {
  const auto modes = nearest(comparison.against_f64);
  if (modes.empty()) return "";
  const auto entry =
      std::ranges::find(comparison.against_f64, modes.front(), &ReferenceResult::mode);
  const double distance = entry->gradient.rel_l2;
  if (comparison.closest)
    return fmt::format("; {} is closest to f64 (rel_l2 {:.3g})", name(modes.front()), distance);
  std::vector<std::string_view> names;
  for (const auto mode : modes) names.push_back(name(mode));
  const bool several = names.size() > 1;
  return fmt::format("; {} {} f64 by rel_l2 {:.3g}{}", fmt::join(names, " and "),
                     several ? "differ from" : "differs from", distance,
                     several ? ", all alike" : "");
}

void add_notes(const Comparison& comparison, const Flags& flags, const Console& console) {
  const auto say = [&](const std::string& text) { note(text, flags.output, console); };
  const auto unlike = [](const PairResult& pair) { return !pair.same_computation; };
  if (std::any_of(comparison.pairs.begin(), comparison.pairs.end(), unlike))
    say(fmt::format(
        "full-batch and micro-batches are not the same computation here: {} make{} "
        "samples of a batch influence each other; their difference is shown, not "
        "judged (--eval compares like with like)",
        first_few(comparison.coupled_layers), comparison.coupled_layers.size() == 1 ? "s" : ""));
  for (const auto& pair : comparison.pairs) {
    if (pair.rel_l2_f64)
      say(fmt::format(
          "{} and {} differ by {:.3g} with {} branch flips; run again in f64 they "
          "differ by {:.3g}",
          name(pair.a), name(pair.b), pair.gradient.rel_l2, pair.flips, *pair.rel_l2_f64));
    if (!pair.no_rerun.empty())
      say(
          fmt::format("{} and {} differ by {:.3g} with {} branch flips, and could not be run again "
                      "in f64 to decide: {}",
                      name(pair.a), name(pair.b), pair.gradient.rel_l2, pair.flips, pair.no_rerun));
    if (!pair.gradient.zero_up_to_rounding.empty() && &pair == &comparison.pairs.front())
      say(fmt::format("zero up to rounding: the gradient{} of {}",
                      pair.gradient.zero_up_to_rounding.size() == 1 ? "" : "s",
                      first_few(pair.gradient.zero_up_to_rounding)));
  }
  if (!comparison.no_reference.empty()) say("no comparison with f64: " + comparison.no_reference);
  for (const auto& mode : comparison.modes)
    if (!mode.measurement) say(fmt::format("{} did not run: {}", name(mode.mode), mode.error));
}

Document document_of(const Comparison& comparison, const Model& model, const Flags& flags) {
  Document document;
  auto& json = document.json = json_header("compare", flags, model, flags.device.backend());
  json["name"] = model.name;
  json["device"] = comparison.settings.profile.name;
  put(json, comparison.settings);
  json.erase("mode");
  json["parameters"] = model.tape.parameter_count();
  put(json, comparison);
  document.tables.push_back(modes_table(comparison));
  if (!comparison.pairs.empty()) document.tables.push_back(pairs_table(comparison));
  if (!comparison.against_f64.empty()) document.tables.push_back(reference_table(comparison));
  const auto& batching = comparison.settings.plan.batching;
  document.answer = fmt::format("{}, batch {} in micro-batches of {}: {}{}{}.", model.name,
                                batching.batch, batching.micro_batch, verdicts(comparison),
                                least_memory(comparison), closest(comparison));
  json["answer"] = document.answer;
  document.plot = compare_plot(comparison, model.name);
  return document;
}

}  // namespace

ExitCode compare(const Flags& flags, const Console& console) {
  const auto settings = flags.settings(kDefaultBatch);
  const auto model = load(flags);
  const auto device = flags.device.opened()->open();
  auto data = load_data(flags, model, console);
  const auto comparison = [&] {
    Progress progress(flags.output, console);
    CompareOptions options;
    options.device = device.get();
    options.arena = flags.device.arena;
    if (!flags.modes.empty()) options.modes = flags.modes;
    options.reference = flags.reference;
    if (data) {
      options.feed = &*data;
      options.host_bytes = data->bytes();
    }
    options.interrupted = console.interrupted;
    options.progress = [&](const std::string& what, std::int64_t step) {
      progress.show(fmt::format("{}: {} of {} steps", what, step, settings.steps));
    };
    return arenagrad::compare(model, settings, options);
  }();
  add_notes(comparison, flags, console);
  emit(document_of(comparison, model, flags), flags.output, console);
  auto code = ExitCode::ok;
  if (comparison.failed()) code = worse(code, ExitCode::check_failed);
  if (!comparison.everything_fitted()) code = worse(code, ExitCode::does_not_fit);
  return code;
}

}  // namespace arenagrad::cli
