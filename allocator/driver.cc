#include "allocator/driver.h"

#include <algorithm>
#include <string>

#include "allocator/error.h"
#include "allocator/request.h"

namespace arenagrad {
namespace {

// Offsets handed out stay below this: room for several ranges of the largest capacity, and no sum
// of an offset and a size can overflow.
constexpr std::size_t kAddressSpace = 8 * kUnlimited;

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

std::size_t end_of(const std::pair<const std::size_t, std::size_t>& range) { return range.second; }

template <class Mapping>
std::size_t end_of(const std::pair<const std::size_t, Mapping>& range) {
  return range.first + range.second.bytes;
}

template <class Ranges>
bool touches(const Ranges& ranges, std::size_t begin, std::size_t end) {
  auto it = ranges.lower_bound(end);
  return it != ranges.begin() && end_of(*std::prev(it)) > begin;
}

}  // namespace

Driver::Driver(std::size_t capacity, std::size_t granule, std::size_t longest_range)
    : capacity_(capacity), granule_(granule), longest_range_(longest_range) {
  check_contract(granule > 0, "a driver's granule is at least one byte");
  check_contract(capacity <= kUnlimited, "a driver's capacity is at most 2^60 bytes");
}

std::size_t Driver::reserve(std::size_t bytes, Sharing sharing) {
  check_contract(bytes > 0, "reserve of no bytes");
  if (bytes > kAddressSpace || round_up(bytes, granule_) > kAddressSpace - next_) {
    throw ContractError("address space exhausted: asked for " + std::to_string(bytes) +
                        " bytes, left " + std::to_string(kAddressSpace - next_));
  }
  const std::size_t offset = next_;
  do_reserve(offset, bytes);
  next_ += round_up(bytes, granule_);
  ranges_.emplace(offset, next_);
  if (sharing == Sharing::shareable) {
    shareable_.insert(offset);
    do_share(offset, bytes);
  }
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
  if (touches(mapped_, offset, range->second)) {
    throw ContractError("release of " + show(offset, bytes) + ", part of which is mapped");
  }
  do_release(offset, bytes);
  shareable_.erase(offset);
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
  if (touches(committed_, offset, offset + bytes) || touches(mapped_, offset, offset + bytes)) {
    throw ContractError("commit of " + show(offset, bytes) + ", part of which has memory");
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
  for (const auto& [at, mapping] : mapped_) {
    if (mapping.source < end && mapping.source + mapping.bytes > offset) {
      throw ContractError("decommit of " + show(offset, bytes) + ", part of which is mapped at " +
                          show(at, mapping.bytes));
    }
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

bool Driver::map(std::size_t offset, std::size_t source, std::size_t bytes) {
  const std::size_t end = offset + bytes;
  if (bytes == 0 || bytes > kAddressSpace || offset % granule_ != 0 || bytes % granule_ != 0 ||
      holding(ranges_, offset, end) == ranges_.end() || touches(committed_, offset, end) ||
      touches(mapped_, offset, end)) {
    throw ContractError("map at " + show(offset, bytes) +
                        ", expected granules without memory in one reserved range");
  }
  const auto range = holding(ranges_, source, source + bytes);
  if (source % granule_ != 0 || holding(committed_, source, source + bytes) == committed_.end() ||
      range == ranges_.end() || !shareable_.contains(range->first)) {
    throw ContractError("map of " + show(source, bytes) +
                        ", expected committed granules of one shareable range");
  }
  if (!do_map(offset, source, bytes)) return false;
  mapped_.emplace(offset, Mapping{bytes, source});
  tell(DriverCall::map, offset, bytes);
  return true;
}

void Driver::unmap(std::size_t offset, std::size_t bytes) {
  const auto mapping = mapped_.find(offset);
  if (mapping == mapped_.end() || mapping->second.bytes != bytes) {
    throw ContractError("unmap of " + show(offset, bytes) + ", which was not mapped so");
  }
  do_unmap(offset, bytes);
  mapped_.erase(mapping);
  tell(DriverCall::unmap, offset, bytes);
}

std::vector<Driver::Piece> Driver::memory_behind(std::size_t offset, std::size_t bytes) const {
  if (holding(committed_, offset, offset + bytes) != committed_.end()) return {{offset, bytes}};
  std::vector<Piece> pieces;
  const std::size_t end = offset + bytes;
  auto mapping = mapped_.upper_bound(offset);
  if (mapping != mapped_.begin()) --mapping;
  for (; offset < end; ++mapping) {
    if (mapping == mapped_.end() || mapping->first > offset || end_of(*mapping) <= offset) {
      throw ContractError("no memory at " + show(offset, end - offset));
    }
    const std::size_t part = std::min(end, end_of(*mapping)) - offset;
    pieces.push_back({mapping->second.source + (offset - mapping->first), part});
    offset += part;
  }
  return pieces;
}

void Driver::tell(DriverCall call, std::size_t offset, std::size_t bytes) {
  ++calls_;
  if (listener_) listener_(call, offset, bytes);
}

}  // namespace arenagrad
