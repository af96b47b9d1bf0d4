#include "allocator/traces/byte_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "allocator/traces/trace.h"

namespace arenagrad {

ReadBytes reading_file(const std::string& path) {
  const bool standard_input = path == "-";
  const int descriptor = standard_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto fail = [path](int code) -> std::size_t {
    throw TraceError("cannot read " + path + ": " + std::strerror(code));
  };
  if (descriptor < 0) fail(errno);
  const auto close = [standard_input](const int* held) {
    if (!standard_input) ::close(*held);
    delete held;
  };
  return [file = std::shared_ptr<const int>(new int(descriptor), close), fail](
             char* into, std::size_t most) -> std::size_t {
    for (;;) {
      const auto count = ::read(*file, into, most);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) return fail(errno);
    }
  };
}

ReadBytes reading_text(std::string_view text) {
  return [text](char* into, std::size_t most) mutable {
    const std::size_t count = text.copy(into, most);
    text.remove_prefix(count);
    return count;
  };
}

ByteSource::ByteSource(ReadBytes read, std::string name)
    : read_(std::move(read)), name_(std::move(name)), buffer_(65536) {}

std::size_t ByteSource::fill(std::size_t bytes) {
  if (available() >= bytes) return available();
  if (at_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + at_, available());
    before_ += at_;
    end_ -= at_;
    at_ = 0;
  }
  if (buffer_.size() < bytes) buffer_.resize(std::max(bytes, 2 * buffer_.size()));
  while (!ended_ && available() < bytes) {
    const std::size_t count = read_(buffer_.data() + end_, buffer_.size() - end_);
    end_ += count;
    ended_ = count == 0;
  }
  return available();
}

bool ByteSource::line(std::string_view& line) {
  std::size_t searched = 0;
  for (;;) {
    const char* begin = buffer_.data() + at_;
    const void* found = std::memchr(begin + searched, '\n', available() - searched);
    if (found != nullptr || (ended_ && available() > 0)) {
      const std::size_t size =
          found ? static_cast<std::size_t>(static_cast<const char*>(found) - begin) : available();
      line = {begin, size};
      if (line.ends_with('\r')) line.remove_suffix(1);
      at_ += size + (found ? 1 : 0);
      ++line_number_;
      return true;
    }
    if (ended_) return false;
    searched = available();
    if (searched > kLongestLine) {
      ++line_number_;
      fail_line("a line: expected at most " + std::to_string(kLongestLine) + " bytes, got more");
    }
    fill(searched + 1);
  }
}

int ByteSource::byte() {
  if (fill(1) == 0) return -1;
  return static_cast<unsigned char>(buffer_[at_++]);
}

std::string_view ByteSource::take(std::size_t bytes, const char* what) {
  const std::uint64_t position = before_ + at_;
  if (bytes > kLongestLine) {
    fail_byte(std::string(what) + ": expected at most " + std::to_string(kLongestLine) +
                  " bytes, got " + std::to_string(bytes),
              position);
  }
  if (const std::size_t there = fill(bytes); there < bytes) {
    fail_byte("the file ends inside " + std::string(what) + ": expected " + std::to_string(bytes) +
                  " bytes, got " + std::to_string(there),
              position);
  }
  const std::string_view result(buffer_.data() + at_, bytes);
  at_ += bytes;
  return result;
}

void ByteSource::skip(std::uint64_t bytes, const char* what) {
  while (bytes > 0) {
    const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, buffer_.size()));
    take(std::min(piece, kLongestLine), what);
    bytes -= std::min(piece, kLongestLine);
  }
}

std::string_view ByteSource::peek(std::size_t bytes) {
  return {buffer_.data() + at_, std::min(fill(bytes), bytes)};
}

void ByteSource::fail_line(const std::string& text) const {
  throw TraceError(text + ", at line " + std::to_string(line_number_) + " of " + name_);
}

void ByteSource::fail_byte(const std::string& text, std::uint64_t position) const {
  throw TraceError(text + ", at byte " + std::to_string(position) + " of " + name_);
}

std::string quoted_excerpt(std::string_view text) {
  constexpr std::size_t kMost = 64;
  std::string result = "'";
  for (const char c : text.substr(0, kMost)) result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > kMost ? "...'" : "'");
}

ByteSink& ByteSink::operator<<(std::uint64_t number) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  return *this << std::string_view(digits, static_cast<std::size_t>(end - digits));
}

}  // namespace arenagrad
