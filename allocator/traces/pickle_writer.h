// Python's pickle, protocol 2, with the opcodes that the viewer of PyTorch's snapshots knows.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "allocator/traces/byte_source.h"

namespace arenagrad {

class PickleWriter {
 public:
  explicit PickleWriter(WriteBytes write) : out_(std::move(write)) { out_ << "\x80\x02"; }
  void finish() {
    out_ << '.';
    out_.flush();
  }

  /// Between them come keys, each by `text`, and values. At most 1,000 keys.
  void begin_dict() { out_ << "}("; }
  void end_dict() { out_ << 'u'; }
  /// Between them come items, each after a call of `item`.
  struct List {
    std::size_t count = 0;
  };
  List begin_list() {
    out_ << "](";
    return {};
  }
  /// The viewer appends a batch as arguments of one call, of which there may not be many.
  void item(List& list) {
    if (++list.count % kBatch == 0) out_ << "e(";
  }
  void end_list() { out_ << 'e'; }
  void make_pair() { out_ << '\x86'; }  // of the two values before it

  void boolean(bool value) { out_ << (value ? '\x88' : '\x89'); }
  /// Below 2^63.
  void integer(std::uint64_t value) {
    if (value < 0x100) return number('K', value, 1);
    if (value < 0x10000) return number('M', value, 2);
    if (value < 0x80000000) return number('J', value, 4);
    const auto bytes = static_cast<std::size_t>(std::bit_width(value) / 8 + 1);
    out_ << '\x8a';
    number(static_cast<char>(bytes), value, bytes);
  }
  void minus_one() { out_ << "J\xff\xff\xff\xff"; }
  void real(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    out_ << 'G';
    for (int byte = 7; byte >= 0; --byte) out_ << static_cast<char>(bits >> 8 * byte);
  }
  /// Texts that come back are written once; `text` is UTF-8.
  void text(std::string_view value) {
    const auto found = texts_.find(std::string(value));
    if (found != texts_.end()) return recall(found->second);
    number('X', value.size(), 4);
    out_ << value;
    if (texts_.size() < kMostTexts) texts_.emplace(value, memoize());
  }

  /// Remembers the value just written: its number, for `recall`.
  std::uint32_t memoize() {
    put('q', 'r', memos_);
    return memos_++;
  }
  void recall(std::uint32_t memo) { put('h', 'j', memo); }

 private:
  static constexpr std::size_t kBatch = 1000;
  static constexpr std::size_t kMostTexts = std::size_t{1} << 16;

  void number(char opcode, std::uint64_t value, std::size_t bytes) {
    out_ << opcode;
    for (std::size_t i = 0; i < bytes; ++i) out_ << static_cast<char>(value >> 8 * i);
  }
  void put(char narrow, char wide, std::uint32_t memo) {
    memo < 0x100 ? number(narrow, memo, 1) : number(wide, memo, 4);
  }

  ByteSink out_;
  std::uint32_t memos_ = 0;
  std::unordered_map<std::string, std::uint32_t> texts_;
};

}  // namespace arenagrad
