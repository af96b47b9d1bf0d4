#include "zoo/ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace arenagrad {
namespace {

constexpr double kLargest = 2147483647;  // 2^31 - 1: products of two arguments stay exact
constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

using Kind = ArgumentKind;

Argument integer(std::string_view key) {
  return {.key = key, .kind = Kind::integer, .required = true, .minimum = 1, .maximum = kLargest};
}
Argument integer(std::string_view key, std::int64_t standard) {
  Argument a = integer(key);
  a.required = false;
  a.standard = standard;
  return a;
}
Argument pair(std::string_view key, std::int64_t minimum) {
  return {.key = key, .kind = Kind::pair, .minimum = double(minimum), .maximum = kLargest};
}
Argument pair(std::string_view key, std::int64_t minimum, std::int64_t standard) {
  Argument a = pair(key, minimum);
  a.standard = Pair{standard, standard};
  return a;
}
Argument needed(Argument a) {
  a.required = true;
  return a;
}
Argument boolean(std::string_view key, bool standard) {
  return {.key = key, .kind = Kind::boolean, .standard = standard};
}
Argument number(std::string_view key, double standard) {
  return {.key = key, .kind = Kind::number, .standard = standard};
}
Argument number_up_to(std::string_view key, double standard, double maximum) {
  Argument a = number(key, standard);
  a.maximum = maximum;
  return a;
}
Argument init_rule() { return {.key = "init", .kind = Kind::init, .standard = InitRule{}}; }

bool kernel_too_large(const Shape& input, const Pair& kernel, const Pair& padding,
                      const Pair& dilation) {
  if (input.rank() != 3) return false;
  const auto exceeds = [&](std::size_t i) {
    return dilation[i] * (kernel[i] - 1) + 1 - 2 * padding[i] > input[i + 1];
  };
  return exceeds(0) || exceeds(1);
}

std::string_view blame_conv2d(const Arguments& a, std::span<const Shape> inputs) {
  const std::int64_t groups = a.integer("groups");
  if (a.integer("out_channels") % groups != 0) return "groups";
  if (kernel_too_large(inputs[0], a.pair("kernel"), a.pair("padding"), a.pair("dilation"))) {
    return "kernel";
  }
  return inputs[0].rank() == 3 && inputs[0][0] % groups != 0 ? "groups" : "";
}

std::string_view blame_pool(const Arguments& a, std::span<const Shape> inputs) {
  const Pair kernel = a.pair("kernel"), padding = a.pair("padding");
  if (padding[0] > kernel[0] / 2 || padding[1] > kernel[1] / 2) return "padding";
  return kernel_too_large(inputs[0], kernel, padding, {1, 1}) ? "kernel" : "";
}

PoolSpec pool(const Arguments& a) {
  PoolSpec spec;
  spec.window.kernel = a.pair("kernel");
  spec.window.stride = a.has("stride") ? a.pair("stride") : spec.window.kernel;
  spec.window.padding = a.pair("padding");
  spec.ceil_mode = a.boolean("ceil_mode");
  return spec;
}

std::vector<Op> make_ops() {
  std::vector<Op> table;
  table.push_back({"conv2d",
                   1,
                   1,
                   true,
                   {integer("out_channels"), needed(pair("kernel", 1)), pair("stride", 1, 1),
                    pair("padding", 0, 0), pair("dilation", 1, 1), integer("groups", 1),
                    boolean("bias", true), init_rule()},
                   [](const Arguments& a) {
                     return conv2d({.out_channels = a.integer("out_channels"),
                                    .window = {a.pair("kernel"), a.pair("stride"),
                                               a.pair("padding"), a.pair("dilation")},
                                    .groups = a.integer("groups"),
                                    .bias = a.boolean("bias"),
                                    .init = a.init("init")});
                   },
                   blame_conv2d});
  table.push_back({"linear",
                   1,
                   1,
                   true,
                   {integer("out_features"), boolean("bias", true), init_rule()},
                   [](const Arguments& a) {
                     return linear({a.integer("out_features"), a.boolean("bias"), a.init("init")});
                   }});
  table.push_back({"batch_norm",
                   1,
                   1,
                   true,
                   {number("eps", 1e-5), number_up_to("momentum", 0.1, 1)},
                   [](const Arguments& a) {
                     return batch_norm({a.number("eps"), a.number("momentum")});
                   }});
  table.push_back({"relu", 1, 1, false, {}, [](const Arguments&) { return relu(); }});
  table.push_back({"relu6", 1, 1, false, {}, [](const Arguments&) { return relu6(); }});
  table.push_back({"max_pool",
                   1,
                   1,
                   false,
                   {needed(pair("kernel", 1)), pair("stride", 1), pair("padding", 0, 0),
                    boolean("ceil_mode", false)},
                   [](const Arguments& a) { return max_pool(pool(a)); },
                   blame_pool});
  table.push_back({"avg_pool",
                   1,
                   1,
                   false,
                   {needed(pair("kernel", 1)), pair("stride", 1), pair("padding", 0, 0),
                    boolean("ceil_mode", false), boolean("count_include_pad", true)},
                   [](const Arguments& a) {
                     PoolSpec spec = pool(a);
                     spec.count_include_pad = a.boolean("count_include_pad");
                     return avg_pool(spec);
                   },
                   blame_pool});
  table.push_back(
      {"adaptive_avg_pool", 1, 1, false, {needed(pair("output", 0))}, [](const Arguments& a) {
         return adaptive_avg_pool(a.pair("output"));
       }});
  table.push_back(
      {"local_response_norm",
       1,
       1,
       false,
       {integer("size", 5), number("alpha", 1e-4), number("beta", 0.75), number("k", 1)},
       [](const Arguments& a) {
         return local_response_norm(
             {a.integer("size"), a.number("alpha"), a.number("beta"), a.number("k")});
       }});
  Argument p = number_up_to("p", 0.5, 1);
  p.below = true;
  table.push_back(
      {"dropout", 1, 1, false, {p}, [](const Arguments& a) { return dropout(a.number("p")); }});
  table.push_back({"add", 2, kAnyNumber, false, {}, [](const Arguments&) { return add(); }});
  table.push_back({"concat", 2, kAnyNumber, false, {}, [](const Arguments&) { return concat(); }});
  table.push_back({"flatten", 1, 1, false, {}, [](const Arguments&) { return flatten(); }});
  return table;
}

std::string number_text(double value) {
  std::string out = std::to_string(value);
  out.erase(out.find_last_not_of('0') + 1);
  return out.ends_with('.') ? out.substr(0, out.size() - 1) : out;
}

}  // namespace

std::string Argument::expected() const {
  const bool bounded = std::isfinite(maximum);
  std::string range = bounded ? " from " + number_text(minimum) + (below ? " to below " : " to ") +
                                    number_text(maximum)
                      : std::isfinite(minimum) ? " of at least " + number_text(minimum)
                                               : "";
  switch (kind) {
    case Kind::integer: return "an integer" + range;
    case Kind::pair: return "an integer" + range + " or [height, width]";
    case Kind::boolean: return "true or false";
    case Kind::number: return "a number" + range;
    case Kind::init: return "\"pytorch\", \"kaiming_fan_out\" or {\"normal\": STANDARD_DEVIATION}";
  }
  return "";
}

const ArgumentValue& Arguments::value(std::string_view key) const {
  for (std::size_t i = 0; i < table_.size(); ++i) {
    if (table_[i].key == key) return values_[i];
  }
  throw ContractError("an op asked for an argument that its table lacks: " + std::string(key));
}

std::span<const Op> ops() {
  static const std::vector<Op> table = make_ops();
  return table;
}

const Op* find_op(std::string_view name) {
  const auto table = ops();
  const auto found = std::ranges::find(table, name, &Op::name);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace arenagrad
