// Who answers "which engine would cuDNN take?", and which answers are welcome.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cudnn/convolution.h"

namespace arenagrad::cudnn {

/// Which engines are welcome. The standard one gives the same bits on every run, in true f32.
struct EnginePolicy {
  enum class Workspace : std::uint8_t {
    heuristic,  // cuDNN's first choice, whatever it takes
    none,       // the first that takes none
    limit,      // the first that takes at most `limit`
  };
  bool allow_tf32 = false;  // tensor cores and inputs rounded down, for f32
  bool allow_nondeterministic = false;
  Workspace workspace = Workspace::heuristic;
  std::size_t limit = 0;  // bytes

  /// By the notes alone: its workspace may be unknown.
  bool welcomes(const Engine& engine, DataType type) const;
  /// Its workspace too.
  bool accepts(const Engine& engine, DataType type) const;
  friend bool operator==(const EnginePolicy&, const EnginePolicy&) = default;
};

/// What was answered to one question: an engine, or why there is none.
struct EngineAnswer {
  std::optional<Engine> engine;
  std::string why;  // empty with an engine
  friend bool operator==(const EngineAnswer&, const EngineAnswer&) = default;
};
using EngineAnswers = std::map<ConvKey, EngineAnswer>;

/// Answers questions about one device.
class EngineSource {
 public:
  virtual ~EngineSource() = default;
  virtual std::size_t version() = 0;  // of cuDNN: 91900
  /// The first engine, in cuDNN's order, that the policy accepts. Throws DeviceError when cuDNN is
  /// lost, not when there is none.
  virtual EngineAnswer first(const ConvKey& key, const EnginePolicy& policy) = 0;
  /// Every engine, in that order; none where cuDNN refuses the problem.
  virtual std::vector<Engine> all(const ConvKey& key) = 0;
};

/// Asks in this process.
class DirectSource final : public EngineSource {
 public:
  /// For the device that `properties` describes, or the one behind a handle. Throws DeviceError.
  DirectSource(const CudnnApi& api, const std::string& properties)
      : api_(std::make_unique<CudnnApi>(api)), target_(*api_, properties) {}
  DirectSource(const CudnnApi& api, Handle handle)
      : api_(std::make_unique<CudnnApi>(api)), target_(*api_, handle) {}

  std::size_t version() override { return api_->version(); }
  EngineAnswer first(const ConvKey& key, const EnginePolicy& policy) override;
  std::vector<Engine> all(const ConvKey& key) override;

 private:
  std::unique_ptr<const CudnnApi> api_;  // the target refers to it
  Target target_;
};

}  // namespace arenagrad::cudnn
