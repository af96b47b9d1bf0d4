#include "experiments/host_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "allocator/request.h"
#include "allocator/units.h"

namespace arenagrad {
namespace {

/// The first number of a file; none when it is missing or holds a word ("max").
std::optional<std::size_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

std::optional<std::size_t> mem_available(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    std::size_t kilobytes = 0;
    if (words >> key >> kilobytes && key == "MemAvailable:") return kilobytes * 1024;
  }
  return std::nullopt;
}

/// limit - usage of one control group directory; files that the kernel can drop are not usage.
std::optional<std::size_t> left_in(const std::string& directory, const char* limit,
                                   const char* usage) {
  const auto most = number_in(directory + "/" + limit);
  if (!most) return std::nullopt;
  auto used = number_in(directory + "/" + usage).value_or(0);
  std::ifstream stat(directory + "/memory.stat");
  for (std::string line; std::getline(stat, line);) {
    std::istringstream words(line);
    std::string key;
    std::size_t bytes = 0;
    if (words >> key >> bytes && (key == "inactive_file" || key == "total_inactive_file"))
      used -= std::min(used, bytes);
  }
  return *most - std::min(*most, used);
}

/// The tightest limit from the process's group up to the root group (version 2), or version 1's.
std::optional<std::size_t> control_group_left(const std::string& root) {
  std::optional<std::size_t> least;
  const auto take = [&](std::optional<std::size_t> left) {
    if (left) least = std::min(*left, least.value_or(*left));
  };
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::")) continue;
    for (std::string path = line.substr(3);; path.resize(path.rfind('/'))) {
      take(left_in(root + "/sys/fs/cgroup" + path, "memory.max", "memory.current"));
      if (path.empty() || path.rfind('/') == std::string::npos) break;
    }
  }
  take(left_in(root + "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"));
  return least;
}

}  // namespace

std::size_t available_memory(const std::string& root) {
  return std::min(mem_available(root).value_or(kUnlimited),
                  control_group_left(root).value_or(kUnlimited));
}

std::size_t resident_memory() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

NotEnoughMemory::NotEnoughMemory(std::size_t arena_bytes, std::size_t host_bytes,
                                 std::size_t available_bytes)
    : Error(fmt::format("not enough memory on this machine: the run needs {} for its arena and {} "
                        "for arrays beside it, {} are left",
                        exact_bytes(arena_bytes), exact_bytes(host_bytes),
                        exact_bytes(available_bytes))),
      arena(arena_bytes),
      host(host_bytes),
      available(available_bytes) {}

void check_machine_memory(std::size_t arena, std::size_t host, std::size_t available) {
  if (arena > available || host > available - arena) throw NotEnoughMemory(arena, host, available);
}

}  // namespace arenagrad
