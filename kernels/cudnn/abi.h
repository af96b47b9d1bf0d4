// The few types and numbers of cuDNN's backend API that convolutions take, declared by ourselves: a
// build without CUDA's headers plans for GPUs all the same. tests/kernels/cudnn_abi_test.cc holds
// every one of them against the real header where it is found.
#pragma once

#include <cstddef>
#include <cstdint>

namespace arenagrad::cudnn {

using Handle = void*;      // cudnnHandle_t
using Descriptor = void*;  // cudnnBackendDescriptor_t

enum class Status : int { success = 0 };

enum class DescriptorType : int {
  convolution = 1,
  engine = 2,
  engine_config = 3,
  engine_heuristics = 4,
  execution_plan = 5,
  knob_choice = 7,
  convolution_forward = 10,
  convolution_backward_filter = 11,
  convolution_backward_data = 12,
  operation_graph = 15,
  variant_pack = 16,
  tensor = 17,
  device_properties = 38,
};

enum class Attribute : int {
  convolution_compute_type = 100,
  convolution_mode = 101,
  convolution_dilations = 102,
  convolution_strides = 103,
  convolution_post_paddings = 104,
  convolution_pre_paddings = 105,
  convolution_spatial_dims = 106,
  heuristics_mode = 200,
  heuristics_operation_graph = 201,
  heuristics_results = 202,
  heuristics_device_properties = 204,
  config_engine = 300,
  config_knob_choices = 302,
  plan_handle = 400,
  plan_engine_config = 401,
  plan_workspace_size = 402,
  plan_device_properties = 407,
  knob_type = 600,
  knob_value = 601,
  forward_alpha = 700,
  forward_beta = 701,
  forward_convolution = 702,
  forward_w = 703,
  forward_x = 704,
  forward_y = 705,
  backward_data_alpha = 706,
  backward_data_beta = 707,
  backward_data_convolution = 708,
  backward_data_w = 709,
  backward_data_dx = 710,
  backward_data_dy = 711,
  backward_filter_alpha = 712,
  backward_filter_beta = 713,
  backward_filter_convolution = 714,
  backward_filter_dw = 715,
  backward_filter_x = 716,
  backward_filter_dy = 717,
  graph_handle = 800,
  graph_operations = 801,
  tensor_byte_alignment = 900,
  tensor_data_type = 901,
  tensor_dimensions = 902,
  tensor_strides = 903,
  tensor_unique_id = 906,
  pack_unique_ids = 1000,
  pack_data_pointers = 1001,
  pack_workspace = 1003,
  engine_operation_graph = 1300,
  engine_global_index = 1301,
  engine_numerical_note = 1303,
  engine_behaviour_note = 1305,
  engine_device_properties = 1307,
  device_properties_json = 2702,
};

/// What an attribute's elements are. Enumerations are ints.
enum class AttributeType : int {
  handle = 0,
  data_type = 1,
  int64 = 3,
  float32 = 4,
  float64 = 5,
  pointer = 6,
  convolution_mode = 7,
  heuristics_mode = 8,
  knob_type = 9,
  numerical_note = 11,
  descriptor = 15,
  behaviour_note = 19,
  character = 24,
};

enum class DataType : int { f32 = 0, f64 = 1, f16 = 2 };

inline constexpr int kCrossCorrelation = 1;

enum class HeuristicsMode : int { fallback = 2, a = 3 };

/// How an engine computes; several may hold.
enum class NumericalNote : int {
  tensor_core = 0,
  down_converts_inputs = 1,
  reduced_precision_reduction = 2,
  fft = 3,
  nondeterministic = 4,
  winograd = 5,
  winograd_4x4 = 6,
  winograd_6x6 = 7,
  winograd_13x13 = 8,
  strict_nan_propagation = 9,
};
inline constexpr int kNumericalNotes = 10;

enum class BehaviourNote : int {
  runtime_compilation = 0,
  filter_int8x32_reorder = 1,
  bias_int8x32_reorder = 2,
  supports_cuda_graphs = 3,
  cublaslt_dependency = 4,
};
inline constexpr int kBehaviourNotes = 5;

/// One more than the highest kind of knob: the room to ask for choices with. (A query for their
/// number alone answers 0 and success.)
inline constexpr std::int64_t kKnobTypes = 44;

}  // namespace arenagrad::cudnn
