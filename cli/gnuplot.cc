#include "cli/gnuplot.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "allocator/traces/utf8.h"
#include "cli/parse.h"
#include "cli/sink.h"

extern char** environ;

namespace arenagrad::cli {
namespace {

/// A nameless file, so that neither side waits for the other as two pipes might.
class Scratch {
 public:
  explicit Scratch(const std::string& text = "") : file_(std::tmpfile()) {
    if (!file_)
      throw WriteError(fmt::format("cannot make a temporary file: {}", std::strerror(errno)));
    const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
    if (!written || std::fflush(file_.get()) != 0)
      throw WriteError(fmt::format("cannot write a temporary file: {}", std::strerror(errno)));
    std::rewind(file_.get());
  }
  int descriptor() const { return ::fileno(file_.get()); }
  std::string text() {
    std::rewind(file_.get());
    std::string result;
    char buffer[4096];
    while (const auto count = std::fread(buffer, 1, sizeof buffer, file_.get()))
      result.append(buffer, count);
    return result;
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};

[[noreturn]] void not_here(int code) {
  throw Error(
      fmt::format("--plot: expected gnuplot to draw with, got none ({}); install gnuplot-nox, or "
                  "name a FILE.gp "
                  "to have the data and commands alone",
                  std::strerror(code)));
}

/// Whatever the script prints. The user's own settings are left out: pictures are the same for all.
std::string run_gnuplot(const std::string& script) {
  Scratch in(script), out, err;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  const Scratch* streams[] = {&in, &out, &err};
  for (int i = 0; i < 3; ++i)
    ::posix_spawn_file_actions_adddup2(&actions, streams[i]->descriptor(), i);
  char name[] = "gnuplot", defaults[] = "-d", from_stdin[] = "-";
  char* arguments[] = {name, defaults, from_stdin, nullptr};
  pid_t child = 0;
  const int failure = ::posix_spawnp(&child, name, &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) not_here(failure);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw Error(fmt::format("--plot: gnuplot: {}", std::strerror(errno)));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) not_here(ENOENT);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Error("--plot: expected gnuplot to draw, got: " + valid_utf8(err.text()));
  return out.text();
}

/// As text of XML.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : valid_utf8(text)) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else
      result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result;
}

}  // namespace

void check_plot(const std::string& path) {
  if (path.ends_with(".gp")) return;
  if (!path.ends_with(".svg"))
    throw UsageError("--plot: expected a file that ends in .svg or .gp, got '" + path + "'");
  run_gnuplot("");
}

std::string drawn(const std::string& script, const std::string& title) {
  auto svg = run_gnuplot(script);
  const auto begin = svg.find("<svg");
  const auto end = begin == std::string::npos ? begin : svg.find('>', begin);
  if (end == std::string::npos || svg.find("</svg>") == std::string::npos)
    throw Error(fmt::format("--plot: expected an SVG of gnuplot, got {} bytes of something else",
                            svg.size()));
  auto inside = script;
  for (std::size_t at = 0; (at = inside.find("]]>", at)) != std::string::npos; at += 4)
    inside.replace(at, 3, "]] >");
  svg.insert(end + 1, "\n<metadata><![CDATA[\n" + inside + "]]></metadata>");
  const std::string nameless = "<title>Gnuplot</title>";
  if (const auto at = svg.find(nameless); at != std::string::npos)
    svg.replace(at, nameless.size(), "<title>" + escaped(title) + "</title>");
  return svg;
}

void write_plot(const std::string& path, const std::string& script, const std::string& title) {
  write_file(path, path.ends_with(".gp") ? script : drawn(script, title));
}

}  // namespace arenagrad::cli
