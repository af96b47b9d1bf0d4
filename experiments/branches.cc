#include "experiments/branches.h"

#include <algorithm>
#include <bit>

namespace arenagrad {

void Branches::Choices::set(std::int64_t entry, std::uint64_t value) {
  const auto bit = static_cast<std::uint64_t>(entry) * static_cast<std::uint64_t>(bits);
  words[bit / 64] |= value << (bit % 64);
}

Branches::Choices& Branches::choices(const Exec& exec, int bits, std::int64_t per_sample,
                                     std::int64_t batch) {
  auto& entry = nodes_[exec.node];
  if (entry.words.empty()) {
    entry.bits = bits;
    entry.per_sample = per_sample;
    const auto total = static_cast<std::uint64_t>(per_sample * batch) * static_cast<unsigned>(bits);
    entry.words.assign((total + 63) / 64, 0);
  }
  return entry;
}

template <class T>
void Branches::record_relu(Choices& to, const Exec& exec, ConstTensor output, bool has_ceiling) {
  const auto* y = reinterpret_cast<const T*>(scratch_.data());
  const auto first = exec.first_sample * to.per_sample;
  for (std::int64_t i = 0, n = output.shape.elements(); i < n; ++i) {
    const std::uint64_t branch = !(y[i] > 0) ? 0 : has_ceiling && y[i] >= T{6} ? 2 : 1;
    to.set(first + i, branch);
  }
}

template <class T>
void Branches::record_pool(Choices& to, const Exec& exec, ConstTensor index) {
  const auto* place = reinterpret_cast<const T*>(scratch_.data());
  const auto first = exec.first_sample * to.per_sample;
  for (std::int64_t i = 0, n = index.shape.elements(); i < n; ++i)
    to.set(first + i, static_cast<std::uint32_t>(place[i]));
}

void Branches::record(const Exec& exec, RunAccess& access) {
  if (exec.pass != Pass::forward || exec.calibrates) return;
  const auto op = access.tape().node(exec.node).layer->op();
  const bool pool = op == "max_pool", relu6 = op == "relu6";
  if (!pool && !relu6 && op != "relu") return;

  const auto operands = access.program().operands_of(exec);
  const auto found = std::find_if(operands.begin(), operands.end(), [&](const Operand& operand) {
    return operand.role == (pool ? Role::stash : Role::output);
  });
  if (found == operands.end()) return;  // nothing recorded: a pass without backward
  const ConstTensor seen = access.tensor(found->buffer);
  scratch_.resize(seen.bytes());
  access.backend().copy_to_host(scratch_.data(), seen);

  const auto per_sample = seen.shape.elements() / seen.shape[0];
  const auto batch = access.program().options.batching.batch;
  if (pool) {
    auto& to = choices(exec, seen.dtype == DType::u8 ? 8 : 32, per_sample, batch);
    if (seen.dtype == DType::u8) return record_pool<std::uint8_t>(to, exec, seen);
    if (seen.dtype == DType::i32) return record_pool<std::int32_t>(to, exec, seen);
    return record_pool<std::int64_t>(to, exec, seen);
  }
  auto& to = choices(exec, relu6 ? 2 : 1, per_sample, batch);
  if (seen.dtype == DType::f64) return record_relu<double>(to, exec, seen, relu6);
  record_relu<float>(to, exec, seen, relu6);
}

std::uint64_t Branches::flips(const Branches& other) const {
  std::uint64_t count = 0;
  for (const auto& [node, mine] : nodes_) {
    const auto found = other.nodes_.find(node);
    if (found == other.nodes_.end()) continue;
    const auto& theirs = found->second;
    check_contract(mine.bits == theirs.bits && mine.words.size() == theirs.words.size(),
                   "branches of one node were recorded in two ways");
    const auto per_word = 64 / mine.bits;
    for (std::size_t w = 0; w < mine.words.size(); ++w) {
      const auto changed = mine.words[w] ^ theirs.words[w];
      if (changed == 0) continue;
      if (mine.bits == 1) {
        count += static_cast<std::uint64_t>(std::popcount(changed));
        continue;
      }
      for (int e = 0; e < per_word; ++e)
        count += (changed >> (e * mine.bits) & ((std::uint64_t{1} << mine.bits) - 1)) != 0;
    }
  }
  return count;
}

std::size_t Branches::bytes() const {
  std::size_t total = scratch_.capacity();
  for (const auto& [node, choices] : nodes_) total += choices.words.size() * sizeof(std::uint64_t);
  return total;
}

std::size_t Branches::bytes_for(const Tape& tape, std::int64_t batch) {
  std::size_t bits = 0;
  for (const auto& node : tape.nodes()) {
    const auto op = node.layer->op();
    const auto entries = static_cast<std::size_t>(tape.tensor(node.output).shape.elements()) *
                         static_cast<std::size_t>(batch);
    bits += entries * (op == "relu" ? 1 : op == "relu6" ? 2 : op == "max_pool" ? 32 : 0);
  }
  return bits / 8;
}

}  // namespace arenagrad
