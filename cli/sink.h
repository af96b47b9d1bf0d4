// Where text goes. A write that fails is an error, except that a reader who has gone away (a closed
// pipe) just ends the output.
#pragma once

#include <string>
#include <string_view>

#include "allocator/error.h"

namespace arenagrad::cli {

/// The disk is full, the file cannot be created. what() names the file and the system's reason.
class WriteError : public Error {
 public:
  using Error::Error;
};

class Sink {
 public:
  virtual ~Sink() = default;
  /// Writes all of it. Throws WriteError.
  virtual void write(std::string_view text) = 0;
};

/// A file descriptor, unbuffered; not owned. After a closed pipe everything is dropped in silence.
class FileSink final : public Sink {
 public:
  FileSink(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  void write(std::string_view text) override;

 private:
  int descriptor_;
  std::string name_;  // for messages
  bool closed_ = false;
};

class StringSink final : public Sink {
 public:
  void write(std::string_view text) override { text_ += text; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Replaces a file in one go: written beside it under another name, then renamed, so that nobody
/// sees half of it and a failure leaves the old one. What is not a regular file (a device, a pipe)
/// is written to directly; a symbolic link is followed.
class FileReplacement final : public Sink {
 public:
  /// Throws WriteError, as do the others.
  explicit FileReplacement(std::string path);
  /// Without a `commit` the old file stays.
  ~FileReplacement() override;
  FileReplacement(const FileReplacement&) = delete;
  FileReplacement& operator=(const FileReplacement&) = delete;

  void write(std::string_view text) override;
  /// The new file takes the old one's place.
  void commit();

 private:
  void discard() noexcept;

  std::string path_;               // as given, for messages
  std::string final_, temporary_;  // both empty where it is written to directly
  int descriptor_ = -1;
  unsigned permissions_ = 0;  // of the old file; 0: there was none
};

/// All of it in one call.
void write_file(const std::string& path, std::string_view text);

}  // namespace arenagrad::cli
