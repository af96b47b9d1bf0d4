// What finalized backend descriptors mean, and what is wrong with them.
#include <algorithm>

#include "tests/emulated_cuda/dnn_descriptor.h"
#include "tests/emulated_cuda/dnn_handle.h"

namespace emulated_cuda {
namespace {

Verdict bad(const std::string& text) { return {CUDNN_STATUS_BAD_PARAM, text}; }
Verdict unknown(const std::string& text) { return {CUDNN_STATUS_NOT_SUPPORTED, text}; }

/// Another descriptor of the right type, alive and finalized; null otherwise.
const BackendDescriptor* refer(BackendDescriptor& desc, cudnnBackendAttributeName_t name,
                               cudnnBackendDescriptorType_t type, std::size_t i = 0) {
  const auto* other = desc.at(name).as<const BackendDescriptor*>(i);
  if (!machine().alive(Kind::backend_desc, other) || other->type != type || !other->finalized)
    return nullptr;
  desc.parts.push_back(other);
  return other;
}

bool floating(int type) { return type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_DOUBLE; }

Verdict tensor(const BackendDescriptor& desc) {
  const auto alignment = desc.at(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT).as<std::int64_t>();
  if (!floating(desc.at(CUDNN_ATTR_TENSOR_DATA_TYPE).as<int>()))
    return unknown("a tensor's data type");
  if (alignment < 1 || (alignment & (alignment - 1)) != 0) return bad("a tensor's alignment");
  for (std::size_t i = 0; i < 4; ++i)
    if (desc.at(CUDNN_ATTR_TENSOR_DIMENSIONS).as<std::int64_t>(i) < 1 ||
        desc.at(CUDNN_ATTR_TENSOR_STRIDES).as<std::int64_t>(i) < 1)
      return bad("a tensor's dimensions or strides");
  return {};
}

Verdict convolution(const BackendDescriptor& desc) {
  if (desc.at(CUDNN_ATTR_CONVOLUTION_CONV_MODE).as<int>() != CUDNN_CROSS_CORRELATION ||
      !floating(desc.at(CUDNN_ATTR_CONVOLUTION_COMP_TYPE).as<int>()) ||
      desc.at(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS).as<std::int64_t>() != 2)
    return unknown("a convolution's mode, type or dimensions");
  for (std::size_t i = 0; i < 2; ++i)
    if (desc.at(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES).as<std::int64_t>(i) < 1 ||
        desc.at(CUDNN_ATTR_CONVOLUTION_DILATIONS).as<std::int64_t>(i) < 1 ||
        desc.at(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS).as<std::int64_t>(i) < 0 ||
        desc.at(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS).as<std::int64_t>(i) < 0)
      return bad("a convolution's strides, dilations or paddings");
  return {};
}

struct OperationNames {
  ConvDirection direction;
  cudnnBackendAttributeName_t convolution, x, w, y, alpha, beta;
};

OperationNames names(cudnnBackendDescriptorType_t type) {
  if (type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)
    return {ConvDirection::forward,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
  if (type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR)
    return {ConvDirection::data,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
  return {ConvDirection::filter,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
}

Layout4 layout_of(const BackendDescriptor& tensor) {
  Layout4 layout;
  for (std::size_t i = 0; i < 4; ++i) {
    layout.dims[i] = tensor.at(CUDNN_ATTR_TENSOR_DIMENSIONS).as<std::int64_t>(i);
    layout.strides[i] = tensor.at(CUDNN_ATTR_TENSOR_STRIDES).as<std::int64_t>(i);
  }
  layout.wide = tensor.at(CUDNN_ATTR_TENSOR_DATA_TYPE).as<int>() == CUDNN_DATA_DOUBLE;
  return layout;
}

Verdict operation(BackendDescriptor& desc) {
  const OperationNames name = names(desc.type);
  const auto* conv = refer(desc, name.convolution, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  if (conv == nullptr) return bad("an operation's convolution");
  Convolution c;
  c.direction = name.direction;
  c.wide_compute = conv->at(CUDNN_ATTR_CONVOLUTION_COMP_TYPE).as<int>() == CUDNN_DATA_DOUBLE;
  for (std::size_t i = 0; i < 2; ++i) {
    c.stride[i] = conv->at(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES).as<std::int64_t>(i);
    c.dilation[i] = conv->at(CUDNN_ATTR_CONVOLUTION_DILATIONS).as<std::int64_t>(i);
    c.before[i] = conv->at(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS).as<std::int64_t>(i);
    c.after[i] = conv->at(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS).as<std::int64_t>(i);
  }
  const cudnnBackendAttributeName_t tensors[] = {name.x, name.w, name.y};
  Layout4* const layouts[] = {&c.x, &c.w, &c.y};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto* other = refer(desc, tensors[i], CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    if (other == nullptr) return bad("an operation's tensor");
    *layouts[i] = layout_of(*other);
    c.ids[i] = other->at(CUDNN_ATTR_TENSOR_UNIQUE_ID).as<std::int64_t>();
    c.alignments[i] = other->at(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT).as<std::int64_t>();
  }
  if (c.ids[0] == c.ids[1] || c.ids[0] == c.ids[2] || c.ids[1] == c.ids[2])
    return bad("an operation's tensors have the same number");
  if (const char* fault = c.fault()) return bad(std::string("an operation: ") + fault);
  for (const auto& [attribute, place] : {std::pair(name.alpha, &c.alpha), {name.beta, &c.beta}}) {
    const Attribute& value = desc.at(attribute);
    if ((value.type == CUDNN_TYPE_DOUBLE) != c.wide_compute)
      return bad("an operation's scalar is not of the compute type");
    *place = c.wide_compute ? value.as<double>() : static_cast<double>(value.as<float>());
  }
  desc.convolution = c;
  return {};
}

/// Takes over what a descriptor that this one is made of means.
void inherit(BackendDescriptor& desc, const BackendDescriptor& from) {
  desc.convolution = from.convolution;
  desc.has_handle = from.has_handle;
  desc.handle = from.handle;
  desc.has_properties |= from.has_properties;
}

Verdict take_handle(BackendDescriptor& desc, cudnnBackendAttributeName_t name) {
  const Attribute* handle = desc.find(name);
  if (handle == nullptr) return {};
  desc.handle = handle->as<cudnnHandle_t>();
  desc.has_handle = true;
  return machine().alive(Kind::dnn_handle, desc.handle) ? Verdict{} : bad("not a live handle");
}

Verdict take_properties(BackendDescriptor& desc, cudnnBackendAttributeName_t name) {
  if (desc.find(name) == nullptr)
    return desc.has_handle ? Verdict{} : bad("neither a handle nor device properties");
  desc.has_properties = true;
  return refer(desc, name, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR) ? Verdict{}
                                                                : bad("device properties");
}

Verdict engine(BackendDescriptor& desc) {
  const auto* graph =
      refer(desc, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (graph == nullptr) return bad("an engine's operation graph");
  inherit(desc, *graph);
  desc.engine = desc.at(CUDNN_ATTR_ENGINE_GLOBAL_INDEX).as<std::int64_t>();
  if (desc.engine != kHungry && desc.engine != kFrugal)
    return unknown("engine " + std::to_string(desc.engine) + " is not one of the emulated GPU's");
  return take_properties(desc, CUDNN_ATTR_ENGINE_DEVICEPROP);
}

Verdict config(BackendDescriptor& desc) {
  const auto* engine = refer(desc, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  if (engine == nullptr) return bad("a configuration's engine");
  inherit(desc, *engine);
  desc.engine = engine->engine;
  const Attribute* choices = desc.find(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES);
  for (std::int64_t i = 0; choices != nullptr && i < choices->count; ++i) {
    const auto* choice = refer(desc, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                               CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, static_cast<std::size_t>(i));
    if (choice == nullptr) return bad("a knob choice");
    desc.knobs.emplace_back(choice->at(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE).as<int>(),
                            choice->at(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE).as<std::int64_t>());
  }
  const bool hungry = desc.engine == kHungry;
  if (desc.knobs.size() > (hungry ? 1u : 0u)) return bad("knobs that the engine has not");
  for (const auto& [kind, value] : desc.knobs)
    if (kind != kKnob || value < 1 || value > 2) return bad("a knob's kind or value");
  return {};
}

std::size_t workspace_of(const BackendDescriptor& plan) {
  if (plan.engine != kHungry) return 0;
  const std::size_t tiles = plan.knobs.empty() ? 1 : static_cast<std::size_t>(plan.knobs[0].second);
  const Convolution& c = *plan.convolution;
  // Odd on purpose: nobody's rounding hides in it. Adding to what is there takes more.
  return tiles * c.layout(c.output()).extent() + (c.beta == 0 ? 4 : 12);
}

Verdict plan(BackendDescriptor& desc) {
  const auto* configured =
      refer(desc, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  if (configured == nullptr) return bad("a plan's engine configuration");
  inherit(desc, *configured);
  desc.engine = configured->engine;
  desc.knobs = configured->knobs;
  if (Verdict verdict = take_handle(desc, CUDNN_ATTR_EXECUTION_PLAN_HANDLE); verdict.status != 0)
    return verdict;
  if (Verdict verdict = take_properties(desc, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
      verdict.status != 0)
    return verdict;
  if (desc.engine == kHungry && desc.convolution->beta != 0 &&
      desc.convolution->direction == ConvDirection::data)
    return {CUDNN_STATUS_NOT_SUPPORTED, ""};
  desc.workspace = workspace_of(desc);
  return {};
}

Verdict graph(BackendDescriptor& desc) {
  const auto* op = desc.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).as<const BackendDescriptor*>();
  if (!machine().alive(Kind::backend_desc, op) || !op->finalized || !op->convolution)
    return bad("a graph's operation");
  desc.parts.push_back(op);
  inherit(desc, *op);
  return take_handle(desc, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
}

Verdict heuristics(BackendDescriptor& desc) {
  const auto* graph =
      refer(desc, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (graph == nullptr) return bad("a heuristic's operation graph");
  inherit(desc, *graph);
  const int mode = desc.at(CUDNN_ATTR_ENGINEHEUR_MODE).as<int>();
  if (mode != CUDNN_HEUR_MODE_A && mode != CUDNN_HEUR_MODE_FALLBACK)
    return unknown("a heuristic's mode");
  return take_properties(desc, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
}

Verdict properties(const BackendDescriptor& desc) {
  const Attribute* json = desc.find(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
  if (json == nullptr)
    return desc.find(CUDNN_ATTR_DEVICEPROP_DEVICE_ID) ? Verdict{} : bad("no device properties");
  const std::string text(reinterpret_cast<const char*>(json->bytes.data()), json->bytes.size());
  return text.find("emulated") != std::string::npos ? Verdict{}
                                                    : unknown("another device's properties");
}

}  // namespace

Verdict understand(BackendDescriptor& desc) {
  switch (desc.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR: return tensor(desc);
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR: return convolution(desc);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR: return operation(desc);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR: return graph(desc);
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR: return heuristics(desc);
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR: return engine(desc);
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR: return config(desc);
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: return plan(desc);
    case CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR: return properties(desc);
    case CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR:
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR: return {};
    default: return unknown("descriptor type " + std::to_string(desc.type));
  }
}

std::vector<std::pair<std::int64_t, std::vector<std::pair<int, std::int64_t>>>> offers(
    const BackendDescriptor& heuristics) {
  if (heuristics.at(CUDNN_ATTR_ENGINEHEUR_MODE).as<int>() == CUDNN_HEUR_MODE_FALLBACK)
    return {{kFrugal, {}}};
  return {{kHungry, {{kKnob, 2}}}, {kHungry, {{kKnob, 1}}}};
}

}  // namespace emulated_cuda
