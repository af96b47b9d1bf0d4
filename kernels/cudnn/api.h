// cuDNN as a table of functions, so that one text serves a library opened at run time (planning
// without a GPU) and one linked by a build with CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernels/cudnn/abi.h"

namespace arenagrad::cudnn {

/// Signatures differ from cuDNN's only in that our enumerations stand for its own, both of the size
/// of int. Fill it from linked functions through captureless lambdas that convert.
struct CudnnApi {
  std::size_t (*version)() = nullptr;  // 91900
  const char* (*error_string)(Status) = nullptr;
  /// Explains the calling thread's last error; may be null.
  void (*last_error)(char* message, std::size_t size) = nullptr;
  Status (*create)(DescriptorType, Descriptor*) = nullptr;
  Status (*destroy)(Descriptor) = nullptr;
  Status (*finalize)(Descriptor) = nullptr;
  Status (*set)(Descriptor, Attribute, AttributeType, std::int64_t count,
                const void* elements) = nullptr;
  Status (*get)(Descriptor, Attribute, AttributeType, std::int64_t capacity, std::int64_t* count,
                void* elements) = nullptr;
  /// Null where nothing is executed.
  Status (*execute)(Handle, Descriptor plan, Descriptor variant_pack) = nullptr;
};

/// Throws DeviceError "cuDNN: CALL: expected success, got STATUS (why), in WHERE".
void check(const CudnnApi& api, Status status, std::string_view call, std::string_view where);

/// Opens libcublasLt.so.13, then libcudnn.so.9, and leaves them open for good. Only `folders` are
/// looked into, in this order, and their folders lib64, lib and */lib (pip's folder "nvidia");
/// without any, where the loader itself looks, then a toolkit's usual places, then pip's. Throws
/// DeviceError naming what is missing. cuDNN itself ends the process when a part of it is missing
/// that it opens later: call this in a process that may end.
CudnnApi load_cudnn(std::span<const std::string> folders = {});

}  // namespace arenagrad::cudnn
