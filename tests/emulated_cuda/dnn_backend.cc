// cuDNN's backend API.
#include <algorithm>
#include <array>

#include "tests/emulated_cuda/dnn_descriptor.h"
#include "tests/emulated_cuda/dnn_handle.h"

using emulated_cuda::BackendDescriptor;
using emulated_cuda::expect_dnn;
using emulated_cuda::illegal;
using emulated_cuda::Kind;
using emulated_cuda::machine;

namespace {

BackendDescriptor* expect_desc(cudnnBackendDescriptor_t desc, const char* call) {
  return machine().expect(Kind::backend_desc, desc, call) ? static_cast<BackendDescriptor*>(desc)
                                                          : nullptr;
}

constexpr cudnnBackendDescriptorType_t kTypes[] = {
    CUDNN_BACKEND_TENSOR_DESCRIPTOR,
    CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR,
    CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
    CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,
    CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
    CUDNN_BACKEND_ENGINE_DESCRIPTOR,
    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,
    CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR,
    CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
    CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,
};

/// A descriptor that the caller made for an answer to be put into; null if it is not one.
BackendDescriptor* slot(void* elements, std::int64_t i, cudnnBackendDescriptorType_t type) {
  auto* desc = static_cast<cudnnBackendDescriptor_t*>(elements)[i];
  if (!machine().alive(Kind::backend_desc, desc)) return nullptr;
  auto* found = static_cast<BackendDescriptor*>(desc);
  if (found->type != type) return nullptr;
  *found = {.type = type, .finalized = true};
  return found;
}

template <class T>
cudnnStatus_t answer(T value, std::int64_t capacity, std::int64_t* count, void* elements) {
  if (count != nullptr) *count = 1;
  if (capacity < 1 || elements == nullptr) return illegal("an answer has no room");
  std::memcpy(elements, &value, sizeof(value));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t answer_results(const BackendDescriptor& desc, std::int64_t capacity,
                             std::int64_t* count, void* elements) {
  const auto found = emulated_cuda::offers(desc);
  const auto total = static_cast<std::int64_t>(found.size());
  if (elements == nullptr) {
    *count = total;
    return CUDNN_STATUS_SUCCESS;
  }
  *count = std::min(capacity, total);
  for (std::int64_t i = 0; i < *count; ++i) {
    BackendDescriptor* config = slot(elements, i, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (config == nullptr) return illegal("a heuristic's results: not configurations");
    config->convolution = desc.convolution;
    config->has_handle = desc.has_handle;
    config->handle = desc.handle;
    config->has_properties = desc.has_properties;
    std::tie(config->engine, config->knobs) = found[static_cast<std::size_t>(i)];
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t answer_engine(const BackendDescriptor& config, std::int64_t capacity,
                            std::int64_t* count, void* elements) {
  BackendDescriptor* engine =
      capacity == 1 ? slot(elements, 0, CUDNN_BACKEND_ENGINE_DESCRIPTOR) : nullptr;
  if (engine == nullptr) return illegal("a configuration's engine: not an engine");
  *count = 1;
  engine->engine = config.engine;
  engine->convolution = config.convolution;
  return CUDNN_STATUS_SUCCESS;
}

/// As the real one: nothing for a question about the number alone.
cudnnStatus_t answer_knobs(const BackendDescriptor& config, std::int64_t capacity,
                           std::int64_t* count, void* elements) {
  *count = std::min(capacity, static_cast<std::int64_t>(config.knobs.size()));
  for (std::int64_t i = 0; i < *count; ++i) {
    BackendDescriptor* choice = slot(elements, i, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    if (choice == nullptr) return illegal("a configuration's knobs: not knob choices");
    choice->knobs = {config.knobs[static_cast<std::size_t>(i)]};
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t answer_json(std::int64_t capacity, std::int64_t* count, void* elements) {
  const std::string text = R"({"deviceName": "emulated GPU", "deviceVer": 900})";
  *count = static_cast<std::int64_t>(text.size());
  if (elements == nullptr) return CUDNN_STATUS_SUCCESS;
  std::memcpy(elements, text.data(), static_cast<std::size_t>(std::min(capacity, *count)));
  return CUDNN_STATUS_SUCCESS;
}

/// The pointers of a pack by x, w, y; empty when something about them is illegal.
std::optional<std::array<void*, 3>> pointers_for(const BackendDescriptor& pack,
                                                 const emulated_cuda::Convolution& conv) {
  std::array<void*, 3> found{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      if (pack.at(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).as<std::int64_t>(j) == conv.ids[i])
        found[i] = pack.at(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).as<void*>(j);
  for (std::size_t i = 0; i < 3; ++i)
    if (!machine().expect_memory(found[i], conv.layout(i).extent(),
                                 static_cast<std::size_t>(conv.alignments[i]),
                                 "cudnnBackendExecute"))
      return std::nullopt;
  return found;
}

bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
  const auto x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
  return x < y + b_bytes && y < x + a_bytes;
}

/// The output lies apart from everything else, and so does the workspace.
bool apart(const emulated_cuda::Convolution& conv, const std::array<void*, 3>& data,
           const void* workspace, std::size_t workspace_bytes) {
  const std::size_t out = conv.output();
  for (std::size_t i = 0; i < 3; ++i) {
    if (i != out && overlap(data[i], conv.layout(i).extent(), data[out], conv.layout(out).extent()))
      return false;
    if (overlap(data[i], conv.layout(i).extent(), workspace, workspace_bytes)) return false;
  }
  return true;
}

bool parts_alive(const BackendDescriptor& desc) {
  return std::all_of(desc.parts.begin(), desc.parts.end(), [](const BackendDescriptor* part) {
    return machine().alive(Kind::backend_desc, part) && parts_alive(*part);
  });
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* desc) {
  if (machine().enter(__func__)) return CUDNN_STATUS_INTERNAL_ERROR;
  if (std::find(std::begin(kTypes), std::end(kTypes), type) == std::end(kTypes))
    return illegal("cudnnBackendCreateDescriptor: type " + std::to_string(type),
                   CUDNN_STATUS_NOT_SUPPORTED);
  auto* made = new BackendDescriptor{.type = type};
  machine().born(Kind::backend_desc, made);
  *desc = made;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t desc) {
  const bool fails = machine().enter(__func__);
  BackendDescriptor* found = expect_desc(desc, __func__);
  if (found == nullptr) return CUDNN_STATUS_BAD_PARAM;
  machine().died(Kind::backend_desc, found);
  delete found;
  return fails ? CUDNN_STATUS_INTERNAL_ERROR : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t desc,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void* elements) {
  if (machine().enter(__func__)) return CUDNN_STATUS_INTERNAL_ERROR;
  BackendDescriptor* found = expect_desc(desc, __func__);
  if (found == nullptr) return CUDNN_STATUS_BAD_PARAM;
  if (found->finalized) return illegal("cudnnBackendSetAttribute: the descriptor is finalized");
  if (const auto fault = emulated_cuda::fault_of_setting(found->type, name, type, count);
      !fault.empty())
    return illegal("cudnnBackendSetAttribute: " + fault, CUDNN_STATUS_NOT_SUPPORTED);
  const auto* bytes = static_cast<const std::byte*>(elements);
  const std::size_t size = static_cast<std::size_t>(count) * emulated_cuda::element_size(type);
  found->attributes.insert_or_assign(name,
                                     emulated_cuda::Attribute{type, count, {bytes, bytes + size}});
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t desc) {
  if (machine().enter(__func__)) return CUDNN_STATUS_INTERNAL_ERROR;
  BackendDescriptor* found = expect_desc(desc, __func__);
  if (found == nullptr) return CUDNN_STATUS_BAD_PARAM;
  if (found->finalized) return illegal("cudnnBackendFinalize: finalized already");
  if (const int name = emulated_cuda::missing(*found))
    return illegal("cudnnBackendFinalize: descriptor type " + std::to_string(found->type) +
                   " lacks attribute " + std::to_string(name));
  const emulated_cuda::Verdict verdict = emulated_cuda::understand(*found);
  if (!verdict.illegal.empty()) illegal("cudnnBackendFinalize: " + verdict.illegal);
  found->finalized = verdict.status == CUDNN_STATUS_SUCCESS;
  return verdict.status;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const desc,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t capacity,
                                       int64_t* count, void* elements) {
  if (machine().enter(__func__)) return CUDNN_STATUS_INTERNAL_ERROR;
  const BackendDescriptor* found = expect_desc(desc, __func__);
  if (found == nullptr) return CUDNN_STATUS_BAD_PARAM;
  if (!found->finalized)
    return illegal("cudnnBackendGetAttribute: the descriptor is not finalized");
  const auto is = [&](cudnnBackendDescriptorType_t desc_type, cudnnBackendAttributeName_t wanted,
                      cudnnBackendAttributeType_t wanted_type) {
    return found->type == desc_type && name == wanted && type == wanted_type;
  };
  std::int64_t ignored = 0;
  if (count == nullptr) count = &ignored;
  if (is(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_ATTR_ENGINEHEUR_RESULTS,
         CUDNN_TYPE_BACKEND_DESCRIPTOR))
    return answer_results(*found, capacity, count, elements);
  if (is(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_ATTR_ENGINECFG_ENGINE,
         CUDNN_TYPE_BACKEND_DESCRIPTOR))
    return answer_engine(*found, capacity, count, elements);
  if (is(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
         CUDNN_TYPE_BACKEND_DESCRIPTOR))
    return answer_knobs(*found, capacity, count, elements);
  if (is(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
         CUDNN_TYPE_KNOB_TYPE))
    return answer(found->knobs.at(0).first, capacity, count, elements);
  if (is(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64))
    return answer(found->knobs.at(0).second, capacity, count, elements);
  if (is(CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64))
    return answer(found->engine, capacity, count, elements);
  if (is(CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
         CUDNN_TYPE_NUMERICAL_NOTE) ||
      is(CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
         CUDNN_TYPE_BEHAVIOR_NOTE)) {
    *count = 0;
    return CUDNN_STATUS_SUCCESS;
  }
  if (is(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
         CUDNN_TYPE_INT64))
    return answer(static_cast<std::int64_t>(found->workspace), capacity, count, elements);
  if (is(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
         CUDNN_TYPE_CHAR))
    return answer_json(capacity, count, elements);
  return illegal("cudnnBackendGetAttribute: attribute " + std::to_string(name) + " of type " +
                     std::to_string(type) + " is not emulated",
                 CUDNN_STATUS_NOT_SUPPORTED);
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan_desc,
                                  cudnnBackendDescriptor_t pack_desc) {
  if (machine().enter(__func__)) return CUDNN_STATUS_EXECUTION_FAILED;
  const BackendDescriptor* plan = expect_desc(plan_desc, __func__);
  const BackendDescriptor* pack = expect_desc(pack_desc, __func__);
  if (!expect_dnn(handle, __func__) || plan == nullptr || pack == nullptr)
    return CUDNN_STATUS_BAD_PARAM;
  if (plan->type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR || !plan->finalized ||
      pack->type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR || !pack->finalized)
    return illegal("cudnnBackendExecute: plan or variant pack");
  if (!plan->has_handle || plan->handle != handle)
    return illegal("cudnnBackendExecute: the plan was not made with this handle");
  if (!parts_alive(*plan)) return illegal("cudnnBackendExecute: a part of the plan is destroyed");
  const emulated_cuda::Convolution conv = *plan->convolution;
  const auto data = pointers_for(*pack, conv);
  if (!data) return CUDNN_STATUS_BAD_PARAM;
  void* const workspace = pack->at(CUDNN_ATTR_VARIANT_PACK_WORKSPACE).as<void*>();
  const std::size_t bytes = plan->workspace;
  if (bytes > 0 && !machine().expect_memory(workspace, bytes, 16, __func__))
    return CUDNN_STATUS_BAD_PARAM;
  if (!apart(conv, *data, workspace, bytes))
    return illegal("cudnnBackendExecute: output or workspace lies over something else");
  machine().enqueue(handle->stream, [=] {
    if (bytes > 0) machine().fill(workspace, bytes);
    conv.run(*data);
  });
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
