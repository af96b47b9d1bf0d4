// The emulated CUDA machine: a strict stand-in for a GPU, its driver, cuBLAS and cuDNN, for tests
// alone. It implements exactly the calls that the project makes, under the real names and from the
// real headers; a call that it lacks does not link. Whatever is illegal fails with the status that
// the real library would give, and is written down as a violation as well, so that no test passes
// by ignoring a status.
//
// Device memory is host memory that nothing may touch outside of the emulated calls: under
// AddressSanitizer it is poisoned in between. New memory and every workspace that a call has
// finished with are filled with a pattern. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

struct CUstream_st {
  std::uint64_t queued = 0, done = 0;  // pieces of work so far
  std::deque<std::function<void()>> work;
};
struct CUevent_st {
  CUstream_st* stream = nullptr;
  std::uint64_t point = 0;  // complete once the stream has done this many
};

namespace emulated_cuda {

inline constexpr std::size_t kGranularity = std::size_t{2} << 20;  // of mapped memory

/// What driver and runtime say of the machine.
enum class Presence { gpu, no_gpu, no_driver };

struct Options {
  std::size_t memory = std::size_t{1} << 30;    // bytes of the GPU
  std::size_t context = std::size_t{64} << 20;  // bytes of it that are never ours
  std::uint8_t fill = 0xFF;                     // 0xFF: every floating number is a NaN
  bool deferred = false;  // queued work runs at synchronisation points, no earlier
  Presence presence = Presence::gpu;
};

/// Kinds of things that are made and destroyed.
enum class Kind {
  stream,
  event,
  pinned,
  blas_handle,
  dnn_handle,
  tensor_desc,
  backend_desc,
  memory_pool
};

class Machine {
 public:
  /// Forgets everything. ContractError-like abort when something is still alive: see leaks().
  void reset(const Options& options = {});
  const Options& options() const { return options_; }

  // --- for tests ---------------------------------------------------------------------------------
  /// Illegal things done since the last reset, each in a line.
  const std::vector<std::string>& violations() const { return violations_; }
  std::vector<std::string> take_violations();
  /// What is alive, each kind in a line: empty once all has been destroyed and freed.
  std::vector<std::string> leaks() const;
  /// Calls that could fail, since the last reset or `fail_at`.
  std::uint64_t calls() const { return calls_; }
  /// Lets the nth call from now on fail (1 is the next one); 0: none.
  void fail_at(std::uint64_t nth);
  /// The call that was made to fail; empty when none was reached.
  const std::string& failed() const { return failed_; }
  /// Bytes of device memory in use, the context left out.
  std::size_t in_use() const { return in_use_; }

  // --- for the emulated calls --------------------------------------------------------------------
  /// Counts a call; true when it is to fail.
  bool enter(const char* call);
  void violation(const std::string& text) { violations_.push_back("emulated: " + text); }

  void born(Kind kind, const void* object);
  void died(Kind kind, const void* object);
  bool alive(Kind kind, const void* object) const;
  /// `alive`, with a violation if not.
  bool expect(Kind kind, const void* object, const char* call);

  bool take(std::size_t bytes);  // of the GPU's memory; false when there is no more
  void give_back(std::size_t bytes) { in_use_ -= bytes; }
  /// [begin, begin + bytes) becomes device memory (filled when new), or stops being it.
  void add_memory(std::byte* begin, std::size_t bytes, bool is_new);
  void remove_memory(std::byte* begin, std::size_t bytes);
  /// What may be done with memory that was added at `begin`: be named by a call and touched by
  /// queued work; be touched by work that was queued before, no more; nothing.
  enum class State { live, retired, closed };
  void set_state(std::byte* begin, State state);
  /// All of it is device memory. Says what is wrong otherwise, as a violation.
  bool expect_memory(const void* begin, std::size_t bytes, std::size_t alignment, const char* call);
  void fill(void* begin, std::size_t bytes);

  /// Runs `work` with device memory open, now or when the stream is waited for.
  void enqueue(CUstream_st* stream, std::function<void()> work);
  void run(CUstream_st* stream, std::uint64_t until);
  void run_all();

 private:
  struct Region {
    std::size_t bytes;
    State state = State::live;
  };
  void open(bool readable) const;

  Options options_;
  std::vector<std::string> violations_;
  std::uint64_t calls_ = 0, fail_at_ = 0;
  std::string failed_;
  std::size_t in_use_ = 0;
  std::map<std::byte*, Region> memory_;  // by begin; neighbours are kept apart
  std::map<const void*, Kind> objects_;
};

/// The machine behind the C functions, of which there can be one.
Machine& machine();

}  // namespace emulated_cuda
