#include "cli/sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace arenagrad::cli {
namespace {

WriteError failure(const std::string& name, int code) {
  return WriteError(fmt::format("cannot write {}: {}", name, std::strerror(code)));
}

/// 0, or the errno of the write that failed.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Closes on the way out; `close` reports what the system held back until then.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value() const { return value_; }
  int close() {
    const int result = ::close(value_) == 0 ? 0 : errno;
    value_ = -1;
    return result;
  }

 private:
  int value_;
};

/// `name` is what messages call the file.
void write_directly(const std::string& path, const std::string& name, std::string_view text) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.value() < 0) throw failure(name, errno);
  if (const int code = write_all(file.value(), text)) throw failure(name, code);
  if (const int code = file.close()) throw failure(name, code);
}

}  // namespace

void FileSink::write(std::string_view text) {
  if (closed_) return;
  const int code = write_all(descriptor_, text);
  if (code == EPIPE)
    closed_ = true;
  else if (code != 0)
    throw failure(name_, code);
}

void write_file(const std::string& path, std::string_view text) {
  struct stat found {};
  const bool exists = ::stat(path.c_str(), &found) == 0;
  if (exists && S_ISDIR(found.st_mode)) throw failure(path, EISDIR);
  if (exists && !S_ISREG(found.st_mode)) return write_directly(path, path, text);

  std::error_code ignored;
  const auto target =
      exists ? std::filesystem::canonical(path, ignored).string() : std::string(path);
  const auto& final_path = target.empty() ? path : target;
  const auto temporary = fmt::format("{}.{}.tmp", final_path, ::getpid());
  try {
    write_directly(temporary, path, text);
  } catch (const WriteError&) {
    ::unlink(temporary.c_str());
    throw;
  }
  if (exists) ::chmod(temporary.c_str(), found.st_mode & 07777);
  if (std::rename(temporary.c_str(), final_path.c_str()) != 0) {
    const int code = errno;
    ::unlink(temporary.c_str());
    throw failure(path, code);
  }
}

}  // namespace arenagrad::cli
