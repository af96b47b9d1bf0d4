// Pictures drawn by gnuplot, which runs as a child and is not needed otherwise.
#pragma once

#include <string>

namespace arenagrad::cli {

/// Whether FILE of --plot can be made: it ends in .svg and gnuplot is here, or in .gp, which needs
/// no gnuplot. Called before the work, so that nothing is computed in vain. Throws UsageError for
/// another ending, Error where gnuplot is missing.
void check_plot(const std::string& path);

/// What `gnuplot` draws from a script, with the script inside as metadata. Throws Error with what
/// gnuplot said.
std::string drawn(const std::string& script, const std::string& title);

/// Writes the picture (.svg) or the script itself (.gp) in one go. Throws as `drawn`, and
/// WriteError.
void write_plot(const std::string& path, const std::string& script, const std::string& title);

}  // namespace arenagrad::cli
