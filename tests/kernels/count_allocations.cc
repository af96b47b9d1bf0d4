#include "tests/kernels/count_allocations.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {
std::atomic<std::int64_t> requests{0};
}

namespace arenagrad::cpu_test {
std::int64_t allocations_so_far() { return requests.load(); }
}  // namespace arenagrad::cpu_test

#ifdef __SANITIZE_ADDRESS__

// AddressSanitizer owns malloc, and tells. (From its allocator_interface.h, which gcc doesn't
// bring.)
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*,
                                                                           std::size_t),
                                                         void (*on_free)(const volatile void*));

namespace {
const int installed = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t) { ++requests; }, [](const volatile void*) {});
}

#else

// Takes the place of glibc's functions, which go on under their second names.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++requests;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++requests;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  ++requests;
  return __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  ++requests;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++requests;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  ++requests;
  *result = __libc_memalign(alignment, size);
  return *result == nullptr ? ENOMEM : 0;
}
}

#endif
