#include "cli/verbs.h"

#include <fmt/format.h>

#include "allocator/units.h"
#include "cli/parse.h"
#include "cli/tables.h"
#include "cli/to_json.h"

namespace arenagrad::cli {
namespace {

std::string backend_of(const std::string& verb, const Flags& flags) {
  return verb == "plan" ? "none" : flags.device.backend();
}

}  // namespace

Model load(const Flags& flags) { return load_model(flags.spec, {.input = flags.input}); }

std::optional<DataFeed> load_data(const Flags& flags, const Model& model, const Console& console) {
  if (flags.images.empty()) return std::nullopt;
  if (model.samples.size() != 1)
    throw UsageError(fmt::format("--data: expected a model with one input, got {} with {}",
                                 model.name, model.samples.size()));
  DataFeed feed(read_labelled_images(flags.images, flags.labels, model.classes),
                model.tape.tensor(model.samples.front()).shape);
  note("data: " + feed.describe(), flags.output, console);
  return feed;
}

ExitCode emit_out_of_memory(const std::string& verb, const OutOfMemoryReport& report,
                            const Json& timeline, const Model& model, const Flags& flags,
                            const Console& console) {
  Document document;
  document.json = json_header(verb, flags, model, backend_of(verb, flags));
  document.json["name"] = model.name;
  document.json["device"] = report.device;
  put(document.json, report.settings);
  document.json["error"] = to_json(report);
  document.json["timeline"] = timeline;
  document.tables = out_of_memory_tables(report);
  document.answer =
      fmt::format("{} does not fit: {}", subject(model.name, report.settings), text(report));
  document.json["answer"] = document.answer;
  emit_failure(document, flags.output, console);
  return ExitCode::does_not_fit;
}

ExitCode emit_not_enough(const std::string& verb, const NotEnoughMemory& error, const Model& model,
                         const Settings& settings, const Flags& flags, const Console& console) {
  Document document;
  document.json = json_header(verb, flags, model, backend_of(verb, flags));
  document.json["name"] = model.name;
  document.json["device"] = settings.profile.name;
  put(document.json, settings);
  document.json["error"] = {{"kind", "not_enough_memory"},
                            {"message", error.what()},
                            {"arena", error.arena},
                            {"host", error.host},
                            {"available", error.available}};
  document.json["timeline"] = nullptr;  // nothing was started
  auto table = Table::of_quantities("not enough memory on this machine");
  table.add("arena", "arena", Bytes{error.arena});
  table.add("host arrays", "host", Bytes{error.host});
  table.add("available", "available", Bytes{error.available});
  document.tables.push_back(std::move(table));
  document.answer = fmt::format("{} was not started: {}", model.name, error.what());
  document.json["answer"] = document.answer;
  emit_failure(document, flags.output, console);
  return ExitCode::does_not_fit;
}

}  // namespace arenagrad::cli
