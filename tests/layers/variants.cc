#include "tests/layers/variants.h"

#include <ostream>

namespace arenagrad::testing {
namespace {

using Pair = std::array<std::int64_t, 2>;

Window window(Pair kernel, Pair stride = {1, 1}, Pair padding = {0, 0}, Pair dilation = {1, 1}) {
  return {kernel, stride, padding, dilation};
}

Variant conv(std::string name, Shape input, std::int64_t out_channels, Window w,
             std::int64_t groups = 1, bool bias = true, std::int64_t batch = 2) {
  return {.name = "conv2d_" + name,
          .make =
              [=] {
                return conv2d({out_channels, w, groups, bias, {}});
              },
          .inputs = {input},
          .batch = batch};
}

Variant full(std::string name, std::int64_t in, std::int64_t out, bool bias, std::int64_t batch) {
  return {.name = "linear_" + name,
          .make =
              [=] {
                return linear({out, bias, {}});
              },
          .inputs = {Shape{in}},
          .batch = batch};
}

Variant norm(std::string name, Shape input, std::int64_t batch, double eps, double momentum) {
  return {.name = "batch_norm_" + name,
          .make =
              [=] {
                return batch_norm({eps, momentum});
              },
          .inputs = {input},
          .batch = batch,
          .differs_in_eval = true};
}

Variant maximum(std::string name, Shape input, Window w, bool ceil_mode = false) {
  return {.name = "max_pool_" + name,
          .make =
              [=] {
                return max_pool({w, ceil_mode});
              },
          .inputs = {input},
          .kinks = Kinks::at_ties};
}

Variant average(std::string name, Shape input, Window w, bool ceil_mode, bool count_include_pad) {
  return {.name = "avg_pool_" + name,
          .make =
              [=] {
                return avg_pool({w, ceil_mode, count_include_pad});
              },
          .inputs = {input}};
}

Variant adaptive(std::string name, Shape input, Pair output) {
  return {.name = "adaptive_avg_pool_" + name,
          .make = [=] { return adaptive_avg_pool(output); },
          .inputs = {input}};
}

Variant lrn(std::string name, Shape input, LrnSpec spec) {
  return {
      .name = "lrn_" + name, .make = [=] { return local_response_norm(spec); }, .inputs = {input}};
}

Variant drop(std::string name, Shape input, double p) {
  return {.name = "dropout_" + name,
          .make = [=] { return dropout(p); },
          .inputs = {input},
          .differs_in_eval = true};
}

Variant loss(std::string name, std::int64_t classes, Reduction reduction, std::int64_t batch) {
  return {.name = "softmax_cross_entropy_" + name,
          .make = [=] { return softmax_cross_entropy(reduction); },
          .inputs = {Shape{classes}, Shape{}},
          .batch = batch};
}

Variant coupled(std::string name, std::int64_t classes, CoupledLossOptions options,
                std::int64_t batch) {
  return {.name = std::move(name),
          .make = [=] { return coupled_loss(options); },
          .inputs = {Shape{classes}, Shape{}},
          .batch = batch};
}

Variant plain(std::string name, std::unique_ptr<Layer> (*make)(), std::vector<Shape> inputs,
              Kinks kinks = Kinks::none) {
  return {.name = std::move(name), .make = make, .inputs = std::move(inputs), .kinks = kinks};
}

std::vector<Variant> make_variants() {
  return {
      conv("3x3_pad1", {3, 6, 5}, 4, window({3, 3}, {1, 1}, {1, 1})),
      conv("1x1", {5, 4, 4}, 3, window({1, 1})),
      conv("1x1_stride2", {4, 5, 6}, 3, window({1, 1}, {2, 2})),
      conv("stride2_pad1", {2, 7, 6}, 3, window({3, 3}, {2, 2}, {1, 1})),
      conv("stride_beyond_kernel", {2, 9, 8}, 2, window({2, 2}, {3, 4})),
      conv("7x7_stride2_pad3", {2, 8, 7}, 2, window({7, 7}, {2, 2}, {3, 3})),
      conv("dilation2", {2, 8, 7}, 3, window({3, 3}, {1, 1}, {2, 2}, {2, 2})),
      conv("dilation_stride", {2, 9, 8}, 2, window({2, 3}, {2, 1}, {1, 2}, {3, 2})),
      conv("groups2", {4, 6, 6}, 6, window({3, 3}, {1, 1}, {1, 1}), 2),
      conv("groups3_dilation2_no_bias", {6, 6, 5}, 3, window({2, 2}, {1, 1}, {1, 1}, {2, 2}), 3,
           false),
      conv("depthwise", {4, 6, 5}, 4, window({3, 3}, {2, 1}, {1, 1}), 4),
      conv("depthwise_twice", {3, 5, 5}, 6, window({3, 3}, {1, 1}, {1, 1}), 3, false),
      conv("no_bias", {3, 5, 5}, 4, window({3, 3}), 1, false),
      conv("rectangular", {2, 6, 9}, 3, window({1, 5}, {1, 2}, {0, 2})),
      conv("tall", {2, 9, 4}, 3, window({5, 1}, {2, 1}, {2, 0})),
      conv("padding_beyond_kernel", {2, 4, 3}, 2, window({2, 1}, {1, 1}, {3, 2})),
      conv("kernel_is_input", {3, 4, 3}, 5, window({4, 3})),
      conv("one_sample", {3, 6, 6}, 4, window({3, 3}, {1, 1}, {1, 1}), 1, true, 1),
      conv("five_samples", {1, 4, 4}, 1, window({2, 2}), 1, true, 5),

      full("bias", 7, 5, true, 3),
      full("no_bias", 6, 4, false, 2),
      full("one_sample", 9, 3, true, 1),
      full("one_output", 5, 1, true, 4),

      norm("planes", {3, 4, 3}, 3, 1e-5, 0.1),
      norm("features", {5}, 6, 1e-5, 0.1),
      norm("one_sample", {2, 3, 3}, 1, 1e-3, 0.1),
      norm("large_eps", {3, 2, 5}, 2, 0.5, 0.3),
      norm("momentum1", {2, 4, 1}, 2, 1e-5, 1),

      plain("relu", relu, {{3, 4, 4}}, Kinks::at_zero),
      plain("relu_features", relu, {{11}}, Kinks::at_zero),
      plain("relu6", relu6, {{3, 4, 4}}, Kinks::at_zero_and_six),

      maximum("2x2", {2, 6, 6}, window({2, 2}, {2, 2})),
      maximum("overlapping", {2, 7, 7}, window({3, 3}, {2, 2})),
      maximum("padding", {2, 7, 6}, window({3, 3}, {2, 2}, {1, 1})),
      maximum("ceil", {2, 6, 8}, window({3, 3}, {2, 2}), true),
      maximum("ceil_dropped_window", {2, 5, 7}, window({2, 2}, {4, 2}, {1, 1}), true),
      maximum("ceil_window_beyond_input", {2, 2, 4}, window({3, 3}, {2, 2}), true),
      maximum("gaps", {2, 8, 7}, window({2, 1}, {3, 3})),
      maximum("rectangular", {1, 6, 7}, window({2, 4}, {1, 3}, {1, 2})),
      maximum("wide_window", {1, 18, 20}, window({17, 16}, {1, 2})),

      average("2x2", {2, 6, 6}, window({2, 2}, {2, 2}), false, true),
      average("overlapping", {2, 7, 6}, window({3, 3}, {1, 2}), false, true),
      average("padding_counted", {2, 6, 5}, window({3, 3}, {2, 2}, {1, 1}), false, true),
      average("padding_not_counted", {2, 6, 5}, window({3, 3}, {2, 2}, {1, 1}), false, false),
      average("ceil_counted", {2, 6, 8}, window({3, 3}, {2, 2}, {1, 1}), true, true),
      average("ceil_not_counted", {2, 6, 8}, window({3, 3}, {2, 2}, {1, 1}), true, false),
      average("ceil_dropped_window", {2, 5, 7}, window({2, 2}, {4, 2}, {1, 1}), true, true),
      average("ceil_window_beyond_input", {2, 2, 3}, window({3, 4}, {2, 2}), true, true),
      average("gaps_rectangular", {2, 8, 7}, window({2, 3}, {3, 4}), false, true),

      adaptive("1x1", {3, 5, 4}, {1, 1}),
      adaptive("divides", {2, 6, 8}, {3, 4}),
      adaptive("overlapping_bins", {2, 7, 5}, {3, 4}),
      adaptive("more_bins_than_inputs", {2, 3, 2}, {5, 3}),
      adaptive("keeps_height", {2, 4, 6}, {0, 2}),
      adaptive("identity", {2, 3, 4}, {3, 4}),

      lrn("size5", {8, 3, 3}, {5, 0.5, 0.75, 2}),
      lrn("even_size4", {7, 2, 3}, {4, 0.8, 0.75, 1}),
      lrn("size2", {5, 3, 2}, {2, 0.6, 0.5, 1}),
      lrn("wider_than_channels", {3, 3, 2}, {9, 0.9, 0.75, 1}),
      lrn("even_wider_than_channels", {3, 2, 2}, {8, 0.9, 1.3, 1.5}),
      lrn("size1", {4, 2, 2}, {1, 0.7, 0.75, 1}),
      lrn("one_line", {6, 4}, {3, 0.5, 0.75, 1}),

      drop("half", {3, 4, 3}, 0.5),
      drop("fifth", {13}, 0.2),
      drop("none", {7}, 0),

      plain("add_two", add, {{2, 3, 4}, {2, 3, 4}}),
      plain("add_three", add, {{5}, {5}, {5}}),
      plain("concat_two", concat, {{2, 3, 4}, {3, 3, 4}}),
      plain("concat_three", concat, {{1, 2, 3}, {4, 2, 3}, {2, 2, 3}}),
      plain("concat_features", concat, {{3}, {5}}),
      plain("flatten", flatten, {{2, 3, 4}}),

      loss("mean", 7, Reduction::mean, 5),
      loss("sum", 4, Reduction::sum, 3),
      loss("one_sample", 10, Reduction::mean, 1),
      loss("two_classes", 2, Reduction::sum, 4),

      coupled("mean_logits", 7, {CoupledLoss::cross_entropy_of_mean_logits}, 5),
      coupled("mean_logits_one_sample", 3, {CoupledLoss::cross_entropy_of_mean_logits}, 1),
      coupled("variance", 6, {CoupledLoss::variance}, 4),
      coupled("variance_one_sample", 6, {CoupledLoss::variance}, 1),
      coupled("contrastive", 4, {CoupledLoss::contrastive, 4.0}, 6),
      coupled("contrastive_near", 3, {CoupledLoss::contrastive, 0.5}, 5),
      coupled("contrastive_one_sample", 3, {CoupledLoss::contrastive}, 1),
  };
}

std::vector<Variant> make_large_variants() {
  Variant flat_norm = norm("many_features", {300}, 70, 1e-5, 0.1);
  Variant flat_loss = loss("many", 600, Reduction::mean, 40);
  return {
      conv("large_3x3", {16, 33, 31}, 24, window({3, 3}, {1, 1}, {1, 1}), 1, true, 2),
      conv("large_strided", {8, 45, 40}, 16, window({5, 5}, {2, 2}, {2, 2}), 1, false, 2),
      conv("large_1x1", {96, 28, 28}, 64, window({1, 1}), 1, true, 3),
      conv("large_groups", {32, 30, 30}, 48, window({3, 3}, {1, 1}, {1, 1}), 4, true, 3),
      conv("large_depthwise", {64, 30, 30}, 64, window({3, 3}, {1, 1}, {1, 1}), 64, true, 3),
      conv("large_few_channels", {3, 64, 64}, 8, window({7, 7}, {2, 2}, {3, 3}), 1, true, 3),
      // More gradients than lanes sum up each by itself.
      conv("large_filter", {64, 9, 9}, 128, window({3, 3}, {1, 1}, {1, 1}), 1, true, 2),
      conv("large_1x1_filter", {256, 8, 8}, 320, window({1, 1}), 1, false, 2),
      conv("large_strided_filter", {72, 9, 8}, 112, window({3, 3}, {2, 2}, {1, 1}), 1, true, 2),
      full("large", 700, 300, true, 33),
      full("large_one_sample", 900, 500, true, 1),
      norm("large", {20, 40, 40}, 5, 1e-5, 0.1),
      flat_norm,
      plain("relu_large", relu, {{16, 50, 50}}, Kinks::at_zero),
      plain("relu6_large", relu6, {{16, 50, 50}}, Kinks::at_zero_and_six),
      maximum("large", {16, 41, 40}, window({3, 3}, {2, 2}, {1, 1})),
      average("large", {16, 41, 40}, window({3, 3}, {2, 2}, {1, 1}), false, false),
      adaptive("large", {16, 41, 40}, {7, 6}),
      lrn("large", {40, 25, 25}, {5, 0.5, 0.75, 2}),
      drop("large", {16, 40, 40}, 0.5),
      plain("add_large", add, {{16, 40, 40}, {16, 40, 40}}),
      plain("concat_large", concat, {{16, 40, 40}, {8, 40, 40}}),
      flat_loss,
  };
}

}  // namespace

const std::vector<Variant>& variants() {
  static const std::vector<Variant> table = make_variants();
  return table;
}

const std::vector<Variant>& large_variants() {
  static const std::vector<Variant> table = make_large_variants();
  return table;
}

std::vector<RunMode> modes_of(const Variant& variant) {
  if (variant.differs_in_eval) return {RunMode::train, RunMode::eval};
  return {RunMode::train};
}

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

}  // namespace arenagrad::testing
