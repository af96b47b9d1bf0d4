#include <fmt/format.h>

#include <utility>
#include <vector>

#include "allocator/units.h"
#include "cli/parse.h"
#include "cli/report/assets.h"
#include "cli/report/page.h"
#include "cli/report/what_if_plans.h"
#include "cli/to_json.h"
#include "cli/verbs.h"
#include "zoo/catalogue.h"

namespace arenagrad::cli {
namespace {

/// A page or a document would take the place of what it was made from.
void refuse_overwriting(const Flags& flags) {
  std::vector<std::pair<std::string, std::string>> outputs;
  if (flags.report_out != "-") outputs.emplace_back("-o", flags.report_out);
  if (flags.output.json && flags.output.json != "-")
    outputs.emplace_back("--json", *flags.output.json);
  auto inputs = flags.report_in;
  if (!flags.spec.empty() && flags.spec != "-") inputs.push_back(resolve_spec(flags.spec));
  for (const auto& [flag, output] : outputs)
    for (const auto& input : inputs)
      if (same_file(output, input))
        throw UsageError(
            fmt::format("{}: expected a file that isn't read here, got {}", flag, output));
}

}  // namespace

ExitCode report(const Flags& flags, const Console& console) {
  if (kDygraphsScript.empty())
    throw Error(
        "report: expected a program built with dygraphs, got one without; install libjs-dygraphs "
        "and build again");
  if (flags.report_out == "-" && flags.output.json_on_stdout())
    throw Error("-o: expected a file, as JSON goes to stdout, got -");
  if (flags.spec.empty() && !(flags.batches.batches.empty() && flags.batches.inputs.empty()))
    throw Error("--batches, --inputs: expected --what-if as well, got none");
  refuse_overwriting(flags);
  std::vector<ReportInput> inputs;
  for (const auto& path : flags.report_in) inputs.push_back(read_report_input(path));
  const auto page = report_page(inputs, what_if_plans(flags, console));
  if (flags.report_out == "-") {
    console.out.write(page);
    return ExitCode::ok;
  }
  write_file(flags.report_out, page);

  Document document;
  document.json = json_header("report", flags);
  document.json["inputs"] = Json::array();
  std::size_t events = 0;
  for (const auto& input : inputs) {
    document.json["inputs"].push_back({{"path", input.path}, {"verb", input.verb}});
    if (input.timeline) events += input.timeline->events.size();
  }
  document.json["page"] = {{"path", flags.report_out}, {"bytes", page.size()}, {"events", events}};
  document.answer = fmt::format("{}: {}, {} events{}.", flags.report_out, exact_bytes(page.size()),
                                with_commas(events),
                                events == 0 ? " (plan and run write them with --events)" : "");
  document.json["answer"] = document.answer;
  emit(document, flags.output, console);
  return ExitCode::ok;
}

}  // namespace arenagrad::cli
