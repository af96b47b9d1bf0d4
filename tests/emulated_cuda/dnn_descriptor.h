// Backend descriptors of the emulated cuDNN: attributes as they were set, and what they were
// understood to mean once finalized.
#pragma once

#include <cudnn.h>

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulated_cuda/convolution.h"

namespace emulated_cuda {

/// The two engines of the emulated GPU, with numbers that no real engine has. The hungry one takes
/// workspace, as its knob says, and cannot add to an input's gradient; heuristics prefer it. The
/// frugal one takes none and can do everything.
inline constexpr std::int64_t kHungry = 910001, kFrugal = 910002;
inline constexpr cudnnBackendKnobType_t kKnob = CUDNN_KNOB_TYPE_TILE_SIZE;  // 1 or 2

struct Attribute {
  cudnnBackendAttributeType_t type;
  std::int64_t count;
  std::vector<std::byte> bytes;

  template <class T>
  T as(std::size_t i = 0) const {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    return value;
  }
};

struct BackendDescriptor {
  cudnnBackendDescriptorType_t type;
  bool finalized = false;
  std::map<cudnnBackendAttributeName_t, Attribute> attributes;

  // After finalizing, as far as the type goes.
  std::optional<Convolution> convolution;  // of an operation and all that is made of it
  bool has_handle = false, has_properties = false;
  cudnnHandle_t handle = nullptr;
  std::int64_t engine = 0;
  std::vector<std::pair<int, std::int64_t>> knobs;
  std::size_t workspace = 0;
  /// What it was made of, and needs alive.
  std::vector<const BackendDescriptor*> parts;

  const Attribute* find(cudnnBackendAttributeName_t name) const {
    const auto found = attributes.find(name);
    return found == attributes.end() ? nullptr : &found->second;
  }
  const Attribute& at(cudnnBackendAttributeName_t name) const { return attributes.at(name); }
};

/// Bytes of one element of an attribute; 0 for a type that is not emulated.
std::size_t element_size(cudnnBackendAttributeType_t type);

/// What is wrong with setting this; empty when nothing is. From a table of all attributes.
std::string fault_of_setting(cudnnBackendDescriptorType_t type, cudnnBackendAttributeName_t name,
                             cudnnBackendAttributeType_t attribute_type, std::int64_t count);
/// A required attribute that was never set; 0: none.
int missing(const BackendDescriptor& desc);

/// Understands a descriptor whose attributes are complete. The status, and what is illegal: a
/// status without a text is a legal refusal.
struct Verdict {
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  std::string illegal;
};
Verdict understand(BackendDescriptor& desc);

/// The engines that a heuristic offers, with their knobs.
std::vector<std::pair<std::int64_t, std::vector<std::pair<int, std::int64_t>>>> offers(
    const BackendDescriptor& heuristics);

}  // namespace emulated_cuda
