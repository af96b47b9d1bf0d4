// The one way out. A verb makes a document once; every format is made from it.
#pragma once

#include <atomic>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/plot.h"
#include "cli/sink.h"
#include "cli/table.h"

namespace arenagrad::cli {

using Json = nlohmann::ordered_json;

enum class Format : std::uint8_t { table, markdown, csv, json };

struct OutputFlags {
  Format format = Format::table;
  std::optional<std::string> json;  // a file to write the JSON to as well; "-": stdout, alone
  std::optional<std::string> plot;  // a picture to draw as well, .svg or .gp
  bool quiet = false;

  bool json_on_stdout() const { return format == Format::json || json == "-"; }
};

/// What a verb found. `json` is complete; the tables show the same, and the answer is one sentence.
struct Document {
  Json json;
  std::vector<Table> tables;
  std::string answer;
  std::optional<Plot> plot;  // what --plot draws, where the verb has it
};

/// The program's surroundings.
struct Console {
  Sink& out;
  Sink& err;
  bool out_colour = false;       // stdout is a terminal and colour is welcome
  bool err_is_terminal = false;  // progress may be drawn
  const std::atomic<bool>* interrupted = nullptr;
  bool out_is_terminal = false;
};

/// Writes the file of --json first, so that a pipe closed early does not lose it, then stdout.
/// Formats: table and md end with the answer; csv has the tables one after the other with an empty
/// line between, and the answer goes to stderr; json is one document. The picture of --plot comes
/// last: a gnuplot that fails takes no result away.
void emit(const Document& document, const OutputFlags& flags, const Console& console);

/// A result that is a failure: "error: ANSWER" on stderr, then the document as `emit` does. Where
/// stdout carries text (table, md) to somewhere else, whoever sits at the terminal gets the tables
/// on stderr too, unless quiet.
void emit_failure(const Document& document, const OutputFlags& flags, const Console& console);

/// "note: ..." on stderr, unless quiet.
void note(const std::string& text, const OutputFlags& flags, const Console& console);

/// One line on stderr that is drawn over, on a terminal only and not when quiet.
class Progress {
 public:
  Progress(const OutputFlags& flags, const Console& console)
      : console_(console), on_(console.err_is_terminal && !flags.quiet) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::string_view text);

 private:
  const Console& console_;
  bool on_;
  bool drawn_ = false;
};

}  // namespace arenagrad::cli
