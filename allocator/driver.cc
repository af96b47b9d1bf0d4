#include "allocator/driver.h"

#include <algorithm>
#include <string>

#include "allocator/error.h"
#include "allocator/request.h"

namespace arenagrad {
namespace {

// Offsets handed out stay below this: room for several ranges of the largest capacity, and no sum
// of an offset and a size can overflow.
constexpr std::size_t kAddressSpace = std::size_t{1} << 56;

std::string show(std::size_t offset, std::size_t bytes) {
  return "[" + std::to_string(offset) + ", +" + std::to_string(bytes) + ")";
}

/// The range of `ranges` that holds all of [begin, end), or end().
template <class Ranges>
auto holding(Ranges& ranges, std::size_t begin, std::size_t end) {
  auto it = ranges.upper_bound(begin);
  if (it == ranges.begin()) return ranges.end();
  --it;
  return it->second >= end ? it : ranges.end();
}

template <class Ranges>
bool touches(const Ranges& ranges, std::size_t begin, std::size_t end) {
  auto it = ranges.lower_bound(end);
  return it != ranges.begin() && std::prev(it)->second > begin;
}

}  // namespace

Driver::Driver(std::size_t capacity, std::size_t granule) : capacity_(capacity), granule_(granule) {
  check_contract(granule > 0, "a driver's granule is at least one byte");
  check_contract(capacity <= kAddressSpace / 4, "a driver's capacity is at most 2^54 bytes");
}

std::size_t Driver::reserve(std::size_t bytes) {
  check_contract(bytes > 0, "reserve of no bytes");
  if (bytes > kAddressSpace || round_up(bytes, granule_) > kAddressSpace - next_) {
    throw ContractError("address space exhausted: asked for " + std::to_string(bytes) +
                        " bytes, left " + std::to_string(kAddressSpace - next_));
  }
  const std::size_t offset = next_;
  do_reserve(offset, bytes);
  next_ += round_up(bytes, granule_);
  ranges_.emplace(offset, next_);
  tell(DriverCall::reserve, offset, bytes);
  return offset;
}

void Driver::release(std::size_t offset, std::size_t bytes) {
  const auto range = ranges_.find(offset);
  if (range == ranges_.end() || bytes > kAddressSpace ||
      range->second != offset + round_up(bytes, granule_)) {
    throw ContractError("release of " + show(offset, bytes) + ", which is no reserved range");
  }
  if (touches(committed_, offset, range->second)) {
    throw ContractError("release of " + show(offset, bytes) + ", part of which is committed");
  }
  do_release(offset, bytes);
  ranges_.erase(range);
  tell(DriverCall::release, offset, bytes);
}

std::size_t Driver::committable(std::size_t bytes) const {
  const std::size_t left = capacity_ - reserved_;
  return bytes > left ? 0 : std::min(round_up(bytes, granule_), left);
}

bool Driver::commit(std::size_t offset, std::size_t bytes) {
  if (bytes == 0 || offset % granule_ != 0 || bytes > kAddressSpace ||
      holding(ranges_, offset, offset + bytes) == ranges_.end()) {
    throw ContractError("commit of " + show(offset, bytes) +
                        ", expected granules inside one reserved range");
  }
  if (touches(committed_, offset, offset + bytes)) {
    throw ContractError("commit of " + show(offset, bytes) + ", part of which is committed");
  }
  if (bytes > capacity_ - reserved_) return false;
  if (bytes % granule_ != 0 && reserved_ + bytes != capacity_) {
    throw ContractError("commit of " + show(offset, bytes) + ", expected whole granules of " +
                        std::to_string(granule_) + " or all that is left of the capacity");
  }
  if (!do_commit(offset, bytes)) return false;
  reserved_ += bytes;
  auto it = committed_.emplace(offset, offset + bytes).first;
  if (const auto next = std::next(it); next != committed_.end() && next->first == it->second) {
    it->second = next->second;
    committed_.erase(next);
  }
  if (it != committed_.begin() && std::prev(it)->second == it->first) {
    std::prev(it)->second = it->second;
    committed_.erase(it);
  }
  tell(DriverCall::commit, offset, bytes);
  return true;
}

void Driver::decommit(std::size_t offset, std::size_t bytes) {
  const std::size_t end = offset + bytes;
  const auto range =
      bytes == 0 || bytes > kAddressSpace ? committed_.end() : holding(committed_, offset, end);
  // The only piece that is no whole number of granules is a last one, which goes as a whole.
  if (range == committed_.end() || offset % granule_ != 0 ||
      (bytes % granule_ != 0 && end != range->second)) {
    throw ContractError("decommit of " + show(offset, bytes) + ", expected committed granules");
  }
  do_decommit(offset, bytes);
  reserved_ -= bytes;
  const std::size_t range_end = range->second;
  if (range->first == offset) {
    committed_.erase(range);
  } else {
    range->second = offset;
  }
  if (end != range_end) committed_.emplace(end, range_end);
  tell(DriverCall::decommit, offset, bytes);
}

void Driver::tell(DriverCall call, std::size_t offset, std::size_t bytes) {
  ++calls_;
  if (listener_) listener_(call, offset, bytes);
}

}  // namespace arenagrad
