// The operands of one call, in host memory and on the GPU.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "allocator/request.h"
#include "kernels/backend.h"
#include "kernels/cuda/host_image.h"

namespace arenagrad::cuda_test {

class Stage {
 public:
  /// On the GPU images have this layout; the host's are row-major.
  Stage(std::byte* memory, Layout layout) : memory_(memory), layout_(layout) { add_red_zone(); }

  /// A tensor that is read, one that is written, scratch (which is not copied back), anything else.
  ConstTensor operand(ConstTensor t) { return staged(t, false); }
  Tensor operand(Tensor t) {
    t.data = const_cast<void*>(staged(t, true).data);
    t.layout = layout_;
    return t;
  }
  Workspace operand(Workspace w) {
    if (w.bytes == 0) return {};
    const ConstTensor bytes{w.data, Shape{static_cast<std::int64_t>(w.bytes)}, DType::u8};
    void* at = place(bytes, false);
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
      if (piece.is_output)
        piece.image.from_gpu(after.data() + piece.begin, 0, piece.bytes,
                             static_cast<std::byte*>(piece.host));
    }
    check_up_to(after.size());
  }

 private:
  static constexpr std::size_t kAlignment = 256, kRedZone = 256;

  struct Piece {
    void* host;
    std::size_t begin, bytes;
    cuda::HostImage image;
    bool is_output, is_scratch;
  };

  ConstTensor staged(ConstTensor t, bool is_output) {
    t.layout = layout_;
    t.data = place(t, is_output);
    return t;
  }

  void add_red_zone() {
    mirror_.resize(round_up(mirror_.size() + kRedZone, kAlignment), std::byte{0xA5});
  }

  /// The same host memory is the same memory on the GPU.
  void* place(const ConstTensor& t, bool is_output) {
    const void* host = t.data;
    const std::size_t bytes = t.bytes();
    if (host == nullptr) return nullptr;
    for (Piece& piece : pieces_) {
      if (piece.host != host || piece.is_scratch) continue;
      check_contract(bytes <= piece.bytes, "operands of different sizes at one address");
      piece.is_output |= is_output;
      return memory_ + piece.begin;
    }
    const std::size_t begin = mirror_.size();
    const cuda::HostImage image(t);
    pieces_.push_back({const_cast<void*>(host), begin, bytes, image, is_output, false});
    mirror_.resize(begin + bytes);
    image.to_gpu(static_cast<const std::byte*>(host), 0, bytes, mirror_.data() + begin);
    add_red_zone();
    return memory_ + begin;
  }

  std::byte* memory_;
  Layout layout_;
  std::vector<std::byte> mirror_;  // of the GPU's memory before the call
  std::vector<Piece> pieces_;
};

}  // namespace arenagrad::cuda_test
