// What the machine has left, so that a run that cannot fit says so instead of being killed.
#pragma once

#include <cstddef>
#include <string>

#include "allocator/error.h"

namespace arenagrad {

/// Bytes that can still be used: the system's MemAvailable, or what the process's control group
/// leaves if that is less. `root` is where /proc and /sys are looked for. kUnlimited when unknown.
std::size_t available_memory(const std::string& root = "/");

/// Resident bytes of this process; 0 when unknown.
std::size_t resident_memory();

/// A run that would need more memory than the machine has left; nothing has been allocated.
class NotEnoughMemory : public Error {
 public:
  NotEnoughMemory(std::size_t arena, std::size_t host, std::size_t available);
  std::size_t arena;      // bytes the run would reserve
  std::size_t host;       // bytes of arrays outside the arena
  std::size_t available;  // bytes left
};

/// Throws NotEnoughMemory when arena + host > available.
void check_machine_memory(std::size_t arena, std::size_t host, std::size_t available);

}  // namespace arenagrad
