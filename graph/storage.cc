#include "graph/storage.h"

#include <algorithm>

namespace arenagrad {

std::size_t checked_bytes(const Shape& shape, DType dtype) {
  return static_cast<std::size_t>(
      checked_product(shape.elements(), static_cast<std::int64_t>(size_of(dtype))));
}

GradientNeeds gradient_needs(const Tape& tape, const PlanOptions& options) {
  GradientNeeds result{std::vector<bool>(tape.tensors().size(), false),
                       std::vector<bool>(tape.nodes().size(), false)};
  if (options.run == RunMode::no_grad) return result;
  if (options.input_gradients) {
    for (TensorId id : tape.inputs()) result.tensor[index(id)] = !tape.tensor(id).is_labels;
  }
  std::vector<bool> reaches_loss(tape.tensors().size(), false);
  const std::size_t count = tape.nodes().size();
  for (std::size_t i = 0; i < count; ++i) {
    const TapeNode& node = tape.nodes()[i];
    result.tensor[index(node.output)] =
        !node.parameters.empty() ||
        std::ranges::any_of(node.inputs, [&](TensorId id) { return result.tensor[index(id)]; });
  }
  for (std::size_t i = count; i-- > 0;) {
    const TapeNode& node = tape.nodes()[i];
    if (!node.layer->is_loss() && !reaches_loss[index(node.output)]) continue;
    result.node[i] = result.tensor[index(node.output)];
    for (TensorId id : node.inputs) reaches_loss[index(id)] = true;
  }
  return result;
}

namespace {

class Mapper {
 public:
  Mapper(const Tape& tape, const Profile& profile, const PlanOptions& options,
         const GradientNeeds& gradients, const ForwardKind& kind, std::vector<Needs>& needs)
      : tape_(tape),
        profile_(profile),
        options_(options),
        gradients_(gradients),
        kind_(kind),
        needs_(needs) {
    map_.kind = kind;
  }

  StorageMap map() {
    find_readers();
    map_.of_tensor.assign(tape_.tensors().size(), kNoStorage);
    for (TensorId id : tape_.inputs()) {
      if (!feeds(id)) continue;
      birth_tensor(id);
      map_.fed.push_back(id);
    }
    map_.nodes.resize(tape_.nodes().size());
    for (std::size_t i = kind_.stretch.begin; i < kind_.stretch.end; ++i) {
      for (TensorId id : tape_.nodes()[i].inputs) {
        if (map_.of_tensor[index(id)] == kNoStorage) borrow(id);
      }
      map_node(i);
    }
    find_deaths();
    find_leaving();
    return std::move(map_);
  }

 private:
  /// The last node that reads each tensor, through aliases that are not known yet: of a storage it
  /// is the maximum over its tensors, taken as they join.
  void find_readers() {
    first_reader_.assign(tape_.tensors().size(), -1);
    last_reader_.assign(tape_.tensors().size(), -1);
    for (std::size_t i = 0; i < tape_.nodes().size(); ++i) {
      for (TensorId id : tape_.nodes()[i].inputs) {
        if (first_reader_[index(id)] < 0) first_reader_[index(id)] = static_cast<std::int64_t>(i);
        last_reader_[index(id)] = static_cast<std::int64_t>(i);
      }
    }
    if (kind_.lends) return;
    const auto last = static_cast<std::int64_t>(kind_.stretch.end) - 1;
    for (std::int64_t& reader : last_reader_) reader = std::min(reader, last);
  }

  /// An input is fed to the stretch that reads it first, once.
  bool feeds(TensorId id) const {
    const std::int64_t reader = std::max<std::int64_t>(first_reader_[index(id)], 0);
    return !kind_.again && reader >= kind_.stretch.begin && reader < kind_.stretch.end;
  }

  void borrow(TensorId id) { map_.storages[birth_tensor(id)].borrowed = true; }

  std::uint32_t birth_tensor(TensorId id) {
    const TapeTensor& tensor = tape_.tensor(id);
    const DType dtype = tensor.is_labels ? DType::i64 : options_.dtype;
    const bool is_loss = tensor.producer != kNoNode && tape_.node(tensor.producer).layer->is_loss();
    const Shape shape = is_loss ? Shape{1} : tensor.shape.with_batch(kind_.samples);
    const auto storage = static_cast<std::uint32_t>(map_.storages.size());
    map_.storages.push_back({.first = id, .bytes = checked_bytes(shape, dtype)});
    last_read_.push_back(last_reader_[index(id)]);
    map_.of_tensor[index(id)] = storage;
    return storage;
  }

  void join(TensorId id, std::uint32_t storage) {
    map_.of_tensor[index(id)] = storage;
    last_read_[storage] = std::max(last_read_[storage], last_reader_[index(id)]);
  }

  /// Whether node i may write over this storage: fed by nobody outside, wanted by no backward so
  /// far, read by no later node.
  bool may_overwrite(std::uint32_t storage, std::size_t i, std::size_t bytes) const {
    const Storage& s = map_.storages[storage];
    return !is_fed(tape_, s) && !s.borrowed && s.bytes == bytes && s.savers == 0 &&
           last_read_[storage] <= static_cast<std::int64_t>(i);
  }

  static std::string where(const TapeNode& node) { return ", in layer \"" + node.name + "\""; }

  void map_node(std::size_t i) {
    const TapeNode& node = tape_.nodes()[i];
    NodeStorage& mine = map_.nodes[i];
    mine.runs_backward = kind_.saves && gradients_.node[i];

    std::vector<Shape> shapes;
    std::vector<bool> wants;
    for (TensorId id : node.inputs) {
      shapes.push_back(tape_.tensor(id).shape);
      wants.push_back(mine.runs_backward && gradients_.tensor[index(id)]);
    }
    const Shape& output = tape_.tensor(node.output).shape;
    mine.needs = static_cast<std::uint32_t>(needs_.size());
    try {
      needs_.push_back(node.layer->needs({.batch = kind_.samples,
                                          .inputs = shapes,
                                          .output = output,
                                          .dtype = options_.dtype,
                                          .mode = kind_.run,
                                          .policy = options_.policy,
                                          .profile = profile_,
                                          .input_needs_gradient = wants}));
    } catch (const ContractError&) {
      throw;
    } catch (const ShapeError& error) {
      throw ShapeError(error.what() + where(node));
    } catch (const Error& error) {
      throw Error(error.what() + where(node));
    }
    const Needs& needs = needs_.back();

    const bool reads_backward =
        mine.runs_backward && !needs.alias && !needs.gradient_passes_through;
    const auto wants_input = [&](std::size_t k) {
      return reads_backward && ((k < needs.reads_inputs.size() && needs.reads_inputs[k]) ||
                                (k < needs.keeps_inputs.size() && needs.keeps_inputs[k]));
    };
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      if (wants_input(k)) save(mine, map_.of_tensor[index(node.inputs[k])]);
    }

    if (needs.alias) {
      join(node.output, map_.of_tensor[index(node.inputs[0])]);
    } else if (const auto over = overwritable(node, needs, i)) {
      join(node.output, *over);
    } else {
      birth_tensor(node.output);
      mine.births_output = true;
    }
    if (reads_backward && needs.reads_output) save(mine, map_.of_tensor[index(node.output)]);
    if (reads_backward) map_stashes(node, needs, i, mine);
  }

  std::optional<std::uint32_t> overwritable(const TapeNode& node, const Needs& needs,
                                            std::size_t i) const {
    if (!needs.forward_in_place) return std::nullopt;
    const std::size_t bytes =
        checked_bytes(tape_.tensor(node.output).shape.with_batch(kind_.samples), options_.dtype);
    for (std::size_t k = 0; k < std::min<std::size_t>(2, node.inputs.size()); ++k) {
      const std::uint32_t storage = map_.of_tensor[index(node.inputs[k])];
      if (may_overwrite(storage, i, bytes)) return storage;
    }
    return std::nullopt;
  }

  void map_stashes(const TapeNode& node, const Needs& needs, std::size_t i, NodeStorage& mine) {
    for (std::size_t slot = 0; slot < needs.stashes.size(); ++slot) {
      const StashSpec& spec = needs.stashes[slot];
      const std::size_t bytes = checked_bytes(spec.shape, spec.dtype);
      std::uint32_t storage = map_.of_tensor[index(node.inputs[0])];
      if (!spec.replaces_input0 || !may_overwrite(storage, i, bytes)) {
        storage = static_cast<std::uint32_t>(map_.storages.size());
        map_.storages.push_back({.first = kNoTensor,
                                 .stash_node = NodeId{static_cast<std::uint32_t>(i)},
                                 .stash_slot = static_cast<std::uint8_t>(slot),
                                 .bytes = bytes});
        last_read_.push_back(-1);
        mine.born_stashes.push_back(storage);
      }
      mine.stashes.push_back(storage);
      save(mine, storage);
    }
  }

  void save(NodeStorage& mine, std::uint32_t storage) {
    if (std::ranges::find(mine.saved, storage) != mine.saved.end()) return;
    mine.saved.push_back(storage);
    ++map_.storages[storage].savers;
  }

  /// A storage that no backward wants dies after its last reader in forward, or after its own node.
  void find_deaths() {
    for (std::uint32_t s = 0; s < map_.storages.size(); ++s) {
      Storage& storage = map_.storages[s];
      if (last_read_[s] >= 0) {
        storage.last_reader = NodeId{static_cast<std::uint32_t>(last_read_[s])};
      } else if (storage.first != kNoTensor) {
        storage.last_reader = tape_.tensor(storage.first).producer;
      }
      if (storage.borrowed) continue;
      if (escapes(s)) {
        map_.escapes.push_back(s);
      } else if (storage.savers == 0 && storage.last_reader != kNoNode) {
        map_.nodes[index(storage.last_reader)].dying.push_back(s);
      }
    }
  }

  bool escapes(std::uint32_t s) const {
    return last_read_[s] >= static_cast<std::int64_t>(kind_.stretch.end) ||
           (kind_.keeps_fed && is_fed(tape_, map_.storages[s]));
  }

  /// Aliases too: they leave with the storage that they share.
  void find_leaving() {
    for (std::uint32_t t = 0; t < map_.of_tensor.size(); ++t) {
      const std::uint32_t s = map_.of_tensor[t];
      if (s != kNoStorage && escapes(s)) map_.leaving.push_back(TensorId{t});
    }
  }

  const Tape& tape_;
  const Profile& profile_;
  const PlanOptions& options_;
  const GradientNeeds& gradients_;
  const ForwardKind kind_;
  std::vector<Needs>& needs_;
  StorageMap map_;
  std::vector<std::int64_t> first_reader_;  // by tensor, node
  std::vector<std::int64_t> last_reader_;   // by tensor
  std::vector<std::int64_t> last_read_;     // by storage
};

}  // namespace

StorageMap map_storage(const Tape& tape, const Profile& profile, const PlanOptions& options,
                       const GradientNeeds& gradients, const ForwardKind& kind,
                       std::vector<Needs>& needs) {
  return Mapper(tape, profile, options, gradients, kind, needs).map();
}

}  // namespace arenagrad
