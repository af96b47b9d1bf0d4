// The process around the program: signals, terminals, the exit status.
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cli/program.h"

namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void interrupt(int) { interrupted.store(true, std::memory_order_relaxed); }

}  // namespace

int main(int argc, char** argv) {
  using namespace arenagrad::cli;
  // A closed pipe shows as a failed write. A second interrupt ends the process at once.
  std::signal(SIGPIPE, SIG_IGN);
  struct sigaction action {};
  action.sa_handler = interrupt;
  action.sa_flags = SA_RESETHAND;
  sigaction(SIGINT, &action, nullptr);

  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool colour =
      !(no_color && *no_color != '\0') && !(terminal && std::string_view(terminal) == "dumb");
  FileSink out(STDOUT_FILENO, "standard output"), err(STDERR_FILENO, "standard error");
  const bool out_is_terminal = isatty(STDOUT_FILENO) != 0;
  const Console console{out,
                        err,
                        colour && out_is_terminal,
                        isatty(STDERR_FILENO) != 0,
                        &interrupted,
                        out_is_terminal};
  return static_cast<int>(run_program({argv, argv + argc}, console));
}
