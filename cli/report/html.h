// Text into a page.
#pragma once

#include <string>
#include <string_view>

#include "cli/output.h"
#include "cli/table.h"

namespace arenagrad::cli {

/// With the five characters that mean something in HTML written as entities; right in attributes
/// and in text.
std::string escaped(std::string_view text);

/// JSON for a <script type="application/json">: no "<" in it, so that nothing in it ends the
/// element. Bytes that are not UTF-8 are replaced.
std::string script_data(const Json& json);

/// A table with its title as its caption, inside a box that scrolls sideways.
std::string render_html(const Table& table);
/// The same behind a line to open; closed at first.
std::string folded(const std::string& summary, const std::string& html);

}  // namespace arenagrad::cli
