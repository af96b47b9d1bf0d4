// Backend descriptors with an owner, and their attributes in one line each.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/cudnn/api.h"

namespace arenagrad::cudnn {

/// Owns a descriptor. Moves, does not copy.
class OwnedDescriptor {
 public:
  OwnedDescriptor() = default;
  /// Throws DeviceError; `where` is for messages. The api outlives the descriptor.
  OwnedDescriptor(const CudnnApi& api, DescriptorType type, std::string_view where);
  ~OwnedDescriptor();
  OwnedDescriptor(OwnedDescriptor&& other) noexcept
      : api_(other.api_), descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  Descriptor get() const { return descriptor_; }

  /// Each throws DeviceError naming `where`.
  void set(Attribute, AttributeType, std::span<const std::int64_t> values, std::string_view where);
  void set(Attribute, Descriptor other, std::string_view where);
  void set(Attribute, AttributeType, int value, std::string_view where);
  void set_raw(Attribute, AttributeType, std::int64_t count, const void* elements,
               std::string_view where);
  void finalize(std::string_view where);
  std::int64_t get_int64(Attribute, std::string_view where) const;
  /// An attribute with at most `capacity` ints.
  std::vector<int> get_ints(Attribute, AttributeType, int capacity, std::string_view where) const;
  /// Fills descriptors made beforehand and says how many there were to fill. With none to fill,
  /// asks for their number.
  std::int64_t get_descriptors(Attribute, std::span<Descriptor> into, std::string_view where) const;

 private:
  const CudnnApi* api_ = nullptr;
  Descriptor descriptor_ = nullptr;
};

}  // namespace arenagrad::cudnn
