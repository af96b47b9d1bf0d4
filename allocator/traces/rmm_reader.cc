// The log of RMM's logging resource: Thread,Time,Action,Pointer,Size,Stream, of which action,
// pointer and size are read. A buffer's id is the number of its allocation, its offset the address.
#include <unordered_map>

#include "allocator/traces/checks.h"
#include "allocator/traces/csv.h"
#include "allocator/traces/formats.h"

namespace arenagrad {
namespace {

using Kind = TraceEvent::Kind;

class Reader {
 public:
  Reader(ByteSource& source, TraceSink& sink) : rows_(source), sink_(sink) {
    action_ = rows_.column({"Action"});
    pointer_ = rows_.column({"Pointer"});
    size_ = rows_.column({"Size"});
  }

  void run() {
    sink_.begin({});
    while (rows_.next()) row();
    sink_.end();
  }

 private:
  void row() {
    const auto action = rows_.field(action_);
    const std::size_t bytes = rows_.number(size_);
    if (action == "allocate failure") return pass({.kind = Kind::refuse, .bytes = bytes});
    const bool allocates = action == "allocate";
    if (!allocates && action != "free") {
      rows_.fail("Action: expected allocate, allocate failure or free, got " +
                 quoted_excerpt(action));
    }
    const bool null = rows_.field(pointer_) == "(nil)" || rows_.field(pointer_) == "0x0";
    if (null && bytes == 0) return;  // no memory was asked for or given back
    if (null)
      rows_.fail("Pointer: expected an address, got " + quoted_excerpt(rows_.field(pointer_)));
    const std::size_t address = rows_.number(pointer_, 16);
    if (allocates) {
      const auto [entry, is_new] = live_.emplace(address, Life{next_, bytes});
      if (!is_new) {
        rows_.fail("allocate: expected an address that is free, got " +
                   quoted_excerpt(rows_.field(pointer_)) + ", which was not freed");
      }
      return pass({.kind = Kind::allocate, .id = next_++, .bytes = bytes, .offset = address});
    }
    const auto found = live_.find(address);
    if (found == live_.end()) {
      rows_.fail("free: expected an address that is allocated, got " +
                 quoted_excerpt(rows_.field(pointer_)) + ", which is not");
    }
    if (found->second.bytes != bytes) {
      rows_.fail("free: expected the size allocated, " + std::to_string(found->second.bytes) +
                 ", got " + std::to_string(bytes));
    }
    pass({.kind = Kind::free, .id = found->second.id});
    live_.erase(found);
  }

  void pass(const TraceEvent& event) {
    if (const auto problem = checks_.apply(event); !problem.empty()) rows_.fail(problem);
    sink_.event(event);
  }

  struct Life {
    std::uint64_t id;
    std::size_t bytes;
  };
  CsvRows rows_;
  TraceSink& sink_;
  TraceChecks checks_;
  std::size_t action_, pointer_, size_;
  std::unordered_map<std::size_t, Life> live_;  // by address
  std::uint64_t next_ = 0;
};

}  // namespace

void read_rmm(ByteSource& source, TraceSink& sink, const ReadTraceOptions&) {
  Reader(source, sink).run();
}

}  // namespace arenagrad
