#include "tests/emulated_cuda/machine.h"

#include <cstring>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace emulated_cuda {
namespace {

constexpr const char* kKindNames[] = {"stream",
                                      "event",
                                      "pinned memory",
                                      "cuBLAS handle",
                                      "cuDNN handle",
                                      "tensor descriptor",
                                      "backend descriptor",
                                      "memory pool"};

void poison([[maybe_unused]] const std::byte* begin, [[maybe_unused]] std::size_t bytes,
            [[maybe_unused]] bool closed) {
#if defined(__SANITIZE_ADDRESS__)
  if (closed)
    __asan_poison_memory_region(begin, bytes);
  else
    __asan_unpoison_memory_region(begin, bytes);
#endif
}

}  // namespace

Machine& machine() {
  static Machine machine;
  return machine;
}

void Machine::reset(const Options& options) {
  options_ = options;
  violations_.clear();
  fail_at(0);
}

std::vector<std::string> Machine::take_violations() { return std::exchange(violations_, {}); }

std::vector<std::string> Machine::leaks() const {
  std::map<Kind, std::size_t> counts;
  for (const auto& object : objects_) ++counts[object.second];
  std::vector<std::string> lines;
  for (const auto& [kind, count] : counts)
    lines.push_back(std::to_string(count) + " x " + kKindNames[static_cast<int>(kind)]);
  if (in_use_ != 0) lines.push_back(std::to_string(in_use_) + " bytes of device memory");
  if (!memory_.empty()) lines.push_back(std::to_string(memory_.size()) + " mappings");
  return lines;
}

void Machine::fail_at(std::uint64_t nth) {
  calls_ = 0;
  fail_at_ = nth;
  failed_.clear();
}

bool Machine::enter(const char* call) {
  if (++calls_ != fail_at_) return false;
  failed_ = call;
  return true;
}

void Machine::born(Kind kind, const void* object) { objects_[object] = kind; }

void Machine::died(Kind kind, const void* object) {
  if (alive(kind, object)) objects_.erase(object);
}

bool Machine::alive(Kind kind, const void* object) const {
  const auto found = objects_.find(object);
  return found != objects_.end() && found->second == kind;
}

bool Machine::expect(Kind kind, const void* object, const char* call) {
  if (alive(kind, object)) return true;
  violation(std::string(call) + ": not a live " + kKindNames[static_cast<int>(kind)]);
  return false;
}

bool Machine::take(std::size_t bytes) {
  if (bytes > options_.memory - options_.context - in_use_) return false;
  in_use_ += bytes;
  return true;
}

void Machine::add_memory(std::byte* begin, std::size_t bytes, bool is_new) {
  if (is_new) std::memset(begin, options_.fill, bytes);
  memory_[begin] = {bytes};
  poison(begin, bytes, true);
}

void Machine::remove_memory(std::byte* begin, std::size_t bytes) {
  memory_.erase(begin);
  poison(begin, bytes, false);
}

void Machine::set_state(std::byte* begin, State state) {
  Region& region = memory_.at(begin);
  region.state = state;
  if (state == State::closed) poison(begin, region.bytes, true);
}

bool Machine::expect_memory(const void* begin, std::size_t bytes, std::size_t alignment,
                            const char* call) {
  const auto* at = static_cast<const std::byte*>(begin);
  if (reinterpret_cast<std::uintptr_t>(at) % alignment != 0) {
    violation(std::string(call) + ": an address is not a multiple of " + std::to_string(alignment));
    return false;
  }
  const std::byte* const end = at + bytes;
  while (at < end) {
    auto region = memory_.upper_bound(const_cast<std::byte*>(at));
    if (region == memory_.begin() || (--region)->first + region->second.bytes <= at ||
        region->second.state != State::live) {
      violation(std::string(call) + ": " + std::to_string(bytes) +
                " bytes are not all device memory");
      return false;
    }
    at = region->first + region->second.bytes;
  }
  return true;
}

void Machine::fill(void* begin, std::size_t bytes) { std::memset(begin, options_.fill, bytes); }

void Machine::open(bool readable) const {
  for (const auto& [begin, region] : memory_)
    poison(begin, region.bytes, !readable || region.state == State::closed);
}

void Machine::enqueue(CUstream_st* stream, std::function<void()> work) {
  ++stream->queued;
  stream->work.push_back(std::move(work));
  if (!options_.deferred) run(stream, stream->queued);
}

void Machine::run(CUstream_st* stream, std::uint64_t until) {
  if (stream->done >= until) return;
  open(true);
  while (stream->done < until) {
    stream->work.front()();
    stream->work.pop_front();
    ++stream->done;
  }
  open(false);
}

void Machine::run_all() {
  for (const auto& [object, kind] : objects_)
    if (kind == Kind::stream) {
      auto* stream = static_cast<CUstream_st*>(const_cast<void*>(object));
      run(stream, stream->queued);
    }
}

}  // namespace emulated_cuda
