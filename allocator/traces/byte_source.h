// Input of any length, read piece by piece, that knows where it is: by line or by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace arenagrad {

/// Fills at most that many bytes; 0 at the end. Throws Error when reading fails.
using ReadBytes = std::function<std::size_t(char* into, std::size_t most)>;

/// An open file, or with "-" standard input. Throws TraceError with the system's reason.
ReadBytes reading_file(const std::string& path);
/// The text outlives the result.
ReadBytes reading_text(std::string_view text);

class ByteSource {
 public:
  /// `name` is what messages call the file.
  ByteSource(ReadBytes read, std::string name);

  /// The next line without its end (\n or \r\n), valid until the next call; false at the end of
  /// the file. TraceError for one longer than kLongestLine.
  bool line(std::string_view& line);
  /// 1-based number of the line last read.
  std::uint64_t line_number() const { return line_number_; }

  /// Bytes read so far.
  std::uint64_t position() const { return before_ + at_; }
  /// The next byte; -1 at the end.
  int byte();
  /// The next `bytes` bytes, valid until the next call. TraceError when there are fewer; `what` is
  /// what they are part of. At most kLongestLine.
  std::string_view take(std::size_t bytes, const char* what);
  /// Passes over them. TraceError when there are fewer.
  void skip(std::uint64_t bytes, const char* what);
  /// What comes next without taking it: `bytes` of it, or less at the end.
  std::string_view peek(std::size_t bytes);

  /// Throws TraceError: the text with ", at line N of NAME" or ", at byte N of NAME".
  [[noreturn]] void fail_line(const std::string& text) const;
  [[noreturn]] void fail_byte(const std::string& text, std::uint64_t position) const;

  const std::string& name() const { return name_; }

  static constexpr std::size_t kLongestLine = std::size_t{1} << 20;

 private:
  /// Makes `bytes` bytes available from at_ on, if there are so many; says how many there are.
  std::size_t fill(std::size_t bytes);
  std::size_t available() const { return end_ - at_; }

  ReadBytes read_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;  // what is unread in the buffer
  std::uint64_t before_ = 0;      // bytes of the file before the buffer
  std::uint64_t line_number_ = 0;
  bool ended_ = false;
};

/// Text of a file for a message: in quotes, shortened, without what a terminal would act on.
std::string quoted_excerpt(std::string_view text);

/// Output, gathered into larger pieces. Nothing is written by the destructor: call `flush`.
using WriteBytes = std::function<void(std::string_view)>;

class ByteSink {
 public:
  explicit ByteSink(WriteBytes write) : write_(std::move(write)) { text_.reserve(kPiece + 4096); }

  ByteSink& operator<<(std::string_view text) {
    text_ += text;
    if (text_.size() >= kPiece) flush();
    return *this;
  }
  ByteSink& operator<<(char c) { return *this << std::string_view(&c, 1); }
  ByteSink& operator<<(std::uint64_t number);
  void flush() {
    if (!text_.empty()) write_(text_);
    text_.clear();
  }

 private:
  static constexpr std::size_t kPiece = 65536;
  WriteBytes write_;
  std::string text_;
};

}  // namespace arenagrad
