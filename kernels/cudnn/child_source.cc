#include "kernels/cudnn/child_source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <sstream>
#include <system_error>

#include "kernels/backend.h"
#include "kernels/cudnn/child_process.h"
#include "kernels/cudnn/wire.h"

namespace arenagrad::cudnn {
namespace {

DeviceError cannot_start(const char* what) {
  return DeviceError("cuDNN: expected a process of its own to ask it in, got " + std::string(what) +
                     ": " + std::error_code(errno, std::generic_category()).message());
}

/// The last words of what a process wrote to its standard error.
std::string last_words(int file) {
  std::array<char, 400> text{};
  const off_t end = lseek(file, 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, end - static_cast<off_t>(text.size()));
  const ssize_t n = pread(file, text.data(), text.size(), begin);
  std::string words(text.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  return words.substr(words.rfind('\n') == std::string::npos ? 0 : words.rfind('\n') + 1);
}

}  // namespace

ChildSource::ChildSource(const DescribeDevice& device, const std::vector<std::string>& folders) {
  std::array<int, 2> ends{};
  said_ = memfd_create("cudnn", MFD_CLOEXEC);
  if (said_ < 0) throw cannot_start("no memory file");
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    const DeviceError error = cannot_start("no socket");
    close(said_);
    throw error;
  }
  process_ = fork();
  if (process_ == 0) serve_questions(ends[1], said_, device, folders);
  close(ends[1]);
  socket_ = ends[0];
  try {
    if (process_ < 0) throw cannot_start("no process");
    std::istringstream first(receive());
    std::string word;
    first >> word;
    if (word != "version") {
      std::string why;
      std::getline(first >> std::ws, why);
      throw DeviceError(why);
    }
    first >> version_;
  } catch (...) {
    end();
    throw;
  }
}

ChildSource::~ChildSource() { end(); }

void ChildSource::end() noexcept {
  // Its reading ends, and so does it.
  shutdown(socket_, SHUT_RDWR);
  if (process_ > 0) {
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close(socket_);
  close(said_);
}

void ChildSource::send(const std::string& line) {
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t n = ::send(socket_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) lost();
    sent += static_cast<std::size_t>(n);
  }
}

std::string ChildSource::receive() {
  std::array<char, 4096> buffer;
  for (;;) {
    if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
      const std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    const ssize_t n = recv(socket_, buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) lost();
    received_.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

void ChildSource::lost() {
  int status = 0;
  std::string how = "its process ended";
  if (process_ > 0 && waitpid(process_, &status, 0) == process_) {
    process_ = -1;
    if (WIFSIGNALED(status))
      how += " by signal " + std::to_string(WTERMSIG(status));
    else
      how += " with status " + std::to_string(WEXITSTATUS(status));
  }
  const std::string words = last_words(said_);
  throw DeviceError("cuDNN: expected an answer, got none: " + how +
                    (words.empty() ? "" : " (it said: " + words + ")"));
}

EngineAnswer ChildSource::first(const ConvKey& key, const EnginePolicy& policy) {
  std::ostringstream question;
  question << "first ";
  write(question, key);
  write(question, policy);
  send(question.str() + "\n");
  return read_answer(receive());
}

std::vector<Engine> ChildSource::all(const ConvKey& key) {
  std::ostringstream question;
  question << "all ";
  write(question, key);
  send(question.str() + "\n");
  std::vector<Engine> engines;
  for (std::string line; (line = receive()) != kEnd;) {
    const EngineAnswer answer = read_answer(line);
    check_contract(answer.engine.has_value(), "a list of engines with one that is none");
    engines.push_back(*answer.engine);
  }
  return engines;
}

}  // namespace arenagrad::cudnn
