// Opens cuDNN at run time. Two libraries have to be there beforehand: cuDNN ends the process when
// it can't find cuBLASLt itself.
#include <dlfcn.h>
#include <glob.h>

#include <vector>

#include "kernels/backend.h"
#include "kernels/cudnn/api.h"

namespace arenagrad::cudnn {
namespace {

/// Where the loader doesn't look: a toolkit's folders, pip's, CUDA 13's wheel and the one before.
constexpr const char* kUsualPlaces[] = {
    "/usr/local/cuda/lib64",
    "/usr/local/cuda/targets/*/lib",
    "/usr/local/cuda-13*/lib64",
    "/opt/cuda/lib64",
    "/usr/lib/python3/dist-packages/nvidia/*/lib",
    "/usr/local/lib/python3*/dist-packages/nvidia/*/lib",
    "/usr/local/lib/python3*/site-packages/nvidia/*/lib",
    "/usr/lib/python3*/site-packages/nvidia/*/lib",
    "/opt/*/lib/python3*/site-packages/nvidia/*/lib",
};

std::vector<std::string> files_named(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> files;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) files.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  return files;
}

/// Everywhere that `name` may be, in the order of search; the bare name is the loader's search.
std::vector<std::string> places(const std::string& name, std::span<const std::string> folders) {
  std::vector<std::string> result;
  const auto add = [&](const std::string& folder) {
    for (std::string& file : files_named(folder + "/" + name)) result.push_back(std::move(file));
  };
  for (const std::string& folder : folders)
    for (const char* inside : {"", "/lib64", "/lib", "/*/lib"}) add(folder + inside);
  if (!folders.empty()) return result;
  result.push_back(name);
  for (const char* place : kUsualPlaces) add(place);
  return result;
}

void* open_library(const std::string& name, std::span<const std::string> folders) {
  std::string why = folders.empty() ? "" : "no such file in " + folders.front();
  for (const std::string& place : places(name, folders)) {
    // Global: cuDNN's parts find each other by name.
    if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
    why = dlerror();
  }
  throw DeviceError("cuDNN: expected " + name + ", got none that opens (" + why + ")");
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr)
    throw DeviceError("cuDNN: expected the function " + std::string(name) +
                      " in libcudnn.so.9, got none");
  function = reinterpret_cast<Function>(symbol);
}

}  // namespace

CudnnApi load_cudnn(std::span<const std::string> folders) {
  open_library("libcublasLt.so.13", folders);
  void* library = open_library("libcudnn.so.9", folders);
  CudnnApi api;
  find(library, "cudnnGetVersion", api.version);
  find(library, "cudnnGetErrorString", api.error_string);
  find(library, "cudnnGetLastErrorString", api.last_error);
  find(library, "cudnnBackendCreateDescriptor", api.create);
  find(library, "cudnnBackendDestroyDescriptor", api.destroy);
  find(library, "cudnnBackendFinalize", api.finalize);
  find(library, "cudnnBackendSetAttribute", api.set);
  find(library, "cudnnBackendGetAttribute", api.get);
  return api;
}

}  // namespace arenagrad::cudnn
