// Where specs come from: files, standard input, and the models installed beside the program.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace arenagrad {

/// Longest spec that is read, so that /dev/zero ends in an error.
inline constexpr std::size_t kMostBytes = std::size_t{4} << 20;

/// The text of a file, or of standard input for "-". Throws SpecError with the system's reason.
std::string read_text(const std::string& path);

/// The folder of the zoo: PREFIX/share/arenagrad/zoo of this program, else the source tree's where
/// it still exists.
std::optional<std::filesystem::path> zoo_folder();

/// Names of the zoo's models, sorted.
std::vector<std::string> zoo_names();

/// The file that `path`, as a user writes it, means: itself, or the zoo's model of that bare name.
/// Throws SpecError for a bare name that is neither.
std::string resolve_spec(const std::string& path);

}  // namespace arenagrad
