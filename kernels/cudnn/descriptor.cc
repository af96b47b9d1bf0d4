#include "kernels/cudnn/descriptor.h"

namespace arenagrad::cudnn {

OwnedDescriptor::OwnedDescriptor(const CudnnApi& api, DescriptorType type, std::string_view where)
    : api_(&api) {
  check(api, api.create(type, &descriptor_), "cudnnBackendCreateDescriptor", where);
}

OwnedDescriptor::~OwnedDescriptor() {
  if (descriptor_ != nullptr) api_->destroy(descriptor_);
}

void OwnedDescriptor::set_raw(Attribute attribute, AttributeType type, std::int64_t count,
                              const void* elements, std::string_view where) {
  check(*api_, api_->set(descriptor_, attribute, type, count, elements),
        "cudnnBackendSetAttribute(" + std::to_string(static_cast<int>(attribute)) + ")", where);
}

void OwnedDescriptor::set(Attribute attribute, AttributeType type,
                          std::span<const std::int64_t> values, std::string_view where) {
  set_raw(attribute, type, static_cast<std::int64_t>(values.size()), values.data(), where);
}

void OwnedDescriptor::set(Attribute attribute, Descriptor other, std::string_view where) {
  set_raw(attribute, AttributeType::descriptor, 1, &other, where);
}

void OwnedDescriptor::set(Attribute attribute, AttributeType type, int value,
                          std::string_view where) {
  set_raw(attribute, type, 1, &value, where);
}

void OwnedDescriptor::finalize(std::string_view where) {
  check(*api_, api_->finalize(descriptor_), "cudnnBackendFinalize", where);
}

std::int64_t OwnedDescriptor::get_int64(Attribute attribute, std::string_view where) const {
  std::int64_t value = 0, count = 0;
  check(*api_, api_->get(descriptor_, attribute, AttributeType::int64, 1, &count, &value),
        "cudnnBackendGetAttribute", where);
  return value;
}

std::vector<int> OwnedDescriptor::get_ints(Attribute attribute, AttributeType type, int capacity,
                                           std::string_view where) const {
  std::vector<int> values(static_cast<std::size_t>(capacity));
  std::int64_t count = 0;
  check(*api_, api_->get(descriptor_, attribute, type, capacity, &count, values.data()),
        "cudnnBackendGetAttribute", where);
  values.resize(static_cast<std::size_t>(count));
  return values;
}

std::int64_t OwnedDescriptor::get_descriptors(Attribute attribute, std::span<Descriptor> into,
                                              std::string_view where) const {
  std::int64_t count = 0;
  check(*api_,
        api_->get(descriptor_, attribute, AttributeType::descriptor,
                  static_cast<std::int64_t>(into.size()), &count,
                  into.empty() ? nullptr : into.data()),
        "cudnnBackendGetAttribute", where);
  return count;
}

}  // namespace arenagrad::cudnn
