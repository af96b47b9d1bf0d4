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

}  // namespace

void FileSink::write(std::string_view text) {
  if (closed_) return;
  const int code = write_all(descriptor_, text);
  if (code == EPIPE)
    closed_ = true;
  else if (code != 0)
    throw failure(name_, code);
}

FileReplacement::FileReplacement(std::string path) : path_(std::move(path)) {
  struct stat found {};
  const bool exists = ::stat(path_.c_str(), &found) == 0;
  if (exists && S_ISDIR(found.st_mode)) throw failure(path_, EISDIR);
  std::string opened = path_;
  if (!exists || S_ISREG(found.st_mode)) {
    std::error_code ignored;
    if (exists) final_ = std::filesystem::canonical(path_, ignored).string();
    if (final_.empty()) final_ = path_;
    opened = temporary_ = fmt::format("{}.{}.tmp", final_, ::getpid());
    permissions_ = exists ? found.st_mode & 07777 : 0;
  }
  descriptor_ = ::open(opened.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw failure(path_, errno);
}

FileReplacement::~FileReplacement() { discard(); }

void FileReplacement::discard() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void FileReplacement::write(std::string_view text) {
  if (const int code = write_all(descriptor_, text)) throw failure(path_, code);
}

void FileReplacement::commit() {
  // Closing reports what the system held back until then.
  const int closed = ::close(descriptor_) == 0 ? 0 : errno;
  descriptor_ = -1;
  if (closed != 0) throw failure(path_, closed);
  if (temporary_.empty()) return;
  if (permissions_ != 0) ::chmod(temporary_.c_str(), permissions_);
  if (std::rename(temporary_.c_str(), final_.c_str()) != 0) throw failure(path_, errno);
  temporary_.clear();
}

void write_file(const std::string& path, std::string_view text) {
  FileReplacement file(path);
  file.write(text);
  file.commit();
}

}  // namespace arenagrad::cli
