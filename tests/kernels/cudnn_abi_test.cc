// Our own declarations of cuDNN's numbers against cuDNN's. What they say is checked by compiling.
#include <cudnn.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "kernels/cudnn/abi.h"

namespace arenagrad::cudnn {
namespace {

template <class Ours, class Theirs>
constexpr bool same(Ours ours, Theirs theirs) {
  return static_cast<long>(ours) == static_cast<long>(theirs);
}

static_assert(sizeof(cudnnHandle_t) == sizeof(Handle));
static_assert(sizeof(cudnnBackendDescriptor_t) == sizeof(Descriptor));
static_assert(sizeof(cudnnStatus_t) == sizeof(Status));
static_assert(sizeof(cudnnBackendDescriptorType_t) == sizeof(DescriptorType));
static_assert(sizeof(cudnnBackendAttributeName_t) == sizeof(Attribute));
static_assert(sizeof(cudnnBackendAttributeType_t) == sizeof(AttributeType));
static_assert(sizeof(cudnnDataType_t) == sizeof(int));
static_assert(sizeof(cudnnConvolutionMode_t) == sizeof(int));
static_assert(sizeof(cudnnBackendHeurMode_t) == sizeof(int));
static_assert(sizeof(cudnnBackendKnobType_t) == sizeof(int));
static_assert(sizeof(cudnnBackendNumericalNote_t) == sizeof(int));
static_assert(sizeof(cudnnBackendBehaviorNote_t) == sizeof(int));

static_assert(same(Status::success, CUDNN_STATUS_SUCCESS));

using D = DescriptorType;
static_assert(same(D::convolution, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR));
static_assert(same(D::engine, CUDNN_BACKEND_ENGINE_DESCRIPTOR));
static_assert(same(D::engine_config, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
static_assert(same(D::engine_heuristics, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR));
static_assert(same(D::execution_plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR));
static_assert(same(D::knob_choice, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR));
static_assert(same(D::convolution_forward, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR));
static_assert(same(D::convolution_backward_filter,
                   CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR));
static_assert(same(D::convolution_backward_data,
                   CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR));
static_assert(same(D::operation_graph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR));
static_assert(same(D::variant_pack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
static_assert(same(D::tensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR));
static_assert(same(D::device_properties, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR));

using A = Attribute;
static_assert(same(A::convolution_compute_type, CUDNN_ATTR_CONVOLUTION_COMP_TYPE));
static_assert(same(A::convolution_mode, CUDNN_ATTR_CONVOLUTION_CONV_MODE));
static_assert(same(A::convolution_dilations, CUDNN_ATTR_CONVOLUTION_DILATIONS));
static_assert(same(A::convolution_strides, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES));
static_assert(same(A::convolution_post_paddings, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS));
static_assert(same(A::convolution_pre_paddings, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS));
static_assert(same(A::convolution_spatial_dims, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS));
static_assert(same(A::heuristics_mode, CUDNN_ATTR_ENGINEHEUR_MODE));
static_assert(same(A::heuristics_operation_graph, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH));
static_assert(same(A::heuristics_results, CUDNN_ATTR_ENGINEHEUR_RESULTS));
static_assert(same(A::heuristics_device_properties, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP));
static_assert(same(A::config_engine, CUDNN_ATTR_ENGINECFG_ENGINE));
static_assert(same(A::config_knob_choices, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES));
static_assert(same(A::plan_handle, 400));  // deprecated, and still how a plan is tied to a device
static_assert(same(A::plan_engine_config, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG));
static_assert(same(A::plan_workspace_size, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE));
static_assert(same(A::plan_device_properties, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP));
static_assert(same(A::knob_type, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE));
static_assert(same(A::knob_value, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
static_assert(same(A::forward_alpha, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA));
static_assert(same(A::forward_beta, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA));
static_assert(same(A::forward_convolution, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC));
static_assert(same(A::forward_w, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W));
static_assert(same(A::forward_x, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X));
static_assert(same(A::forward_y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y));
static_assert(same(A::backward_data_alpha, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA));
static_assert(same(A::backward_data_beta, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA));
static_assert(same(A::backward_data_convolution,
                   CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC));
static_assert(same(A::backward_data_w, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W));
static_assert(same(A::backward_data_dx, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX));
static_assert(same(A::backward_data_dy, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY));
static_assert(same(A::backward_filter_alpha, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA));
static_assert(same(A::backward_filter_beta, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA));
static_assert(same(A::backward_filter_convolution,
                   CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC));
static_assert(same(A::backward_filter_dw, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW));
static_assert(same(A::backward_filter_x, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X));
static_assert(same(A::backward_filter_dy, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY));
static_assert(same(A::graph_handle, 800));  // deprecated likewise
static_assert(same(A::graph_operations, CUDNN_ATTR_OPERATIONGRAPH_OPS));
static_assert(same(A::tensor_byte_alignment, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT));
static_assert(same(A::tensor_data_type, CUDNN_ATTR_TENSOR_DATA_TYPE));
static_assert(same(A::tensor_dimensions, CUDNN_ATTR_TENSOR_DIMENSIONS));
static_assert(same(A::tensor_strides, CUDNN_ATTR_TENSOR_STRIDES));
static_assert(same(A::tensor_unique_id, CUDNN_ATTR_TENSOR_UNIQUE_ID));
static_assert(same(A::pack_unique_ids, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS));
static_assert(same(A::pack_data_pointers, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS));
static_assert(same(A::pack_workspace, CUDNN_ATTR_VARIANT_PACK_WORKSPACE));
static_assert(same(A::engine_operation_graph, CUDNN_ATTR_ENGINE_OPERATION_GRAPH));
static_assert(same(A::engine_global_index, CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
static_assert(same(A::engine_numerical_note, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE));
static_assert(same(A::engine_behaviour_note, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE));
static_assert(same(A::engine_device_properties, CUDNN_ATTR_ENGINE_DEVICEPROP));
static_assert(same(A::device_properties_json, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION));

using T = AttributeType;
static_assert(same(T::handle, CUDNN_TYPE_HANDLE));
static_assert(same(T::data_type, CUDNN_TYPE_DATA_TYPE));
static_assert(same(T::int64, CUDNN_TYPE_INT64));
static_assert(same(T::float32, CUDNN_TYPE_FLOAT));
static_assert(same(T::float64, CUDNN_TYPE_DOUBLE));
static_assert(same(T::pointer, CUDNN_TYPE_VOID_PTR));
static_assert(same(T::convolution_mode, CUDNN_TYPE_CONVOLUTION_MODE));
static_assert(same(T::heuristics_mode, CUDNN_TYPE_HEUR_MODE));
static_assert(same(T::knob_type, CUDNN_TYPE_KNOB_TYPE));
static_assert(same(T::numerical_note, CUDNN_TYPE_NUMERICAL_NOTE));
static_assert(same(T::descriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR));
static_assert(same(T::behaviour_note, CUDNN_TYPE_BEHAVIOR_NOTE));
static_assert(same(T::character, CUDNN_TYPE_CHAR));

static_assert(same(DataType::f32, CUDNN_DATA_FLOAT));
static_assert(same(DataType::f64, CUDNN_DATA_DOUBLE));
static_assert(same(DataType::f16, CUDNN_DATA_HALF));
static_assert(same(kCrossCorrelation, CUDNN_CROSS_CORRELATION));
static_assert(same(HeuristicsMode::fallback, CUDNN_HEUR_MODE_FALLBACK));
static_assert(same(HeuristicsMode::a, CUDNN_HEUR_MODE_A));

using N = NumericalNote;
static_assert(same(N::tensor_core, CUDNN_NUMERICAL_NOTE_TENSOR_CORE));
static_assert(same(N::down_converts_inputs, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
static_assert(same(N::reduced_precision_reduction,
                   CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION));
static_assert(same(N::fft, CUDNN_NUMERICAL_NOTE_FFT));
static_assert(same(N::nondeterministic, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC));
static_assert(same(N::winograd, CUDNN_NUMERICAL_NOTE_WINOGRAD));
static_assert(same(N::winograd_4x4, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4));
static_assert(same(N::winograd_6x6, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6));
static_assert(same(N::winograd_13x13, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13));
static_assert(same(N::strict_nan_propagation, CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP));
static_assert(same(kNumericalNotes, CUDNN_NUMERICAL_NOTE_TYPE_COUNT));

using B = BehaviourNote;
static_assert(same(B::runtime_compilation, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION));
static_assert(same(B::filter_int8x32_reorder, CUDNN_BEHAVIOR_NOTE_REQUIRES_FILTER_INT8x32_REORDER));
static_assert(same(B::bias_int8x32_reorder, CUDNN_BEHAVIOR_NOTE_REQUIRES_BIAS_INT8x32_REORDER));
static_assert(same(B::supports_cuda_graphs, CUDNN_BEHAVIOR_NOTE_SUPPORTS_CUDA_GRAPH_NATIVE_API));
static_assert(same(B::cublaslt_dependency, CUDNN_BEHAVIOR_NOTE_CUBLASLT_DEPENDENCY));
static_assert(same(kBehaviourNotes, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT));
static_assert(same(kKnobTypes, CUDNN_KNOB_TYPE_COUNTS));

TEST(CudnnAbi, HeaderIsOfAVersionThatPlansWithoutADevice) { EXPECT_GE(CUDNN_VERSION, 90800); }

}  // namespace
}  // namespace arenagrad::cudnn
