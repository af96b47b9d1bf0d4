#include "cli/program.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <new>
#include <sstream>

#include "allocator/nearest.h"
#include "cli/flags.h"
#include "cli/parse.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "graph/execute.h"

namespace arenagrad::cli {
namespace {

struct Verb {
  const char* name;
  const char* text;
  const char* examples;
  void (*add_flags)(CLI::App&, Flags&);
  ExitCode (*call)(const Flags&, const Console&);
};

constexpr Verb kVerbs[] = {
    {"models", "list the models that come with the program",
     "  arenagrad models\n"
     "  arenagrad models --format csv\n",
     add_output_flags, models},
    {"devices", "list what programs run on here, and the GPUs that can be planned for",
     "  arenagrad devices\n"
     "  arenagrad devices --json - | jq '.profiles[].name'\n",
     add_output_flags, devices},
    {"summary", "a row per layer: shape, parameters, multiply-adds, bytes",
     "  arenagrad summary resnet18\n"
     "  arenagrad summary resnet18 --policy pytorch --batch 64\n"
     "  arenagrad summary my_net.json --input 3x32x32\n",
     add_common_flags, summary},
    {"plan", "dry run: every byte a training step takes, without computing",
     "  arenagrad plan resnet152 --batch 32\n"
     "  arenagrad plan resnet50 --batch 32 --micro-batch 4 --mode per-step --optimizer adam\n"
     "  arenagrad plan vgg16 --batch 64 --capacity 6GiB      (exit 3 if it doesn't fit)\n"
     "  arenagrad plan resnet50 --batch 32 --device h200          (with cuDNN, without a GPU)\n"
     "  arenagrad plan resnet18 --json - | jq .bytes.footprint\n",
     add_common_flags, plan},
    {"run", "train for real and hold the books against the plan",
     "  arenagrad run lenet5 --batch 16 --steps 10 --optimizer sgd --lr 0.01\n"
     "  arenagrad run lenet5_digits --data train-images-idx3-ubyte \\\n"
     "      --labels train-labels-idx1-ubyte --batch 64 --steps 200 --optimizer sgd \\\n"
     "      --momentum 0.9\n",
     add_common_flags, run},
    {"compare", "the same gradient three ways: bytes, time and numeric differences",
     "  arenagrad compare resnet18 --batch 10 --eval --calibrate\n"
     "  arenagrad compare lenet5 --batch 64 --micro-batch 7\n"
     "  arenagrad compare resnet18 --batch 8 --mode full-batch,per-step --reference none\n",
     add_common_flags, compare},
    {"sweep", "the peak for many batches, and the formula that it follows",
     "  arenagrad sweep resnet152 --batches 1:128                 is it 2G + 2G x batch/8?\n"
     "  arenagrad sweep resnet18 --batches 1:64 --modes full-batch,accumulated-graph,per-step\n"
     "  arenagrad sweep resnet50 --batches 8,16,32 --policy pytorch --formula text\n"
     "  arenagrad sweep vgg16 --inputs 64:512:32 --batch 4        bytes against image size\n"
     "  arenagrad sweep lenet5 --batches 1:8 --real               run each point as well\n",
     add_sweep_flags, sweep},
    {"fit", "the largest batch that fits, exactly; what the forum's formulas say beside it",
     "  arenagrad fit resnet50 --memory 6GiB\n"
     "  arenagrad fit resnet50 --memory 12GB --reserve 600MiB --policy pytorch --optimizer adam\n"
     "  arenagrad fit resnet152 --memory 6GiB --batch 256         which mode reaches 256?\n"
     "  arenagrad fit lenet5 --memory 2MiB --prove                run it, and show that one more "
     "fails\n",
     add_fit_flags, fit},
    {"allocators", "every allocation strategy on the same requests, with a proven bound",
     "  arenagrad allocators resnet50 --batch 32\n"
     "  arenagrad allocators resnet18 --batch 64 --micro-batch 8 --mode per-step --capacity 1GiB\n"
     "  arenagrad allocators --trace resnet50.csv --only best-fit,caching,plan:exact --budget 3\n",
     add_lab_flags, allocators},
    {"trace", "convert a record of allocations from one format to another",
     "  arenagrad plan resnet50 --batch 32 --trace resnet50.jsonl\n"
     "  arenagrad trace convert resnet50.jsonl resnet50.pickle      (pytorch.org/memory_viz)\n"
     "  arenagrad trace convert resnet50.jsonl resnet50.json        (ui.perfetto.dev)\n"
     "  arenagrad trace convert log.rmm.csv - --to minimalloc\n",
     add_trace_flags, trace},
    {"report", "one page with the pictures and the tables behind them, to look at in a browser",
     "  arenagrad run resnet18 --batch 8 --events --json run.json\n"
     "  arenagrad report run.json -o report.html\n"
     "  arenagrad report a.json b.json -o difference.html         two runs, and why they differ\n"
     "  arenagrad report run.json sweep.json compare.json -o all.html\n"
     "  arenagrad report run.json --what-if resnet18 -o report.html\n",
     add_report_flags, report},
};

constexpr const char* kExitCodes =
    "Exit codes: 0 done; 1 a check failed; 2 bad input or usage; 3 does not fit in memory; "
    "130 interrupted.";

void say_error(const Console& console, const std::string& text) noexcept {
  try {
    console.err.write("error: " + text + "\n");
  } catch (...) {
    // Nowhere left to say so; the exit code does.
  }
}

/// " (did you mean '--batch'?)", or nothing.
std::string suggestion(std::string_view typed, const std::vector<std::string>& known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  const auto nearest = nearest_name(typed, names);
  return nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest);
}

void check_verb(const std::string& typed) {
  if (typed.starts_with('-')) return;
  std::vector<std::string> known;
  for (const auto& verb : kVerbs) known.push_back(verb.name);
  if (std::find(known.begin(), known.end(), typed) == known.end())
    throw UsageError(fmt::format("verb: expected one of {}, got '{}'{}", fmt::join(known, ", "),
                                 typed, suggestion(typed, known)));
}

/// What CLI11 says, but for a word too many: that one may be a flag mistyped.
std::string explained(const CLI::ParseError& error, const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || parsed.empty())
    return error.what();
  const auto extras = app.remaining(true);
  if (extras.empty()) return error.what();
  // A flag that is unknown leaves its value behind too.
  const auto is_flag = [](const std::string& word) { return word.starts_with('-'); };
  const auto flag = std::find_if(extras.begin(), extras.end(), is_flag);
  if (flag == extras.end())
    return fmt::format("expected nothing more, got '{}'", fmt::join(extras, " "));
  std::vector<std::string> known;
  for (const auto* option : parsed.front()->get_options()) known.push_back(option->get_name());
  return fmt::format("unknown flag '{}'{}", *flag, suggestion(*flag, known));
}

/// CLI11 wants the arguments in reverse, without the program's name.
void parse(CLI::App& app, const std::vector<std::string>& argv) {
  std::vector<std::string> arguments(argv.rbegin(), argv.rend() - (argv.empty() ? 0 : 1));
  app.parse(std::move(arguments));
}

ExitCode dispatch(const std::vector<std::string>& argv, const Console& console) {
  CLI::App app("Trains convolutional networks in order to measure training memory exactly.",
               "arenagrad");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text, "version, compiler and libraries");
  app.footer(std::string("Examples:\n") + kVerbs[2].examples + kVerbs[4].examples +
             "\narenagrad VERB --help says more. " + kExitCodes);
  std::vector<Flags> flags(std::size(kVerbs));  // stable addresses: the options write into them
  for (std::size_t i = 0; i < std::size(kVerbs); ++i) {
    const auto& verb = kVerbs[i];
    auto* command = app.add_subcommand(verb.name, verb.text);
    flags[i].argv = argv;
    verb.add_flags(*command, flags[i]);
    command->footer(std::string("Examples:\n") + verb.examples + "\n" + kExitCodes);
  }
  if (argv.size() < 2) {
    console.err.write(app.help());
    return ExitCode::bad_input;
  }
  check_verb(argv[1]);
  try {
    parse(app, argv);
  } catch (const CLI::Success& wanted) {  // --help, --version
    std::ostringstream out, err;
    app.exit(wanted, out, err);
    console.out.write(out.str());
    return ExitCode::ok;
  } catch (const CLI::ParseError& error) {
    const auto parsed = app.get_subcommands();
    say_error(console, fmt::format("{}\nSee: arenagrad {}--help", explained(error, app),
                                   parsed.empty() ? "" : parsed.front()->get_name() + " "));
    return ExitCode::bad_input;
  }
  for (std::size_t i = 0; i < std::size(kVerbs); ++i)
    if (app.got_subcommand(kVerbs[i].name)) {
      const ExitCode code = kVerbs[i].call(flags[i], console);
      finish_device(flags[i].device, flags[i].output, console);
      return code;
    }
  return ExitCode::bad_input;
}

}  // namespace

ExitCode run_program(const std::vector<std::string>& argv, const Console& console) noexcept {
  try {
    return dispatch(argv, console);
  } catch (const Interrupted&) {
    say_error(console, "interrupted");
    return ExitCode::interrupted;
  } catch (const ContractError& error) {
    say_error(console, fmt::format("a check inside the program failed: {}", error.what()));
    return ExitCode::check_failed;
  } catch (const std::bad_alloc&) {
    say_error(console, "not enough memory on this machine");
    return ExitCode::does_not_fit;
  } catch (const std::exception& error) {
    say_error(console, error.what());
    return ExitCode::bad_input;
  }
}

}  // namespace arenagrad::cli
