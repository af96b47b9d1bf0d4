#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "allocator/units.h"
#include "cli/formula.h"
#include "cli/frontier_tables.h"
#include "cli/parse.h"
#include "cli/sweep_tables.h"
#include "cli/tables.h"
#include "cli/to_json.h"
#include "cli/verb_plots.h"
#include "cli/verbs.h"
#include "zoo/catalogue.h"

namespace arenagrad::cli {
namespace {

/// `show` of bytes that may be negative.
template <class Show>
std::string shown(std::int64_t bytes, Show show) {
  return (bytes < 0 ? "-" : "") + show(static_cast<std::size_t>(std::llabs(bytes)));
}

/// Whether it is "2G + 2G x batch/8", and what else there is to say about one mode.
std::string answer_of(const std::string& model, const Decomposition& d) {
  if (d.pieces.empty())
    return fmt::format("{}, {}: none of these batches could be planned.", model, name(d.mode));
  const auto fixed = total(d.line.fixed), slope = total(d.line.per_sample),
             forward = total(d.line.per_forward);
  auto text =
      fmt::format("{}, {}: from batch {} on the peak is {} + {} x batch", model, name(d.mode),
                  d.valid_from, shown(fixed, exact_bytes), shown(slope, exact_bytes));
  if (forward != 0) text += fmt::format(" + {} x micro-batches", shown(forward, exact_bytes));
  text += d.largest_residual == 0
              ? ", exact to the byte"
              : fmt::format(", within {} ({} at batch {})", exact_bytes(d.largest_residual),
                            d.residual_cause, d.residual_at);
  text += fmt::format("; in other words {} + {} x batch/8", shown(fixed, human_bytes),
                      shown(8 * slope, human_bytes));
  if (forward != 0) text += fmt::format(" + {} x micro-batches", shown(forward, human_bytes));
  if (d.valid_from > d.pieces.front().from)
    text += ". A peak is the largest of several linear functions: smaller batches follow others";
  if (d.activations_outgrow_parameters)
    text += fmt::format(
        ". {} batch {} activations outgrow parameters",
        d.outgrown_from_the_start && *d.activations_outgrow_parameters > 1 ? "Already at" : "At",
        *d.activations_outgrow_parameters);
  return text + ".";
}

std::string answer_over_inputs(const std::string& model, const Sweep& sweep) {
  const SweepPoint *first = nullptr, *last = nullptr;
  for (const auto& point : sweep.points) {
    if (!point.error.empty() || point.mode != sweep.points.front().mode) continue;
    if (!first) first = &point;
    last = &point;
  }
  if (!first) return fmt::format("{}: none of these inputs could be planned.", model);
  const auto elements = [](const SweepPoint& point) {
    return static_cast<double>(point.input.elements());
  };
  return fmt::format(
      "{}, batch {}, {}: the peak grows from {} at {} to {} at {}: {:.2f} times for {:.2f} times "
      "the pixels.",
      model, first->batch, name(first->mode), exact_bytes(first->peak.requested),
      first->input.text(), exact_bytes(last->peak.requested), last->input.text(),
      static_cast<double>(last->peak.requested) / static_cast<double>(first->peak.requested),
      elements(*last) / elements(*first));
}

SweepOptions options_of(const Flags& flags, const Console& console) {
  const auto& asked = flags.batches;
  if (flags.batch && asked.inputs.empty())
    throw UsageError("--batch: expected --batches, or --inputs beside it, got it alone");
  if (!asked.batches.empty() && !asked.inputs.empty())
    throw UsageError("--inputs: expected --batch for a single one, got --batches as well");
  if (!asked.inputs.empty() && flags.input)
    throw UsageError("--inputs: expected it alone, got --input as well");
  if (asked.formula && !asked.inputs.empty())
    throw UsageError("--formula: expected --batches, got --inputs");
  if (asked.frontier && flags.no_grad)
    throw UsageError("--frontier: expected gradients to recompute for, got --no-grad");
  if (asked.formula && asked.frontier)
    throw UsageError("--formula: expected it alone, got --frontier as well");
  SweepOptions options;
  auto one = flags;  // the modes are several here; each is set in its turn
  one.modes.clear();
  options.settings = one.settings(std::max(kDefaultBatch, flags.micro_batch.value_or(1)));
  options.micro_batch = flags.micro_batch;
  options.modes = flags.modes.empty() ? std::vector{GradientMode::full_batch} : flags.modes;
  options.inputs = asked.inputs;
  options.batches = !asked.inputs.empty()   ? std::vector{flags.batch.value_or(kDefaultBatch)}
                    : asked.batches.empty() ? parse_range("--batches", "1:32")
                                            : asked.batches;
  options.real = asked.real;
  options.frontier = asked.frontier;
  options.interrupted = console.interrupted;
  return options;
}

/// The text of the spec is read once: it may come through a pipe.
ModelSource source_of(const Flags& flags) {
  const auto file = resolve_spec(flags.spec);
  return [&flags, text = read_text(file), file](std::optional<std::int64_t> size) {
    ModelOptions options{.input = flags.input};
    auto model = parse_model(text, file == "-" ? "<stdin>" : file, options);
    if (size) {
      const auto& shape = model.tape.tensor(model.samples.front()).shape;
      if (model.samples.size() != 1 || shape.rank() != 3)
        throw UsageError("--inputs: expected a model with one input, CxHxW, got " + model.name);
      options.input = Shape{shape[0], *size, *size};
      model = parse_model(text, file == "-" ? "<stdin>" : file, options);
    }
    model.path = flags.spec;
    return model;
  };
}

Sweep swept(const ModelSource& source, SweepOptions options, const Flags& flags,
            const Console& console) {
  Progress progress(flags.output, console);
  options.progress = [&](std::size_t done, std::size_t of) {
    constexpr std::size_t kWidth = 30;
    const auto full = kWidth * done / of;
    progress.show(fmt::format("[{}{}] {} of {} points", std::string(full, '#'),
                              std::string(kWidth - full, '.'), done, of));
  };
  return arenagrad::sweep(source, options);
}

bool failed(const Sweep& sweep) {
  const auto bad = [](const SweepPoint& point) { return point.real && !point.real->same_ledger; };
  return std::any_of(sweep.points.begin(), sweep.points.end(), bad) ||
         std::any_of(sweep.frontier.begin(), sweep.frontier.end(),
                     [&](const FrontierPoint& one) { return bad(one.point); });
}

/// What computed the points that ran.
std::string backend_of(const Sweep& sweep) {
  for (const auto& point : sweep.points)
    if (point.real) return point.real->backend;
  return "none";
}

void add_frontier(Document& document, const Sweep& sweep, const Settings& settings) {
  document.json["frontier"] = Json::array();
  for (const auto& one : sweep.frontier) document.json["frontier"].push_back(to_json(one));
  if (sweep.frontier.empty()) return;
  document.tables.push_back(frontier_table(sweep));
  document.answer +=
      "\n" + frontier_text(sweep, settings.capacity.value_or(settings.profile.capacity));
}

}  // namespace

ExitCode sweep(const Flags& flags, const Console& console) {
  auto options = options_of(flags, console);
  const auto device = options.real ? flags.device.opened()->open() : nullptr;
  options.device = device.get();
  const auto source = source_of(flags);
  const auto model = source(std::nullopt);
  const auto result = swept(source, options, flags, console);
  const bool over_inputs = !options.inputs.empty();
  const bool thinned =
      flags.output.format == Format::table || flags.output.format == Format::markdown;

  Document document;
  document.json = json_header("sweep", flags, model, backend_of(result));
  document.json["name"] = model.name;
  document.json["device"] = options.settings.profile.name;
  put(document.json, options.settings);
  document.json["workspace_included"] = options.settings.profile.kernels->complete();
  for (const auto* key : {"mode", "batch", "micro_batch"}) document.json.erase(key);
  document.json["points"] = Json::array();
  for (const auto& point : result.points) document.json["points"].push_back(to_json(point));
  document.json["decomposition"] = Json::object();
  std::string formulas;
  document.tables.push_back(points_table(result, over_inputs, thinned));
  for (const auto& one : result.decompositions) {
    document.json["decomposition"][std::string(name(one.mode))] = to_json(one);
    for (auto table : {pieces_table(one), line_table(one)}) {
      // CSV has no titles: without a column the rows of several modes look alike.
      if (flags.output.format == Format::csv) name_mode(table, one.mode);
      document.tables.push_back(std::move(table));
    }
    if (const auto& style = flags.batches.formula)
      formulas += (formulas.empty() ? "" : "\n") + formula(model.name, one, *style);
    document.answer += (document.answer.empty() ? "" : "\n") + answer_of(model.name, one);
  }
  if (options.real) document.tables.push_back(real_table(result));
  if (over_inputs) document.answer = answer_over_inputs(model.name, result);
  document.json["frontier"] = nullptr;
  if (options.frontier) add_frontier(document, result, options.settings);
  document.json["formula"] = flags.batches.formula ? Json(formulas) : Json(nullptr);
  document.json["answer"] = document.answer;
  if (flags.batches.formula) {
    document.tables.clear();
    document.answer = formulas;
  }
  document.plot = options.frontier ? frontier_plot(result, options, model.name)
                                   : sweep_plot(result, options, model.name);
  emit(document, flags.output, console);
  return failed(result) ? ExitCode::check_failed : ExitCode::ok;
}

}  // namespace arenagrad::cli
