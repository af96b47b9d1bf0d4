// The operands of one call, in host memory and on the GPU.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "allocator/request.h"
#include "kernels/backend.h"

namespace arenagrad::cuda_test {

class Stage {
 public:
  explicit Stage(std::byte* memory) : memory_(memory) { add_red_zone(); }

  /// A tensor that is read, one that is written, scratch (which is not copied back), anything else.
  ConstTensor operand(ConstTensor t) { return {place(t.data, t.bytes(), false), t.shape, t.dtype}; }
  Tensor operand(Tensor t) { return {place(t.data, t.bytes(), true), t.shape, t.dtype}; }
  Workspace operand(Workspace w) {
    if (w.data == nullptr) return w;
    void* at = place(w.data, w.bytes, false);
    pieces_.back().is_scratch = true;
    return {at, w.bytes};
  }

  template <class T>
  const T& operand(const T& plain) {
    return plain;
  }

  std::size_t size() const { return mirror_.size(); }
  const std::byte* mirror() const { return mirror_.data(); }

  /// Takes what the GPU's memory holds after the call. ContractError when anything but an output
  /// has changed.
  void take(const std::vector<std::byte>& after) {
    std::size_t checked = 0;
    const auto check_up_to = [&](std::size_t end) {
      check_contract(end <= checked || std::memcmp(after.data() + checked, mirror_.data() + checked,
                                                   end - checked) == 0,
                     "a call wrote to what is no output of it");
    };
    for (const Piece& piece : pieces_) {  // in the order of memory
      if (!piece.is_scratch && !piece.is_output) continue;
      check_up_to(piece.begin);
      checked = piece.begin + piece.bytes;
      if (piece.is_output) std::memcpy(piece.host, after.data() + piece.begin, piece.bytes);
    }
    check_up_to(after.size());
  }

 private:
  static constexpr std::size_t kAlignment = 256, kRedZone = 256;

  struct Piece {
    void* host;
    std::size_t begin, bytes;
    bool is_output, is_scratch;
  };

  void add_red_zone() {
    mirror_.resize(round_up(mirror_.size() + kRedZone, kAlignment), std::byte{0xA5});
  }

  /// The same host memory is the same memory on the GPU.
  void* place(const void* host, std::size_t bytes, bool is_output) {
    if (host == nullptr) return nullptr;
    for (Piece& piece : pieces_) {
      if (piece.host != host || piece.is_scratch) continue;
      check_contract(bytes <= piece.bytes, "operands of different sizes at one address");
      piece.is_output |= is_output;
      return memory_ + piece.begin;
    }
    pieces_.push_back({const_cast<void*>(host), mirror_.size(), bytes, is_output, false});
    const auto* from = static_cast<const std::byte*>(host);
    mirror_.insert(mirror_.end(), from, from + bytes);
    const std::size_t begin = pieces_.back().begin;
    add_red_zone();
    return memory_ + begin;
  }

  std::byte* memory_;
  std::vector<std::byte> mirror_;  // of the GPU's memory before the call
  std::vector<Piece> pieces_;
};

}  // namespace arenagrad::cuda_test
