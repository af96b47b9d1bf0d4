#include "cli/report/html.h"

#include <fmt/format.h>

namespace arenagrad::cli {
namespace {

std::string row(const std::vector<Cell>& cells, const std::vector<Column>& columns) {
  std::string html = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool head = i == 0;
    html += fmt::format("<{0}{1}{2}>{3}</{0}>", head ? "th" : "td", head ? " scope=\"row\"" : "",
                        columns[i].right ? " class=\"number\"" : "", escaped(shown(cells[i])));
  }
  return html + "</tr>\n";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string script_data(const Json& json) {
  std::string result;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      result += "\\u003c";  // inside a string: nowhere else can it be
    } else {
      result += c;
    }
  }
  return result;
}

std::string render_html(const Table& table) {
  std::string html =
      "<div class=\"scroll\"><table>\n<caption>" + escaped(table.title) + "</caption>\n<thead><tr>";
  for (const auto& column : table.columns)
    html += fmt::format("<th scope=\"col\"{}>{}</th>", column.right ? " class=\"number\"" : "",
                        escaped(column.title));
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& cells : table.rows) html += row(cells, table.columns);
  html += "</tbody>\n";
  if (!table.totals.empty()) {
    html += "<tfoot>\n";
    for (const auto& cells : table.totals) html += row(cells, table.columns);
    html += "</tfoot>\n";
  }
  return html + "</table></div>\n";
}

std::string folded(const std::string& summary, const std::string& html) {
  return "<details><summary>" + escaped(summary) + "</summary>\n" + html + "</details>\n";
}

}  // namespace arenagrad::cli
