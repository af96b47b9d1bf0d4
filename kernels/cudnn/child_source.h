// Asks cuDNN in a process of its own, because cuDNN ends the process that it finds itself
// incomplete in: here that is an error that says so.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/cudnn/device_properties.h"
#include "kernels/cudnn/engine_source.h"

namespace arenagrad::cudnn {

/// Describes the device to cuDNN of a given version (91900): CUDNN_ATTR_DEVICEPROP_JSON's text.
using DescribeDevice = std::function<std::string(std::size_t cudnn_version)>;

class ChildSource final : public EngineSource {
 public:
  /// Starts the process and waits until cuDNN is open: throws DeviceError saying why it isn't.
  /// `folders`: see load_cudnn.
  explicit ChildSource(const DescribeDevice& device, const std::vector<std::string>& folders = {});
  /// Ends the process.
  ~ChildSource() override;
  ChildSource(const ChildSource&) = delete;
  ChildSource& operator=(const ChildSource&) = delete;

  std::size_t version() override { return version_; }
  EngineAnswer first(const ConvKey& key, const EnginePolicy& policy) override;
  std::vector<Engine> all(const ConvKey& key) override;

 private:
  void end() noexcept;
  void send(const std::string& line);
  std::string receive();
  /// The process has gone: says how, with what it said last.
  [[noreturn]] void lost();

  int socket_ = -1;
  int said_ = -1;  // a memory file that has the process's standard error
  int process_ = -1;
  std::string received_;  // beyond the last line
  std::size_t version_ = 0;
};

}  // namespace arenagrad::cudnn
