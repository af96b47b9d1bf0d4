#include "cli/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "allocator/error.h"
#include "allocator/units.h"

namespace arenagrad::cli {
namespace {

template <class... Fn>
struct Overloaded : Fn... {
  using Fn::operator()...;
};
template <class... Fn>
Overloaded(Fn...) -> Overloaded<Fn...>;

std::string duration(double seconds) {
  if (seconds == 0) return "0 s";
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

/// Columns a terminal uses: bytes that begin a UTF-8 character.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t to, bool right) {
  const std::string space(to - std::min(to, width(text)), ' ');
  return right ? space + text : text + space;
}

using Line = std::vector<std::string>;

Line texts(const std::vector<Cell>& row, std::size_t columns, std::string (*text)(const Cell&)) {
  check_contract(row.size() == columns, "a table's row has too many or too few cells");
  Line line;
  for (const auto& cell : row) line.push_back(text(cell));
  return line;
}

std::string without_trailing_space(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string markdown_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return text;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace

Table Table::of_quantities(std::string title) {
  return {std::move(title), {{"", "quantity"}, {"", "value"}}, {}, {}};
}

void Table::add(std::string words, std::string key, Cell value) {
  rows.push_back({Label{std::move(words), std::move(key)}, std::move(value)});
}

std::string shown(const Cell& cell) {
  return std::visit(
      Overloaded{[](std::monostate) { return std::string("-"); },
                 [](const std::string& text) { return text; },
                 [](const Label& label) { return label.words; },
                 [](Bytes bytes) { return exact_bytes(bytes.value); },
                 [](Count count) { return with_commas(count.value); },
                 [](Real real) { return fmt::format("{:.{}g}", real.value, real.digits); },
                 [](Duration time) { return duration(time.value); },
                 [](Share share) { return fmt::format("{:.1f} %", share.value * 100); }},
      cell);
}

std::string written(const Cell& cell) {
  return std::visit(Overloaded{[](std::monostate) { return std::string(); },
                               [](const std::string& text) { return text; },
                               [](const Label& label) { return label.key; },
                               [](const auto& number) { return fmt::format("{}", number.value); }},
                    cell);
}

std::string render_text(const Table& table, bool colour) {
  const auto columns = table.columns.size();
  std::vector<std::size_t> widths;
  bool titled = false;
  for (const auto& column : table.columns) {
    widths.push_back(width(column.title));
    titled = titled || !column.title.empty();
  }
  std::vector<Line> body, foot;
  const auto take = [&](const std::vector<std::vector<Cell>>& rows, std::vector<Line>& lines) {
    for (const auto& row : rows) {
      lines.push_back(texts(row, columns, shown));
      for (std::size_t i = 0; i < columns; ++i)
        widths[i] = std::max(widths[i], width(lines.back()[i]));
    }
  };
  take(table.rows, body);
  take(table.totals, foot);

  std::string text;
  if (!table.title.empty())
    text += (colour ? "\033[1m" + table.title + "\033[0m" : table.title) + "\n";
  const auto put = [&](const Line& line) {
    std::string out = "  ";
    for (std::size_t i = 0; i < columns; ++i)
      out += padded(line[i], widths[i], table.columns[i].right) + "  ";
    text += without_trailing_space(std::move(out)) + "\n";
  };
  const auto rule = [&] {
    Line line;
    for (const auto w : widths) line.push_back(std::string(w, '-'));
    put(line);
  };
  if (titled) {
    Line heads;
    for (const auto& column : table.columns) heads.push_back(column.title);
    put(heads);
    rule();
  }
  for (const auto& line : body) put(line);
  if (!foot.empty()) rule();
  for (const auto& line : foot) put(line);
  return text;
}

std::string render_markdown(const Table& table) {
  std::string text = table.title.empty() ? "" : "### " + table.title + "\n\n";
  text += "|";
  for (const auto& column : table.columns) text += " " + markdown_cell(column.title) + " |";
  text += "\n|";
  for (const auto& column : table.columns) text += column.right ? " ---: |" : " --- |";
  text += "\n";
  for (const auto* rows : {&table.rows, &table.totals})
    for (const auto& row : *rows) {
      text += "|";
      for (const auto& cell : texts(row, table.columns.size(), shown))
        text += " " + markdown_cell(cell) + " |";
      text += "\n";
    }
  return text;
}

std::string render_csv(const Table& table) {
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    text += (i ? "," : "") + csv_cell(table.columns[i].key);
  text += "\r\n";
  for (const auto* rows : {&table.rows, &table.totals})
    for (const auto& row : *rows) {
      const auto line = texts(row, table.columns.size(), written);
      for (std::size_t i = 0; i < line.size(); ++i) text += (i ? "," : "") + csv_cell(line[i]);
      text += "\r\n";
    }
  return text;
}

}  // namespace arenagrad::cli
