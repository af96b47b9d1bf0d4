// Convolutions as cuDNN's graph API sees them: one text that describes an operation, lists the
// engines that can do it, and rebuilds one of them from its number. Works for a device at hand and
// for one that is only described; both answer alike, which is what makes a plan on a laptop exact.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/cudnn/api.h"
#include "kernels/cudnn/descriptor.h"
#include "kernels/problems.h"
#include "kernels/tensor.h"

namespace arenagrad::cudnn {

using arenagrad::name;  // of a layout
std::string_view name(ConvPass pass);
std::string_view name(DataType type);
DataType data_type(DType type);  // f32 or f64; ContractError for others

/// Everything that an answer of cuDNN depends on, beside the device and the library's version.
struct ConvKey {
  ConvProblem problem;
  ConvPass pass = ConvPass::forward;
  bool accumulate = false;  // the result is added to what is there (beta 1)
  Layout layout = Layout::nchw;
  /// Bytes that every tensor's address is a multiple of: changes which engines are offered.
  std::size_t alignment = 16;
  /// The tensors' type; f64 is computed in f64, the others in f32. f16 can be asked about, no more.
  DataType type = DataType::f32;

  friend auto operator<=>(const ConvKey&, const ConvKey&) = default;
};

ConvKey conv_key(const ConvProblem& problem, ConvPass pass, bool accumulate, Layout layout,
                 std::size_t alignment);

/// A set of numerical or behaviour notes, as bits.
struct Notes {
  std::uint32_t numerical = 0, behaviour = 0;
  bool has(NumericalNote note) const { return (numerical >> static_cast<int>(note) & 1) != 0; }
  bool has(BehaviourNote note) const { return (behaviour >> static_cast<int>(note) & 1) != 0; }
  /// By its name; false for a name that there isn't.
  bool add(std::string_view name);
  friend bool operator==(const Notes&, const Notes&) = default;
};

/// "tensor_core", "winograd", ...: in the order of their numbers, numerical ones first.
std::vector<std::string> names(const Notes& notes);

/// An engine with its knobs set: enough to build the same plan again, with the same workspace.
struct Engine {
  std::int64_t id = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> knobs;  // kind, value; as cuDNN lists them
  std::size_t workspace = 0;                                 // bytes
  Notes notes;
  friend bool operator==(const Engine&, const Engine&) = default;
};

/// An engine as a choice for one problem: adding to the output may take another one. Programs name
/// it by its place in a table (Needs::forward_engine and its like).
struct PinnedEngines {
  ConvKey key;  // with `accumulate` false
  Engine overwrite;
  std::optional<Engine> accumulate;  // none: forward, or nothing can add under the policy
};

/// What plans are made for: the device behind a handle, or one described by its properties.
class Target {
 public:
  /// The handle and the api outlive the target.
  Target(const CudnnApi& api, Handle handle) : api_(&api), handle_(handle) {}
  /// `properties` is the JSON of CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION. Throws DeviceError when
  /// cuDNN refuses it.
  Target(const CudnnApi& api, const std::string& properties);

  const CudnnApi& api() const { return *api_; }
  Handle handle() const { return handle_; }                    // null for a described device
  Descriptor properties() const { return properties_.get(); }  // null for a handle

 private:
  const CudnnApi* api_;
  Handle handle_ = nullptr;
  OwnedDescriptor properties_;
};

/// Calls `visit` with every engine that can do `key` in the order in which cuDNN prefers them
/// (heuristics A, then FALLBACK), until it returns false. `worth_building` sees an engine whose
/// workspace isn't known yet; those it refuses are passed over, which saves building their plans.
/// Throws DeviceError when cuDNN refuses the question itself (nothing supports the problem).
void visit_engines(const Target& target, const ConvKey& key,
                   const std::function<bool(const Engine&)>& worth_building,
                   const std::function<bool(const Engine&)>& visit);

/// A convolution ready to run.
class Plan {
 public:
  /// From id and knobs. Throws DeviceError when the engine can't be built for this target.
  Plan(const Target& target, const ConvKey& key, const Engine& engine);

  std::size_t workspace() const { return workspace_; }  // bytes, as this target answers

  /// Queues the work on the handle's stream. `x` has the problem's input shape, `w` the filter's,
  /// `y` the output's; the pass says which of them is written. Throws DeviceError. Only for a plan
  /// made with a handle, and an api with `execute`.
  void execute(Handle handle, const void* x, const void* w, const void* y, void* workspace) const;

 private:
  const CudnnApi* api_;
  // Dependencies first: a plan refers to its configuration, that to the operation graph.
  std::vector<OwnedDescriptor> parts_;
  OwnedDescriptor plan_;
  std::size_t workspace_ = 0;
  std::string where_;  // for messages
};

/// "conv forward f32 nchw 32x3x224x224 * 64x3x7x7 stride 2x2 pad 3x3": for messages.
std::string text(const ConvKey& key);

}  // namespace arenagrad::cudnn
