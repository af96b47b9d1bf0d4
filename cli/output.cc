#include "cli/output.h"

#include "cli/gnuplot.h"

namespace arenagrad::cli {
namespace {

std::string text_of(const Document& document, Format format, bool colour) {
  std::string text;
  for (const auto& table : document.tables) {
    if (!text.empty()) text += format == Format::csv ? "\r\n" : "\n";
    text += format == Format::table      ? render_text(table, colour)
            : format == Format::markdown ? render_markdown(table)
                                         : render_csv(table);
  }
  if (format == Format::csv) return text;
  if (!text.empty()) text += "\n";
  return text + document.answer + "\n";
}

}  // namespace

void emit(const Document& document, const OutputFlags& flags, const Console& console) {
  const bool wants_json = flags.json || flags.format == Format::json;
  // Names may hold any bytes that a spec holds; those that are not UTF-8 are replaced.
  const auto json =
      wants_json ? document.json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n" : "";
  if (flags.json && *flags.json != "-") write_file(*flags.json, json);
  if (flags.json_on_stdout()) {
    console.out.write(json);
  } else {
    if (flags.format == Format::csv) note(document.answer, flags, console);
    console.out.write(text_of(document, flags.format, console.out_colour));
  }
  if (!flags.plot) return;
  if (document.plot)
    write_plot(*flags.plot, gnuplot_script(*document.plot), document.plot->title);
  else
    note(*flags.plot + " is not written: there is nothing to draw", flags, console);
}

void emit_failure(const Document& document, const OutputFlags& flags, const Console& console) {
  std::string text = "error: " + document.answer + "\n";
  const bool is_text = flags.format == Format::table || flags.format == Format::markdown;
  if (is_text && !flags.quiet && !flags.json_on_stdout() && console.err_is_terminal &&
      !console.out_is_terminal)
    for (const auto& table : document.tables) text += "\n" + render_text(table, false);
  console.err.write(text);
  emit(document, flags, console);
}

void note(const std::string& text, const OutputFlags& flags, const Console& console) {
  if (!flags.quiet) console.err.write("note: " + text + "\n");
}

Progress::~Progress() {
  if (!drawn_) return;
  try {
    console_.err.write("\r\033[K");
  } catch (const WriteError&) {
    // Nowhere left to say so.
  }
}

void Progress::show(std::string_view text) {
  if (!on_) return;
  drawn_ = true;
  console_.err.write("\r\033[K" + std::string(text));
}

}  // namespace arenagrad::cli
