#include "kernels/cudnn/child_process.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <sstream>

#include "kernels/cudnn/wire.h"

namespace arenagrad::cudnn {
namespace {

/// Nothing of the parent's but the socket: its terminal's interrupts end the parent, whose end ends
/// this process; its other files are not kept open.
void settle(int& socket, int said) {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGABRT, SIG_DFL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  dup2(said, STDERR_FILENO);
  dup2(said, STDOUT_FILENO);
  socket = dup2(socket, STDIN_FILENO);
  close_range(STDERR_FILENO + 1, ~0u, 0);
}

void put(int socket, const std::string& line) {
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t n = ::write(socket, line.data() + sent, line.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(0);
    sent += static_cast<std::size_t>(n);
  }
}

std::string answer(DirectSource& source, const std::string& question) {
  std::istringstream in(question);
  std::ostringstream out;
  std::string word;
  in >> word;
  const ConvKey key = read_key(in);
  if (word == "all") {
    for (const Engine& engine : source.all(key)) {
      write(out, EngineAnswer{engine, ""});
      out << '\n';
    }
    return out.str() + kEnd + "\n";
  }
  write(out, source.first(key, read_policy(in)));
  return out.str() + "\n";
}

void serve(int socket, const DescribeDevice& device, const std::vector<std::string>& folders) {
  const CudnnApi api = load_cudnn(folders);
  DirectSource source(api, device(api.version()));
  put(socket, "version " + std::to_string(api.version()) + "\n");
  std::string pending;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t n = ::read(socket, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    pending.append(buffer.data(), static_cast<std::size_t>(n));
    for (std::size_t end; (end = pending.find('\n')) != std::string::npos;) {
      put(socket, answer(source, pending.substr(0, end)));
      pending.erase(0, end + 1);
    }
  }
}

}  // namespace

void serve_questions(int socket, int said, const DescribeDevice& device,
                     const std::vector<std::string>& folders) noexcept {
  settle(socket, said);
  try {
    serve(socket, device, folders);
  } catch (const std::exception& error) {
    put(socket, lost(error.what()) + "\n");
  }
  _exit(0);  // the parent's objects are not ours to destroy
}

}  // namespace arenagrad::cudnn
