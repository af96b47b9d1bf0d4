// Every operation of PointwiseBackend once or more, on small tensors of its own: for tests that ask
// the same question of all of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "kernels/bodies/workspace.h"
#include "tests/kernels/cpu_support.h"

namespace arenagrad::cpu_test {

struct Operation {
  std::string name;
  std::function<void(Backend&)> run;
  /// Made of operations that every device rounds alike; false where it calls exp, log or pow.
  bool has_one_result = true;
};

/// Owns the tensors. What an operation has written is in `outputs` until the next run.
template <class T>
class Operations {
 public:
  Operations() {
    add_data_movement();
    add_random();
    add_pointwise();
    add_pools();
    add_lrn();
    add_loss_and_updates();
  }

  const std::vector<Operation>& all() const { return all_; }

  /// All floating outputs after `operation` ran on fresh tensors.
  std::vector<T> values_after(const Operation& operation, Backend& backend) {
    reset();
    operation.run(backend);
    std::vector<T> values = out_;
    values.insert(values.end(), out2_.begin(), out2_.end());
    values.insert(values.end(), out3_.begin(), out3_.end());
    return values;
  }

  /// All outputs' bytes after `operation` ran on fresh tensors.
  std::vector<unsigned char> bytes_after(const Operation& operation, Backend& backend) {
    reset();
    operation.run(backend);
    std::vector<unsigned char> bytes;
    const auto append = [&](const auto& data) {
      const auto* from = reinterpret_cast<const unsigned char*>(data.data());
      bytes.insert(bytes.end(), from, from + data.size() * sizeof(data[0]));
    };
    append(out_), append(out2_), append(out3_), append(index8_), append(index64_),
        append(labels_out_);
    return bytes;
  }

 private:
  // Odd sizes, several tiles on the CPU.
  static constexpr std::int64_t kBatch = 3, kChannels = 5, kHeight = 41, kWidth = 83;
  static constexpr std::int64_t kCount = kBatch * kChannels * kHeight * kWidth;
  static constexpr std::int64_t kClasses = 1021;
  static constexpr RandomStream kStream{9, RandomPurpose::dropout, 4, 2, 6};

  void reset() {
    out_ = values<T>(kCount, 11);
    out2_ = values<T>(kCount, 12);
    out3_ = values<T>(kCount, 13);
    for (T& v : out3_) v = v * v;  // a second moment
    index8_.assign(kCount, 0);
    index64_.assign(kCount, 0);
    labels_out_.assign(kCount, 0);
  }

  template <class V>
  static Tensor image(V& data) {
    return {data.data(), Shape{kBatch, kChannels, kHeight, kWidth},
            dtype_of<typename V::value_type>};
  }
  template <class V>
  static ConstTensor image(const V& data) {
    return {data.data(), Shape{kBatch, kChannels, kHeight, kWidth},
            dtype_of<typename V::value_type>};
  }
  void add(std::string name, std::function<void(Backend&)> run) {
    all_.push_back({std::move(name), std::move(run)});
  }
  /// Both ways to write.
  void add(const std::string& name, std::function<void(Backend&, Write)> run) {
    add(name, [run](Backend& b) { run(b, Write::overwrite); });
    add(name + " accumulate", [run](Backend& b) { run(b, Write::accumulate); });
  }

  /// The last ones call exp, log or pow.
  void mark_inexact(std::size_t count) {
    for (std::size_t i = all_.size() - count; i < all_.size(); ++i) all_[i].has_one_result = false;
  }

  void add_data_movement() {
    const SliceProblem slice{kBatch, 2, kChannels, 1, kHeight * kWidth, dtype_of<T>};
    add("fill", [this](Backend& b) { b.fill(image(out_), 0.3); });
    add("increment", [this](Backend& b) { b.increment(image(index64_)); });
    add("add", [this](Backend& b, Write w) { b.add(image(x_), image(out_), w); });
    add("sum", [this](Backend& b) { b.sum(image(x_), image(y_), image(out_)); });
    const Shape narrow{kBatch, 2, kHeight, kWidth};
    add("copy_into_slice",
        [=, this](Backend& b) { b.copy_into_slice(slice, view(x_, narrow), image(out_)); });
    add("copy_from_slice", [=, this](Backend& b, Write w) {
      b.copy_from_slice(slice, image(x_), view(out_, narrow), w);
    });
  }

  void add_random() {
    add("normal", [this](Backend& b) { b.normal(kStream, 0.7, image(out_)); });
    add("uniform", [this](Backend& b) { b.uniform(kStream, 0.7, image(out_)); });
    add("uniform_labels",
        [this](Backend& b) { b.uniform_labels(kStream, kClasses, view(labels_out_, {kCount})); });
    add("dropout",
        [this](Backend& b, Write w) { b.dropout(kStream, 0.4, image(x_), image(out_), w); });
    add("dropout_mask u8", [this](Backend& b) { b.dropout_mask(kStream, 0.4, image(index8_)); });
    add("dropout_mask", [this](Backend& b) { b.dropout_mask(kStream, 0.4, image(out_)); });
    add("apply_mask u8", [this](Backend& b, Write w) {
      b.apply_mask(0.4, image(mask_), image(x_), image(out_), w);
    });
    add("apply_mask",
        [this](Backend& b, Write w) { b.apply_mask(0.4, image(y_), image(x_), image(out_), w); });
  }

  void add_pointwise() {
    for (double ceiling : {0.0, 0.5}) {
      const std::string name = ceiling > 0 ? "relu6" : "relu";
      add(name, [=, this](Backend& b) { b.relu_forward(ceiling, image(x_), image(out_)); });
      add(name + " backward", [=, this](Backend& b, Write w) {
        b.relu_backward(ceiling, image(y_), image(x_), image(out_), w);
      });
    }
  }

  void add_pools() {
    const PoolAxis h{kHeight, 21, 3, 2, 1, false}, w{kWidth, 41, 3, 2, 0, false};
    const PoolProblem windows{kBatch * kChannels, h, w, true, dtype_of<T>};
    const PoolProblem bins{kBatch * kChannels,
                           {kHeight, 6, 0, 0, 0, true},
                           {kWidth, 70, 0, 0, 0, true},
                           true,
                           dtype_of<T>};
    const Shape out{kBatch, kChannels, h.output, w.output};
    const auto pooled = [out](auto& data) { return view(data, out); };
    add("max_pool",
        [=, this](Backend& b) { b.max_pool_forward(windows, image(x_), pooled(out_), Tensor{}); });
    const auto max_pool = [=, this](Backend& b, auto& index) {
      b.max_pool_forward(windows, image(x_), pooled(out_), pooled(index));
      b.max_pool_backward(windows, pooled(index), pooled(y_), image(out2_), Write::overwrite);
      b.max_pool_backward(windows, pooled(index), pooled(y_), image(out3_), Write::accumulate);
    };
    add("max_pool u8", [=, this](Backend& b) { max_pool(b, index8_); });
    add("max_pool i64", [=, this](Backend& b) { max_pool(b, index64_); });
    for (const PoolProblem& p : {windows, bins}) {
      const std::string name = p.h.adaptive ? "adaptive_avg_pool" : "avg_pool";
      const Shape means{kBatch, kChannels, p.h.output, p.w.output};
      add(name, [=, this](Backend& b) { b.avg_pool_forward(p, image(x_), view(out_, means)); });
      add(name + " backward", [=, this](Backend& b, Write write) {
        b.avg_pool_backward(p, view(y_, means), image(out_), write);
      });
    }
  }

  void add_lrn() {
    for (double beta : {0.75, 0.6}) {
      const LrnProblem p{kBatch, kChannels, kHeight * kWidth, 4, 0.5, beta, 1.5, dtype_of<T>};
      const std::string name = "lrn " + std::to_string(beta);
      add(name, [=, this](Backend& b) { b.lrn_forward(p, image(x_), image(out2_), image(out_)); });
      add(name + " backward", [=, this](Backend& b, Write w) {
        b.lrn_backward(p, image(x_), image(scale_), image(y_), image(out_), w);
      });
      if (beta != 0.75) mark_inexact(3);
    }
  }

  void add_loss_and_updates() {
    const SoftmaxCrossEntropyProblem p{37, kClasses, dtype_of<T>};
    const Shape logits{37, kClasses};
    add("softmax_cross_entropy", [=, this](Backend& b) {
      b.softmax_cross_entropy_forward(p, 0.1, view(x_, logits), view(labels_, {37}),
                                      view(out_, logits), view(out2_, {1}),
                                      {scratch_.data(), scratch_.size() * 8});
    });
    mark_inexact(1);
    add("softmax_cross_entropy backward", [=, this](Backend& b, Write w) {
      b.softmax_cross_entropy_backward(p, 0.1, view(y_, logits), view(labels_, {37}),
                                       view(out_, logits), w);
    });
    for (bool flag : {false, true}) {
      const SgdStep sgd{0.1, 0.9, 0.01, flag, !flag};
      const AdamStep adam{0.1, 0.9, 0.99, 1e-8, 0.01, flag, flag ? 3 : 1};
      add("sgd", [=, this](Backend& b) { b.sgd(sgd, image(out_), image(x_), image(out2_)); });
      add("adam", [=, this](Backend& b) {
        b.adam(adam, image(out_), image(x_), image(out2_), image(out3_));
      });
    }
    add("sgd plain", [this](Backend& b) {
      b.sgd({0.1, 0, 0.01, false, false}, image(out_), image(x_), Tensor{});
    });
  }

  static std::vector<T> positive(std::vector<T> data) {
    for (T& v : data) v = v * v + T(1);
    return data;
  }

  const std::vector<T> x_ = values<T>(kCount, 1), y_ = values<T>(kCount, 2);
  const std::vector<T> scale_ = positive(values<T>(kCount, 3));
  const std::vector<std::uint8_t> mask_ = std::vector<std::uint8_t>(kCount, 1);
  const std::vector<std::int64_t> labels_ = std::vector<std::int64_t>(37, 5);
  std::vector<double> scratch_ = std::vector<double>(2 * 37);
  std::vector<T> out_, out2_, out3_;
  std::vector<std::uint8_t> index8_;
  std::vector<std::int64_t> index64_, labels_out_;
  std::vector<Operation> all_;
};

}  // namespace arenagrad::cpu_test
