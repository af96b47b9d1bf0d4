#include "kernels/cudnn/engine_planner.h"

#include <utility>

#include "kernels/backend.h"

namespace arenagrad::cudnn {

EnginePlanner::EnginePlanner(const Options& options, OpenSource open)
    : options_(options), open_(std::move(open)) {}

template <class Question>
bool EnginePlanner::ask(Question question) const {
  try {
    if (open_) {
      const OpenSource open = std::exchange(open_, nullptr);
      source_ = open();
      version_ = source_->version();
    }
    if (source_ == nullptr) return false;
    question(*source_);
    return true;
  } catch (const DeviceError& error) {
    source_.reset();
    why_unknown_ = error.what();
    return false;
  }
}

const EngineAnswer* EnginePlanner::answer(const ConvKey& key) const {
  if (const auto known = answers_.find(key); known != answers_.end()) return &known->second;
  EngineAnswer found;
  if (!ask([&](EngineSource& source) { found = source.first(key, options_.policy); })) {
    unknown_.insert(key);
    return nullptr;
  }
  ++asked_;
  return &answers_.emplace(key, std::move(found)).first->second;
}

ConvChoice EnginePlanner::convolution(const ConvProblem& problem, ConvPass pass,
                                      Write write) const {
  ConvKey key = conv_key(problem, pass, false, options_.layout, options_.alignment);
  auto place = place_.find(key);
  if (place == place_.end()) {
    const EngineAnswer* overwrite = answer(key);
    if (overwrite == nullptr) return {kNoEngine, 0};
    if (!overwrite->engine)
      throw DeviceError("cuDNN: expected an engine, got none (" + overwrite->why + "), in " +
                        text(key));
    place = place_.emplace(key, static_cast<std::int64_t>(table_.size())).first;
    table_.push_back({key, *overwrite->engine, std::nullopt});
  }
  PinnedEngines& pinned = table_[static_cast<std::size_t>(place->second)];
  if (write == Write::overwrite) return {place->second, pinned.overwrite.workspace};

  if (!pinned.accumulate) {
    key.accumulate = true;
    const EngineAnswer* accumulate = answer(key);
    if (accumulate == nullptr || !accumulate->engine) return {kNoEngine, 0};
    pinned.accumulate = accumulate->engine;
  }
  return {place->second, pinned.accumulate->workspace};
}

std::size_t EnginePlanner::linear_workspace(const LinearProblem&, ConvPass) const { return 0; }

std::size_t EnginePlanner::batch_norm_workspace(const BatchNormProblem& problem,
                                                bool backward) const {
  if (!backward) return 0;
  return 2 * static_cast<std::size_t>(problem.channels) * size_of(problem.dtype);
}

const PinnedEngines& EnginePlanner::pinned(std::int64_t engine) const {
  check_contract(engine >= 0 && static_cast<std::size_t>(engine) < table_.size(),
                 "an engine that no plan pinned");
  return table_[static_cast<std::size_t>(engine)];
}

void EnginePlanner::know(const EngineAnswers& answers) {
  answers_.insert(answers.begin(), answers.end());
}

std::string EnginePlanner::missing_workspace() const {
  if (unknown_.empty()) return "";
  return "workspace of " + std::to_string(unknown_.size()) +
         (unknown_.size() == 1 ? " kind" : " kinds") +
         " of convolution is not included: nobody here knows it (" + why_unknown_ + ")";
}

std::vector<Engine> EnginePlanner::candidates(const ConvKey& key) const {
  std::vector<Engine> engines;
  ask([&](EngineSource& source) { engines = source.all(key); });
  return engines;
}

Profile cuda_profile(int compute_major) {
  // cuBLAS's recommendation for cublasSetWorkspace: 32 MiB for Hopper and Blackwell's data-centre
  // parts, 12 MiB for its others, 4 MiB for what came before.
  const std::size_t mebibytes = compute_major >= 12 ? 12 : compute_major >= 9 ? 32 : 4;
  Profile profile;
  // What cudaMalloc guarantees, what cuBLAS wants of its workspace, and more than cuDNN's
  // vectorised kernels ask for (16); a constant, because engines depend on it.
  profile.alignment = 256;
  profile.granule = std::size_t{2} << 20;  // of the driver's virtual memory management
  profile.dropout_mask_is_float = false;
  profile.library = mebibytes << 20;
  return profile;
}

}  // namespace arenagrad::cudnn
