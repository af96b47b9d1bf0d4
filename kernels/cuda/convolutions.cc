#include "kernels/cuda/convolutions.h"

#include <string>

#include "kernels/backend.h"

namespace arenagrad::cuda {
namespace {

cudnn::Status ours(cudnnStatus_t status) { return static_cast<cudnn::Status>(status); }

cudnnBackendDescriptor_t theirs(cudnn::Descriptor desc) {
  return static_cast<cudnnBackendDescriptor_t>(desc);
}

}  // namespace

cudnn::CudnnApi linked_cudnn() {
  using cudnn::Attribute, cudnn::AttributeType, cudnn::Descriptor;
  cudnn::CudnnApi api;
  api.version = [] { return cudnnGetVersion(); };
  api.error_string = [](cudnn::Status status) {
    return cudnnGetErrorString(static_cast<cudnnStatus_t>(status));
  };
  api.last_error = [](char* message, std::size_t size) { cudnnGetLastErrorString(message, size); };
  api.create = [](cudnn::DescriptorType type, Descriptor* desc) {
    cudnnBackendDescriptor_t made = nullptr;
    const auto status =
        cudnnBackendCreateDescriptor(static_cast<cudnnBackendDescriptorType_t>(type), &made);
    *desc = made;
    return ours(status);
  };
  api.destroy = [](Descriptor desc) { return ours(cudnnBackendDestroyDescriptor(theirs(desc))); };
  api.finalize = [](Descriptor desc) { return ours(cudnnBackendFinalize(theirs(desc))); };
  api.set = [](Descriptor desc, Attribute name, AttributeType type, std::int64_t count,
               const void* elements) {
    return ours(
        cudnnBackendSetAttribute(theirs(desc), static_cast<cudnnBackendAttributeName_t>(name),
                                 static_cast<cudnnBackendAttributeType_t>(type), count, elements));
  };
  api.get = [](Descriptor desc, Attribute name, AttributeType type, std::int64_t capacity,
               std::int64_t* count, void* elements) {
    return ours(cudnnBackendGetAttribute(
        theirs(desc), static_cast<cudnnBackendAttributeName_t>(name),
        static_cast<cudnnBackendAttributeType_t>(type), capacity, count, elements));
  };
  api.execute = [](cudnn::Handle handle, Descriptor plan, Descriptor pack) {
    return ours(
        cudnnBackendExecute(static_cast<cudnnHandle_t>(handle), theirs(plan), theirs(pack)));
  };
  return api;
}

Convolutions::Convolutions(cudnnHandle_t handle, std::span<const cudnn::PinnedEngines> engines)
    : api_(linked_cudnn()), handle_(handle) {
  entries_.reserve(engines.size());
  for (const cudnn::PinnedEngines& pinned : engines) {
    entries_.push_back({pinned.key, build(pinned.key, pinned.overwrite), std::nullopt});
    if (!pinned.accumulate) continue;
    cudnn::ConvKey key = pinned.key;
    key.accumulate = true;
    entries_.back().accumulate = build(key, *pinned.accumulate);
  }
}

cudnn::Plan Convolutions::build(const cudnn::ConvKey& key, const cudnn::Engine& engine) const {
  cudnn::Plan plan(cudnn::Target(api_, handle_), key, engine);
  if (plan.workspace() != engine.workspace)
    throw DeviceError("workspace of " + cudnn::text(key) + ", engine " + std::to_string(engine.id) +
                      ": expected the planned " + std::to_string(engine.workspace) +
                      " bytes, got " + std::to_string(plan.workspace()) + " from the device");
  return plan;
}

void Convolutions::run(const ConvProblem& problem, ConvPass pass, std::int64_t engine, Write write,
                       const Operands& operands, Workspace workspace) const {
  const ConstTensor& x = operands.x;
  check_contract(engine >= 0 && engine < static_cast<std::int64_t>(entries_.size()),
                 "a convolution's engine is not in the table");
  const Entry& entry = entries_[static_cast<std::size_t>(engine)];
  check_contract(entry.key.problem == problem && entry.key.pass == pass,
                 "a convolution's engine was chosen for another problem");
  check_contract(entry.key.layout == x.layout && x.layout == operands.w.layout &&
                     x.layout == operands.y.layout,
                 "a convolution's engine was chosen for another layout");
  check_contract(write == Write::overwrite || entry.accumulate,
                 "a convolution's engine cannot add to what is there");
  const cudnn::Plan& plan = write == Write::accumulate ? *entry.accumulate : entry.overwrite;
  check_contract(workspace.bytes >= plan.workspace(), "a convolution has too little workspace");
  plan.execute(handle_, x.data, operands.w.data, operands.y.data, workspace.data);
}

}  // namespace arenagrad::cuda
