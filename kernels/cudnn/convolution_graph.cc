#include "kernels/cudnn/convolution_graph.h"

#include <array>

#include "kernels/backend.h"

namespace arenagrad::cudnn {
namespace {

using Dims = std::array<std::int64_t, 4>;  // N, C, H, W, in this order whatever the layout

Dims strides(const Dims& dims, Layout layout) {
  const auto [n, c, h, w] = dims;
  return layout == Layout::nchw ? Dims{c * h * w, h * w, w, 1} : Dims{h * w * c, 1, w * c, c};
}

/// The attributes of an operation, which each pass numbers anew.
struct OperationAttributes {
  DescriptorType type;
  Attribute convolution, x, w, y, alpha, beta;
};

OperationAttributes attributes(ConvPass pass) {
  using A = Attribute;
  switch (pass) {
    case ConvPass::forward:
      return {DescriptorType::convolution_forward,
              A::forward_convolution,
              A::forward_x,
              A::forward_w,
              A::forward_y,
              A::forward_alpha,
              A::forward_beta};
    case ConvPass::backward_data:
      return {DescriptorType::convolution_backward_data,
              A::backward_data_convolution,
              A::backward_data_dx,
              A::backward_data_w,
              A::backward_data_dy,
              A::backward_data_alpha,
              A::backward_data_beta};
    case ConvPass::backward_filter:
      return {DescriptorType::convolution_backward_filter,
              A::backward_filter_convolution,
              A::backward_filter_x,
              A::backward_filter_dw,
              A::backward_filter_dy,
              A::backward_filter_alpha,
              A::backward_filter_beta};
  }
  throw ContractError("no such pass of a convolution");
}

class GraphBuilder {
 public:
  GraphBuilder(const Target& target, const ConvKey& key, const std::string& where)
      : target_(target), key_(key), where_(where) {}

  ConvGraph build() {
    const ConvProblem& p = key_.problem;
    const Descriptor x = tensor(kX, {p.batch, p.in_channels, p.in_h, p.in_w});
    const Descriptor w =
        tensor(kW, {p.out_channels, p.in_channels / p.groups, p.kernel_h, p.kernel_w});
    const Descriptor y = tensor(kY, {p.batch, p.out_channels, p.out_h, p.out_w});
    const Descriptor operation = make_operation(make_convolution(), x, w, y);
    result_.graph = OwnedDescriptor(target_.api(), DescriptorType::operation_graph, where_);
    result_.graph.set(Attribute::graph_operations, operation, where_);
    if (target_.handle() != nullptr) {
      const Handle handle = target_.handle();
      result_.graph.set_raw(Attribute::graph_handle, AttributeType::handle, 1, &handle, where_);
    }
    result_.graph.finalize(where_);
    return std::move(result_);
  }

 private:
  OwnedDescriptor& part(DescriptorType type) {
    return result_.parts.emplace_back(target_.api(), type, where_);
  }

  Descriptor tensor(std::int64_t number, const Dims& dims) {
    OwnedDescriptor& tensor = part(DescriptorType::tensor);
    const auto alignment = static_cast<std::int64_t>(key_.alignment);
    tensor.set(Attribute::tensor_data_type, AttributeType::data_type, static_cast<int>(key_.type),
               where_);
    tensor.set(Attribute::tensor_dimensions, AttributeType::int64, dims, where_);
    tensor.set(Attribute::tensor_strides, AttributeType::int64, strides(dims, key_.layout), where_);
    tensor.set(Attribute::tensor_unique_id, AttributeType::int64, {&number, 1}, where_);
    tensor.set(Attribute::tensor_byte_alignment, AttributeType::int64, {&alignment, 1}, where_);
    tensor.finalize(where_);
    return tensor.get();
  }

  Descriptor make_convolution() {
    const ConvProblem& p = key_.problem;
    const std::int64_t spatial = 2;
    const std::array dilations{p.dilation_h, p.dilation_w}, strides{p.stride_h, p.stride_w},
        pads{p.pad_h, p.pad_w};
    OwnedDescriptor& conv = part(DescriptorType::convolution);
    conv.set(Attribute::convolution_spatial_dims, AttributeType::int64, {&spatial, 1}, where_);
    conv.set(Attribute::convolution_compute_type, AttributeType::data_type,
             static_cast<int>(wide() ? DataType::f64 : DataType::f32), where_);
    conv.set(Attribute::convolution_mode, AttributeType::convolution_mode, kCrossCorrelation,
             where_);
    conv.set(Attribute::convolution_dilations, AttributeType::int64, dilations, where_);
    conv.set(Attribute::convolution_strides, AttributeType::int64, strides, where_);
    conv.set(Attribute::convolution_pre_paddings, AttributeType::int64, pads, where_);
    conv.set(Attribute::convolution_post_paddings, AttributeType::int64, pads, where_);
    conv.finalize(where_);
    return conv.get();
  }

  Descriptor make_operation(Descriptor convolution, Descriptor x, Descriptor w, Descriptor y) {
    const OperationAttributes names = attributes(key_.pass);
    OwnedDescriptor& operation = part(names.type);
    operation.set(names.convolution, convolution, where_);
    operation.set(names.x, x, where_);
    operation.set(names.w, w, where_);
    operation.set(names.y, y, where_);
    set_real(operation, names.alpha, 1);
    set_real(operation, names.beta, key_.accumulate ? 1 : 0);
    operation.finalize(where_);
    return operation.get();
  }

  /// Scalars come in the type that is computed in.
  void set_real(OwnedDescriptor& operation, Attribute attribute, double value) {
    const auto narrow = static_cast<float>(value);
    if (wide())
      operation.set_raw(attribute, AttributeType::float64, 1, &value, where_);
    else
      operation.set_raw(attribute, AttributeType::float32, 1, &narrow, where_);
  }

  bool wide() const { return key_.type == DataType::f64; }

  const Target& target_;
  const ConvKey& key_;
  const std::string& where_;
  ConvGraph result_;
};

}  // namespace

ConvGraph build_graph(const Target& target, const ConvKey& key, const std::string& where) {
  return GraphBuilder(target, key, where).build();
}

}  // namespace arenagrad::cudnn
