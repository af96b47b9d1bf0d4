// Where memory comes from. A strategy speaks offsets to a Driver; whether there is memory behind
// them is the driver's business, so that a dry run and a real run are the same walk.
//
// Address space and memory are two things: `reserve` hands out a range of offsets, `commit` puts
// memory behind part of it. Only committed bytes count towards `reserved()` and the capacity. `map`
// lets other offsets of a shareable range's memory appear elsewhere, which takes no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace arenagrad {

enum class DriverCall { reserve, release, commit, decommit, map, unmap };

/// More than a device has, and few enough that the addresses of a process hold several such ranges.
inline constexpr std::size_t kProcessRange = std::size_t{1} << 42;

/// Whether a range's memory can be mapped elsewhere too.
enum class Sharing { none, shareable };

/// What a device's own pool says of itself: bytes that it has taken from the device, and bytes of
/// them that are handed out, both now and at their highest.
struct PoolCounters {
  std::uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0;
};

class Driver {
 public:
  /// `capacity`: most bytes ever committed at once, at most kUnlimited. `granule`: sizes are
  /// committed in multiples of it, save for a last piece that would pass the capacity (see
  /// `committable`). `longest_range`: see there.
  Driver(std::size_t capacity, std::size_t granule, std::size_t longest_range = kProcessRange);
  virtual ~Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  /// A range of `bytes` offsets without memory; its start is a multiple of the granule. Throws
  /// ContractError when the address space is exhausted (it is far larger than any memory).
  std::size_t reserve(std::size_t bytes, Sharing sharing = Sharing::none);
  /// Gives a whole range back; nothing in it may still be committed.
  void release(std::size_t offset, std::size_t bytes);

  /// Puts memory behind [offset, offset + bytes), inside one reserved range and not committed yet.
  /// False when that would pass the capacity or when the system refuses; nothing has changed then.
  [[nodiscard]] bool commit(std::size_t offset, std::size_t bytes);
  /// Takes memory away again; the range may cover several commits, or whole granules of one.
  void decommit(std::size_t offset, std::size_t bytes);

  /// Lets [offset, offset + bytes), whole granules of one reserved range without memory, show the
  /// memory at `source`, committed in one shareable range. It stays the source's and counts once;
  /// while it is mapped, the source cannot be decommitted. False when the system refuses, or where
  /// memory cannot be shared at all; nothing has changed then.
  [[nodiscard]] bool map(std::size_t offset, std::size_t source, std::size_t bytes);
  /// Takes back what one `map` did.
  void unmap(std::size_t offset, std::size_t bytes);

  struct Piece {
    std::size_t offset, bytes;
    friend bool operator==(const Piece&, const Piece&) = default;
  };
  /// Where the memory at [offset, offset + bytes) was committed, in order: what two ranges of
  /// offsets share is what their pieces share. ContractError where there is none.
  std::vector<Piece> memory_behind(std::size_t offset, std::size_t bytes) const;

  std::size_t capacity() const { return capacity_; }
  /// A strategy that wants a range as long as the memory there may ever be asks for the capacity or
  /// this, whichever is less.
  std::size_t longest_range() const { return longest_range_; }
  std::size_t granule() const { return granule_; }
  /// Bytes committed now.
  std::size_t reserved() const { return reserved_; }
  /// What to commit in order to have `bytes` more: rounded up to the granule, less if that would
  /// pass the capacity; 0 when not even `bytes` are left.
  std::size_t committable(std::size_t bytes) const;
  std::size_t calls() const { return calls_; }

  /// Called after every successful call, for the ledger.
  using Listener = std::function<void(DriverCall, std::size_t offset, std::size_t bytes)>;
  void on_call(Listener listener) { listener_ = std::move(listener); }

  /// Host or device address of offset 0; null when there is no memory (simulated).
  virtual std::byte* base() const = 0;
  /// Address of a committed offset. Where each commit has an address of its own there is no base,
  /// and `offset` is one at which a commit began.
  virtual std::byte* at(std::size_t offset) const { return base() + offset; }
  /// Nothing, unless the memory is a pool's. Throws Error when it does not answer.
  virtual std::optional<PoolCounters> pool_counters() const { return std::nullopt; }

 protected:
  virtual void do_reserve(std::size_t offset, std::size_t bytes) = 0;
  virtual void do_release(std::size_t offset, std::size_t bytes) = 0;
  virtual bool do_commit(std::size_t offset, std::size_t bytes) = 0;
  virtual void do_decommit(std::size_t offset, std::size_t bytes) = 0;

  // For drivers without shareable memory there is nothing to do, and nothing is mapped. A range is
  // shared right after it was reserved.
  virtual void do_share(std::size_t, std::size_t) {}
  virtual bool do_map(std::size_t, std::size_t, std::size_t) { return false; }
  virtual void do_unmap(std::size_t, std::size_t) {}

 private:
  using Ranges = std::map<std::size_t, std::size_t>;  // begin to end, apart from one another
  void tell(DriverCall call, std::size_t offset, std::size_t bytes);

  std::size_t capacity_;
  std::size_t granule_;
  std::size_t longest_range_;
  std::size_t next_ = 0;  // addresses are never handed out twice
  std::size_t reserved_ = 0;
  std::size_t calls_ = 0;
  Ranges ranges_;     // reserved address ranges
  Ranges committed_;  // neighbours joined
  struct Mapping {
    std::size_t bytes, source;
  };
  std::map<std::size_t, Mapping> mapped_;  // by offset
  std::set<std::size_t> shareable_;        // begins of ranges
  Listener listener_;
};

/// Counts and checks like any driver, with no memory behind it: the driver of a dry run.
class SimulatedDriver final : public Driver {
 public:
  using Driver::Driver;
  std::byte* base() const override { return nullptr; }

 private:
  void do_reserve(std::size_t, std::size_t) override {}
  void do_release(std::size_t, std::size_t) override {}
  bool do_commit(std::size_t, std::size_t) override { return true; }
  void do_decommit(std::size_t, std::size_t) override {}
  bool do_map(std::size_t, std::size_t, std::size_t) override { return true; }
};

/// Host memory (mmap): anonymous, or a memory file's where it is shareable, each byte at its own
/// offset of the file. Owns one address range, taken at the first `reserve`, and gives it back in
/// the destructor. Memory is zero when committed and faults when not.
class HostDriver final : public Driver {
 public:
  /// The granule is a multiple of kPage.
  HostDriver(std::size_t capacity, std::size_t granule);
  ~HostDriver() override;
  /// Null before the first `reserve`, a multiple of kPage after it.
  std::byte* base() const override { return base_; }

  static constexpr std::size_t kPage = 4096;

 private:
  void do_reserve(std::size_t offset, std::size_t bytes) override;
  void do_share(std::size_t offset, std::size_t bytes) override;
  void do_release(std::size_t offset, std::size_t bytes) override;
  bool do_commit(std::size_t offset, std::size_t bytes) override;
  void do_decommit(std::size_t offset, std::size_t bytes) override;
  bool do_map(std::size_t offset, std::size_t source, std::size_t bytes) override;
  void do_unmap(std::size_t offset, std::size_t bytes) override;
  bool shareable(std::size_t offset) const;

  std::byte* base_ = nullptr;
  std::size_t mapped_ = 0;  // bytes of address space from base_
  int file_ = -1;           // of the shareable memory, opened for the first such range
  std::vector<Piece> shareable_;
};

}  // namespace arenagrad
