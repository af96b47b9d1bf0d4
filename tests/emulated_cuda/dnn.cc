// cuDNN's handle, tensor descriptors and batch norm.
#include <cmath>

#include "tests/emulated_cuda/dnn_handle.h"

using emulated_cuda::expect_dnn;
using emulated_cuda::illegal;
using emulated_cuda::Kind;
using emulated_cuda::Layout4;
using emulated_cuda::machine;
using emulated_cuda::Numbers;

namespace {

/// One batch norm, its sizes read from live descriptors.
struct Norm {
  Layout4 data;
  bool wide = false;
  std::int64_t channels = 0;
  std::int64_t count = 0;  // values of a channel
  std::size_t channel_bytes = 0;
};

bool expect_desc(cudnnTensorDescriptor_t desc, const char* call) {
  if (!machine().expect(Kind::tensor_desc, desc, call)) return false;
  if (desc->set) return true;
  machine().violation(std::string(call) + ": a tensor descriptor was never set");
  return false;
}

/// Everything that both directions have in common is as it should be.
bool expect_norm(const char* call, cudnnHandle_t handle, cudnnBatchNormMode_t mode,
                 std::initializer_list<cudnnTensorDescriptor_t> data,
                 cudnnTensorDescriptor_t channel, Norm& norm) {
  if (!expect_dnn(handle, call) || !expect_desc(channel, call)) return false;
  for (const auto desc : data)
    if (!expect_desc(desc, call)) return false;
  norm.data = (*data.begin())->layout;
  for (const auto desc : data)
    if (!(desc->layout == norm.data)) {
      machine().violation(std::string(call) + ": tensors of different shapes");
      return false;
    }
  norm.wide = norm.data.wide;
  norm.channels = norm.data.dims[1];
  norm.count = norm.data.dims[0] * norm.data.dims[2] * norm.data.dims[3];
  norm.channel_bytes = static_cast<std::size_t>(norm.channels) * norm.data.element();
  const std::array<std::int64_t, 4> expected{1, norm.channels, 1, 1};
  if (mode == CUDNN_BATCHNORM_SPATIAL && channel->layout.dims == expected &&
      channel->layout.wide == norm.wide)
    return true;
  machine().violation(std::string(call) + ": mode or the channels' descriptor");
  return false;
}

bool expect_all(const char* call, std::initializer_list<const void*> pointers, std::size_t bytes,
                std::size_t alignment) {
  for (const void* pointer : pointers)
    if (!machine().expect_memory(pointer, bytes, alignment, call)) return false;
  return true;
}

double scalar(const void* value, bool wide) { return Numbers(value, wide).get(0); }

/// fn(offset) for each value of a channel.
template <class Fn>
void for_channel(const Norm& norm, std::int64_t c, const Fn& fn) {
  const Layout4& l = norm.data;
  for (std::int64_t n = 0; n < l.dims[0]; ++n)
    for (std::int64_t h = 0; h < l.dims[2]; ++h)
      for (std::int64_t w = 0; w < l.dims[3]; ++w) fn(l.at(n, c, h, w));
}

/// Neither the same nor apart.
bool half_overlap(const void* a, const void* b, std::size_t bytes) {
  const auto x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
  return x != y && x < y + bytes && y < x + bytes;
}

}  // namespace

extern "C" {

size_t cudnnGetVersion() { return CUDNN_VERSION; }
void cudnnGetLastErrorString(char* message, size_t size) {
  if (size > 0) message[0] = '\0';
}
const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
    case CUDNN_STATUS_SUCCESS: return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_BAD_PARAM: return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_NOT_SUPPORTED: return "CUDNN_STATUS_NOT_SUPPORTED";
    case CUDNN_STATUS_NOT_INITIALIZED: return "CUDNN_STATUS_NOT_INITIALIZED";
    case CUDNN_STATUS_EXECUTION_FAILED: return "CUDNN_STATUS_EXECUTION_FAILED";
    default: return "a cuDNN status";
  }
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (machine().enter(__func__)) return CUDNN_STATUS_NOT_INITIALIZED;
  *handle = new cudnnContext;
  machine().born(Kind::dnn_handle, *handle);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  const bool fails = machine().enter(__func__);
  if (!machine().expect(Kind::dnn_handle, handle, __func__)) return CUDNN_STATUS_NOT_INITIALIZED;
  machine().run_all();
  machine().died(Kind::dnn_handle, handle);
  delete handle;
  return fails ? CUDNN_STATUS_INTERNAL_ERROR : CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  if (machine().enter(__func__)) return CUDNN_STATUS_NOT_INITIALIZED;
  if (!machine().expect(Kind::dnn_handle, handle, __func__) ||
      !machine().expect(Kind::stream, stream, __func__))
    return CUDNN_STATUS_BAD_PARAM;
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* desc) {
  if (machine().enter(__func__)) return CUDNN_STATUS_INTERNAL_ERROR;
  *desc = new cudnnTensorStruct;
  machine().born(Kind::tensor_desc, *desc);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t desc) {
  const bool fails = machine().enter(__func__);
  if (!machine().expect(Kind::tensor_desc, desc, __func__)) return CUDNN_STATUS_BAD_PARAM;
  machine().died(Kind::tensor_desc, desc);
  delete desc;
  return fails ? CUDNN_STATUS_INTERNAL_ERROR : CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t desc, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  if (machine().enter(__func__)) return CUDNN_STATUS_INTERNAL_ERROR;
  if (!machine().expect(Kind::tensor_desc, desc, __func__)) return CUDNN_STATUS_BAD_PARAM;
  const bool innermost = format == CUDNN_TENSOR_NHWC;
  if ((format != CUDNN_TENSOR_NCHW && !innermost) ||
      (type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_DOUBLE))
    return illegal("cudnnSetTensor4dDescriptor: a format or type that is not emulated",
                   CUDNN_STATUS_NOT_SUPPORTED);
  if (n <= 0 || c <= 0 || h <= 0 || w <= 0)
    return illegal("cudnnSetTensor4dDescriptor: a dimension of less than one");
  if (std::int64_t{n} * c > INT32_MAX / (std::int64_t{h} * w)) return CUDNN_STATUS_NOT_SUPPORTED;
  const std::int64_t plane = std::int64_t{h} * w;
  const std::array<std::int64_t, 4> apart{c * plane, plane, w, 1},
      together{c * plane, 1, std::int64_t{w} * c, c};
  desc->layout = {{n, c, h, w}, innermost ? together : apart, type == CUDNN_DATA_DOUBLE};
  desc->set = true;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDeriveBNTensorDescriptor(cudnnTensorDescriptor_t derived,
                                            const cudnnTensorDescriptor_t from,
                                            cudnnBatchNormMode_t mode) {
  if (machine().enter(__func__)) return CUDNN_STATUS_INTERNAL_ERROR;
  if (!machine().expect(Kind::tensor_desc, derived, __func__) || !expect_desc(from, __func__))
    return CUDNN_STATUS_BAD_PARAM;
  if (mode != CUDNN_BATCHNORM_SPATIAL)
    return illegal("cudnnDeriveBNTensorDescriptor: a mode that is not emulated",
                   CUDNN_STATUS_NOT_SUPPORTED);
  const std::int64_t channels = from->layout.dims[1];
  derived->layout = {{1, channels, 1, 1}, {channels, 1, 1, 1}, from->layout.wide};
  derived->set = true;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBatchNormalizationForwardTraining(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha, const void* beta,
    const cudnnTensorDescriptor_t x_desc, const void* x, const cudnnTensorDescriptor_t y_desc,
    void* y, const cudnnTensorDescriptor_t channel_desc, const void* scale, const void* bias,
    double factor, void* running_mean, void* running_var, double epsilon, void* saved_mean,
    void* saved_inverse) {
  if (machine().enter(__func__)) return CUDNN_STATUS_EXECUTION_FAILED;
  Norm norm;
  if (!expect_norm(__func__, handle, mode, {x_desc, y_desc}, channel_desc, norm))
    return CUDNN_STATUS_BAD_PARAM;
  const bool wide = norm.wide;
  const std::size_t extent = norm.data.extent(), element = norm.data.element();
  if (!expect_all(__func__, {x, y}, extent, element) ||
      !expect_all(__func__, {scale, bias, saved_mean, saved_inverse}, norm.channel_bytes, element))
    return CUDNN_STATUS_BAD_PARAM;
  if ((running_mean == nullptr) != (running_var == nullptr) || half_overlap(x, y, extent) ||
      epsilon < CUDNN_BN_MIN_EPSILON || factor < 0 || factor > 1)
    return illegal(std::string(__func__) + ": pointers, epsilon or factor");
  if (running_mean != nullptr &&
      !expect_all(__func__, {running_mean, running_var}, norm.channel_bytes, element))
    return CUDNN_STATUS_BAD_PARAM;
  const double data_scale = scalar(alpha, wide), keep = scalar(beta, wide);
  machine().enqueue(handle->stream, [=] {
    const Numbers in(x, wide), out(y, wide), weight(scale, wide), offset(bias, wide);
    for (std::int64_t c = 0; c < norm.channels; ++c) {
      double sum = 0, squares = 0;
      for_channel(norm, c, [&](std::int64_t i) { sum += in.get(i); });
      const auto count = static_cast<double>(norm.count);
      const double mean = sum / count;
      for_channel(norm, c, [&](std::int64_t i) { squares += std::pow(in.get(i) - mean, 2); });
      const double inverse = 1 / std::sqrt(squares / count + epsilon);
      Numbers(saved_mean, wide).put(c, mean);
      Numbers(saved_inverse, wide).put(c, inverse);
      if (running_mean != nullptr) {
        const auto update = [&](const Numbers& running, double value) {
          running.put(c, factor * value, 1 - factor);
        };
        update(Numbers(running_mean, wide), mean);
        update(Numbers(running_var, wide), squares / (count - 1));
      }
      const double w = weight.get(c), b = offset.get(c);
      for_channel(norm, c, [&](std::int64_t i) {
        out.put(i, data_scale * ((in.get(i) - mean) * inverse * w + b), keep);
      });
    }
  });
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBatchNormalizationBackward(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* data_alpha, const void* data_beta,
    const void* parameter_alpha, const void* parameter_beta, const cudnnTensorDescriptor_t x_desc,
    const void* x, const cudnnTensorDescriptor_t dy_desc, const void* dy,
    const cudnnTensorDescriptor_t dx_desc, void* dx, const cudnnTensorDescriptor_t channel_desc,
    const void* scale, void* dscale, void* dbias, double epsilon, const void* saved_mean,
    const void* saved_inverse) {
  if (machine().enter(__func__)) return CUDNN_STATUS_EXECUTION_FAILED;
  Norm norm;
  if (!expect_norm(__func__, handle, mode, {x_desc, dy_desc, dx_desc}, channel_desc, norm))
    return CUDNN_STATUS_BAD_PARAM;
  const bool wide = norm.wide;
  const std::size_t extent = norm.data.extent(), element = norm.data.element();
  if (!expect_all(__func__, {x, dy, dx}, extent, element) ||
      !expect_all(__func__, {scale, dscale, dbias, saved_mean, saved_inverse}, norm.channel_bytes,
                  element))
    return CUDNN_STATUS_BAD_PARAM;
  if (half_overlap(x, dx, extent) || half_overlap(dy, dx, extent) || x == dx ||
      epsilon < CUDNN_BN_MIN_EPSILON)
    return illegal(std::string(__func__) + ": pointers or epsilon");
  const double alpha = scalar(data_alpha, wide), keep = scalar(data_beta, wide),
               parameter = scalar(parameter_alpha, wide),
               parameter_keep = scalar(parameter_beta, wide);
  machine().enqueue(handle->stream, [=] {
    const Numbers in(x, wide), grad(dy, wide), out(dx, wide);
    for (std::int64_t c = 0; c < norm.channels; ++c) {
      const double mean = Numbers(saved_mean, wide).get(c);
      const double inverse = Numbers(saved_inverse, wide).get(c);
      double sum = 0, product = 0;
      for_channel(norm, c, [&](std::int64_t i) {
        sum += grad.get(i);
        product += grad.get(i) * (in.get(i) - mean) * inverse;
      });
      Numbers(dscale, wide).put(c, parameter * product, parameter_keep);
      Numbers(dbias, wide).put(c, parameter * sum, parameter_keep);
      const auto count = static_cast<double>(norm.count);
      const double w = Numbers(scale, wide).get(c);
      for_channel(norm, c, [&](std::int64_t i) {
        const double centred = (in.get(i) - mean) * inverse;
        out.put(i, alpha * w * inverse * (grad.get(i) - sum / count - centred * product / count),
                keep);
      });
    }
  });
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
