// Which attributes a backend descriptor has, their types and counts: what is not in the table is
// not supported.
#include <limits>

#include "tests/emulated_cuda/dnn_descriptor.h"

namespace emulated_cuda {
namespace {

struct Rule {
  cudnnBackendDescriptorType_t desc;
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type, other_type;  // either
  std::int64_t least, most;
  bool required;
};

constexpr std::int64_t kMany = std::numeric_limits<std::int64_t>::max();

constexpr Rule one(cudnnBackendDescriptorType_t desc, cudnnBackendAttributeName_t name,
                   cudnnBackendAttributeType_t type, std::int64_t count = 1) {
  return {desc, name, type, type, count, count, true};
}
constexpr Rule optional(cudnnBackendDescriptorType_t desc, cudnnBackendAttributeName_t name,
                        cudnnBackendAttributeType_t type, std::int64_t most = 1) {
  return {desc, name, type, type, 1, most, false};
}
constexpr Rule real(cudnnBackendDescriptorType_t desc, cudnnBackendAttributeName_t name) {
  return {desc, name, CUDNN_TYPE_FLOAT, CUDNN_TYPE_DOUBLE, 1, 1, true};
}

constexpr auto kTensor = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
constexpr auto kConv = CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR;
constexpr auto kForward = CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
constexpr auto kData = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR;
constexpr auto kFilter = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR;
constexpr auto kGraph = CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR;
constexpr auto kHeuristics = CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR;
constexpr auto kEngine = CUDNN_BACKEND_ENGINE_DESCRIPTOR;
constexpr auto kConfig = CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
constexpr auto kChoice = CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR;
constexpr auto kPlan = CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR;
constexpr auto kPack = CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR;
constexpr auto kProperties = CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR;
constexpr auto kDesc = CUDNN_TYPE_BACKEND_DESCRIPTOR;

constexpr Rule kRules[] = {
    one(kTensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE),
    one(kTensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4),
    one(kTensor, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4),
    one(kTensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64),
    one(kTensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64),
    one(kConv, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE),
    one(kConv, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE),
    one(kConv, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64),
    one(kConv, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2),
    one(kConv, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2),
    one(kConv, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2),
    one(kConv, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2),
    real(kForward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA),
    real(kForward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA),
    one(kForward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, kDesc),
    one(kForward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, kDesc),
    one(kForward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, kDesc),
    one(kForward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, kDesc),
    real(kData, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA),
    real(kData, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA),
    one(kData, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, kDesc),
    one(kData, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, kDesc),
    one(kData, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, kDesc),
    one(kData, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, kDesc),
    real(kFilter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA),
    real(kFilter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA),
    one(kFilter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, kDesc),
    one(kFilter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, kDesc),
    one(kFilter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, kDesc),
    one(kFilter, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, kDesc),
    one(kGraph, CUDNN_ATTR_OPERATIONGRAPH_OPS, kDesc),
    optional(kGraph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE),
    one(kHeuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, kDesc),
    one(kHeuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE),
    optional(kHeuristics, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, kDesc),
    one(kEngine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, kDesc),
    one(kEngine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64),
    optional(kEngine, CUDNN_ATTR_ENGINE_DEVICEPROP, kDesc),
    one(kConfig, CUDNN_ATTR_ENGINECFG_ENGINE, kDesc),
    optional(kConfig, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, kDesc, kMany),
    one(kChoice, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE),
    one(kChoice, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64),
    one(kPlan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, kDesc),
    optional(kPlan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE),
    optional(kPlan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, kDesc),
    one(kPack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3),
    one(kPack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3),
    one(kPack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR),
    optional(kProperties, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, kMany),
    optional(kProperties, CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32),
};

}  // namespace

std::size_t element_size(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR: return sizeof(void*);
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE: return 8;
    case CUDNN_TYPE_DATA_TYPE:
    case CUDNN_TYPE_CONVOLUTION_MODE:
    case CUDNN_TYPE_HEUR_MODE:
    case CUDNN_TYPE_KNOB_TYPE:
    case CUDNN_TYPE_NUMERICAL_NOTE:
    case CUDNN_TYPE_BEHAVIOR_NOTE:
    case CUDNN_TYPE_INT32:
    case CUDNN_TYPE_FLOAT: return 4;
    case CUDNN_TYPE_CHAR: return 1;
    default: return 0;
  }
}

std::string fault_of_setting(cudnnBackendDescriptorType_t type, cudnnBackendAttributeName_t name,
                             cudnnBackendAttributeType_t attribute_type, std::int64_t count) {
  const std::string what =
      "attribute " + std::to_string(name) + " of descriptor type " + std::to_string(type);
  for (const Rule& rule : kRules) {
    if (rule.desc != type || rule.name != name) continue;
    if (attribute_type != rule.type && attribute_type != rule.other_type)
      return what + ": not of type " + std::to_string(attribute_type);
    if (count < rule.least || count > rule.most)
      return what + ": " + std::to_string(count) + " elements";
    return "";
  }
  return what + ": not emulated";
}

int missing(const BackendDescriptor& desc) {
  for (const Rule& rule : kRules)
    if (rule.desc == desc.type && rule.required && desc.find(rule.name) == nullptr)
      return rule.name;
  return 0;
}

}  // namespace emulated_cuda
