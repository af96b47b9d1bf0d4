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
    {"summary", "a row per layer: shape, parameters, multiply-adds, bytes",
     "  arenagrad summary resnet18\n"
     "  arenagrad summary resnet18 --policy pytorch --batch 64\n"
     "  arenagrad summary my_net.json --input 3x32x32\n",
     add_common_flags, summary},
    {"plan", "dry run: every byte a training step takes, without computing",
     "  arenagrad plan resnet152 --batch 32\n"
     "  arenagrad plan resnet50 --batch 32 --micro-batch 4 --mode per-step --optimizer adam\n"
     "  arenagrad plan vgg16 --batch 64 --capacity 6GiB      (exit 3 if it doesn't fit)\n"
     "  arenagrad plan resnet18 --json - | jq .bytes.footprint\n",
     add_common_flags, plan},
    {"run", "train for real and hold the books against the plan",
     "  arenagrad run lenet5 --batch 16 --steps 10 --optimizer sgd --lr 0.01\n"
     "  arenagrad run lenet5_digits --data train-images-idx3-ubyte \\\n"
     "      --labels train-labels-idx1-ubyte --batch 64 --steps 200 --optimizer sgd --lr 0.1\n",
     add_common_flags, run},
    {"compare", "the same gradient three ways: bytes, time and numeric differences",
     "  arenagrad compare resnet18 --batch 10 --eval --calibrate\n"
     "  arenagrad compare lenet5 --batch 64 --micro-batch 7\n"
     "  arenagrad compare resnet18 --batch 8 --mode full-batch,per-step --reference none\n",
     add_common_flags, compare},
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
    if (app.got_subcommand(kVerbs[i].name)) return kVerbs[i].call(flags[i], console);
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
