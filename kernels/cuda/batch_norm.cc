#include "kernels/cuda/batch_norm.h"

#include <limits>

#include "kernels/cuda/session.h"

namespace arenagrad::cuda {
namespace {

TensorDescriptor make_descriptor() {
  cudnnTensorDescriptor_t desc = nullptr;
  ARENAGRAD_CHECK(cudnnCreateTensorDescriptor(&desc));
  return TensorDescriptor(desc);
}

int as_int(std::int64_t n) {
  if (n > std::numeric_limits<int>::max())
    throw DeviceError("batch norm by cuDNN: expected sizes of at most 2^31 - 1, got " +
                      std::to_string(n));
  return static_cast<int>(n);
}

/// Of [batch, channels, spatial], and of one number a channel.
struct Descriptors {
  Descriptors(const BatchNormProblem& p, const ConstTensor& x)
      : data(make_descriptor()), channel(make_descriptor()) {
    const auto type = p.dtype == DType::f64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    const auto format = x.channels_last() ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
    ARENAGRAD_CHECK(cudnnSetTensor4dDescriptor(data.get(), format, type, as_int(p.batch),
                                               as_int(p.channels), as_int(p.spatial), 1));
    ARENAGRAD_CHECK(
        cudnnDeriveBNTensorDescriptor(channel.get(), data.get(), CUDNN_BATCHNORM_SPATIAL));
  }
  TensorDescriptor data, channel;
};

/// A blend factor of the type that cuDNN expects beside the data's.
struct Scalar {
  Scalar(DType dtype, double value) : f32(static_cast<float>(value)), f64(value), dtype(dtype) {}
  const void* get() const {
    return dtype == DType::f64 ? static_cast<const void*>(&f64) : static_cast<const void*>(&f32);
  }
  float f32;
  double f64;
  DType dtype;
};

Scalar blend(DType dtype, Write write) { return {dtype, write == Write::accumulate ? 1.0 : 0.0}; }

}  // namespace

void batch_norm_train(cudnnHandle_t dnn, const BatchNormProblem& p, ConstTensor x,
                      ConstTensor weight, ConstTensor bias, Tensor running_mean, Tensor running_var,
                      Tensor mean, Tensor inverse_std, Tensor y) {
  if (p.batch * p.spatial == 1)
    throw ShapeError("batch norm in train mode: expected more than 1 value per channel, got 1");
  check_contract(weight && bias, "cuDNN's batch norm has a weight and a bias");
  const Descriptors desc(p, x);
  const Scalar one(p.dtype, 1), zero(p.dtype, 0);
  ARENAGRAD_CHECK(cudnnBatchNormalizationForwardTraining(
      dnn, CUDNN_BATCHNORM_SPATIAL, one.get(), zero.get(), desc.data.get(), x.data, desc.data.get(),
      y.data, desc.channel.get(), weight.data, bias.data, p.momentum, running_mean.data,
      running_var.data, p.eps, mean.data, inverse_std.data));
}

void batch_norm_train_backward(cudnnHandle_t dnn, const BatchNormProblem& p, ConstTensor x,
                               ConstTensor dy, ConstTensor weight, ConstTensor mean,
                               ConstTensor inverse_std, Tensor dx, Write dx_write, Tensor dweight,
                               Tensor dbias, Write parameter_write, Workspace workspace) {
  check_contract(static_cast<bool>(weight), "cuDNN's batch norm has a weight");
  const std::size_t bytes = static_cast<std::size_t>(p.channels) * size_of(p.dtype);
  check_contract((dweight && dbias) || workspace.bytes >= 2 * bytes,
                 "batch_norm_train_backward: too little workspace");
  auto* scratch = static_cast<std::byte*>(workspace.data);
  // Both are blended alike: one that nobody wants starts as garbage, which only it sees.
  void* to_weight = dweight ? dweight.data : scratch;
  void* to_bias = dbias ? dbias.data : scratch + bytes;
  const Descriptors desc(p, x);
  const Scalar one(p.dtype, 1), data = blend(p.dtype, dx_write),
                                parameter = blend(p.dtype, parameter_write);
  ARENAGRAD_CHECK(cudnnBatchNormalizationBackward(
      dnn, CUDNN_BATCHNORM_SPATIAL, one.get(), data.get(), one.get(), parameter.get(),
      desc.data.get(), x.data, desc.data.get(), dy.data, desc.data.get(), dx.data,
      desc.channel.get(), weight.data, to_weight, to_bias, p.eps, mean.data, inverse_std.data));
}

}  // namespace arenagrad::cuda
