// What a convolution is called: keys and notes as text.
#include "allocator/error.h"
#include "kernels/cudnn/convolution.h"

namespace arenagrad::cudnn {
namespace {

constexpr const char* kNumericalNames[kNumericalNotes] = {"tensor_core",
                                                          "down_converts_inputs",
                                                          "reduced_precision_reduction",
                                                          "fft",
                                                          "nondeterministic",
                                                          "winograd",
                                                          "winograd_4x4",
                                                          "winograd_6x6",
                                                          "winograd_13x13",
                                                          "strict_nan_propagation"};
constexpr const char* kBehaviourNames[kBehaviourNotes] = {
    "runtime_compilation", "filter_int8x32_reorder", "bias_int8x32_reorder", "supports_cuda_graphs",
    "cublaslt_dependency"};

}  // namespace

DataType data_type(DType type) {
  check_contract(type == DType::f32 || type == DType::f64, "a convolution of integers");
  return type == DType::f64 ? DataType::f64 : DataType::f32;
}

ConvKey conv_key(const ConvProblem& problem, ConvPass pass, bool accumulate, Layout layout,
                 std::size_t alignment) {
  return {problem, pass, accumulate, layout, alignment, data_type(problem.dtype)};
}

bool Notes::add(std::string_view name) {
  for (int i = 0; i < kNumericalNotes; ++i)
    if (name == kNumericalNames[i]) return (numerical |= std::uint32_t{1} << i) != 0;
  for (int i = 0; i < kBehaviourNotes; ++i)
    if (name == kBehaviourNames[i]) return (behaviour |= std::uint32_t{1} << i) != 0;
  return false;
}

std::vector<std::string> names(const Notes& notes) {
  std::vector<std::string> result;
  for (int i = 0; i < kNumericalNotes; ++i)
    if ((notes.numerical >> i & 1) != 0) result.emplace_back(kNumericalNames[i]);
  for (int i = 0; i < kBehaviourNotes; ++i)
    if ((notes.behaviour >> i & 1) != 0) result.emplace_back(kBehaviourNames[i]);
  return result;
}

std::string_view name(ConvPass pass) {
  switch (pass) {
    case ConvPass::forward: return "forward";
    case ConvPass::backward_data: return "backward_data";
    case ConvPass::backward_filter: return "backward_filter";
  }
  return "?";
}

std::string_view name(DataType type) {
  switch (type) {
    case DataType::f32: return "f32";
    case DataType::f64: return "f64";
    case DataType::f16: return "f16";
  }
  return "?";
}

std::string text(const ConvKey& key) {
  const ConvProblem& p = key.problem;
  const auto times = [](auto... n) {
    std::string joined;
    ((joined += (joined.empty() ? "" : "x") + std::to_string(n)), ...);
    return joined;
  };
  std::string result = "convolution " + std::string(name(key.pass)) + " " +
                       std::string(name(key.type)) + " " + std::string(name(key.layout)) + " " +
                       times(p.batch, p.in_channels, p.in_h, p.in_w) + " * " +
                       times(p.out_channels, p.in_channels / p.groups, p.kernel_h, p.kernel_w);
  result += " stride " + times(p.stride_h, p.stride_w) + " pad " + times(p.pad_h, p.pad_w);
  if (p.dilation_h != 1 || p.dilation_w != 1)
    result += " dilation " + times(p.dilation_h, p.dilation_w);
  if (p.groups != 1) result += " groups " + std::to_string(p.groups);
  if (key.accumulate) result += " added";
  return result;
}

}  // namespace arenagrad::cudnn
