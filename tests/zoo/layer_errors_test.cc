// Errors of layers: keys, arguments, shapes, references, names.
#include "tests/zoo/error_table.h"

namespace arenagrad {
namespace {

TEST(SpecErrors, OfLayerLists) {
  const ErrorRow rows[] = {
      {spec_with(R"()"), "/layers", "expected a list of one or more layers, found an empty array"},
      {R"({"input": [3], "classes": 4, "layers": {}})", "/layers",
       "expected a list of one or more layers, found an empty object"},
      {spec_with(R"(3)"), "/layers/0",
       R"(expected a layer: an object with "op", "block" or "layers", found 3)"},
      {net(R"({"name": "x"})"), "/layers/0",
       R"(missing key 'op': expected an op's name (or "block", or "layers"), found nothing)"},
      {net(R"({"opp": "relu"})"), "/layers/0/opp",
       "unknown key 'opp' of a layer (did you mean 'op'?)"},
      {net(R"({"op": "relu", "block": "b"})"), "/layers/0",
       "expected one of 'op', 'block' and 'layers', found more"},
      {net(R"({"op": "conv2D"})"), "/layers/0/op",
       "unknown op: expected one of the ops, found 'conv2D' (did you mean 'conv2d'?)"},
      {net(R"({"op": 3})"), "/layers/0/op", "expected an op's name, found 3"},
      {net(R"({"op": "relu", "name": "r", "name": "s"})"), "/layers/0/name",
       R"(duplicate key 'name': expected once, found "r" and "s")"},
  };
  expect_errors(rows);
}

TEST(SpecErrors, OfKeys) {
  const ErrorRow rows[] = {
      {net(R"({"op": "conv2d", "kernel": 3})"), "/layers/0",
       "missing key 'out_channels': expected an integer from 1 to 2147483647, found nothing"},
      {net(R"({"op": "linear"})"), "/layers/0",
       "missing key 'out_features': expected an integer from 1 to 2147483647, found nothing"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "strid": 2})"),
       "/layers/0/strid", "unknown key 'strid' of conv2d (did you mean 'stride'?)"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "kernel_size": 2})"),
       "/layers/0/kernel_size", "unknown key 'kernel_size' of conv2d (did you mean 'kernel'?)"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "weight": "x"})"),
       "/layers/0/weight", "unknown key 'weight' of conv2d (did you mean 'weights'?)"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "a~/b": 1})"),
       "/layers/0/a~0~1b",
       "unknown key 'a~/b' of conv2d (known: op, out_channels, kernel, stride, padding, "
       "dilation, groups, bias, init, weights, name, in, when, description)"},
      {net(R"({"op": "relu", "weights": "x"})"), "/layers/0/weights",
       "unknown key 'weights' of relu (known: op, name, in, when, description)"},
      {net(R"({"op": "relu", "repeat": 2})"), "/layers/0/repeat",
       "unknown key 'repeat' of relu (known: op, name, in, when, description)"},
  };
  expect_errors(rows);
}

TEST(SpecErrors, OfArguments) {
  const ErrorRow rows[] = {
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "stride": 0})"),
       "/layers/0/stride", "expected an integer from 1 to 2147483647 or [height, width], found 0"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "stride": 2.5})"),
       "/layers/0/stride",
       "expected an integer from 1 to 2147483647 or [height, width], found 2.5: write it "
       "without fraction and exponent"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "stride": [1, 2, 3]})"),
       "/layers/0/stride",
       "expected an integer from 1 to 2147483647 or [height, width], found an array of 3"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "stride": [1, "a"]})"),
       "/layers/0/stride/1", R"(expected an integer from 1 to 2147483647, found "a")"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "stride": [1, 0]})"),
       "/layers/0/stride/1", "expected an integer from 1 to 2147483647, found 0"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "padding": -1})"),
       "/layers/0/padding",
       "expected an integer from 0 to 2147483647 or [height, width], found -1"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "padding": null})"),
       "/layers/0/padding",
       "expected an integer from 0 to 2147483647 or [height, width], found null"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "bias": 1})"),
       "/layers/0/bias", "expected true or false, found 1"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "stride": 4294967296})"),
       "/layers/0/stride",
       "expected an integer from 1 to 2147483647 or [height, width], found 4294967296"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "stride": 18446744073709551617})"),
       "/layers/0/stride",
       "expected an integer from 1 to 2147483647 or [height, width], found "
       "18446744073709551617, which is no signed 64-bit integer"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "stride": "$s"})"),
       "/layers/0/stride",
       "no parameter 's' here: expected a value, as there are no parameters outside "
       R"(blocks, found "$s")"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "stride": {"h": 1}})"),
       "/layers/0/stride",
       "expected an integer from 1 to 2147483647 or [height, width], found an object"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "init": {"uniform": 1}})"),
       "/layers/0/init",
       R"(expected "pytorch", "kaiming_fan_out" or {"normal": STANDARD_DEVIATION}, found )"
       "an object"},
      {net(R"({"op": "dropout", "p": 1})"), "/layers/0/p",
       "expected a number from 0 to below 1, found 1"},
      {net(R"({"op": "batch_norm", "momentum": 1.5})"), "/layers/0/momentum",
       "expected a number from 0 to 1, found 1.5"},
      {net(R"({"op": "batch_norm", "eps": "1e-5"})"), "/layers/0/eps",
       R"(expected a number of at least 0, found "1e-5")"},
      {net(R"({"op": "batch_norm", "eps": true})"), "/layers/0/eps",
       "expected a number of at least 0, found true"},
      {net(R"({"op": "local_response_norm", "alpha": -0.5})"), "/layers/0/alpha",
       "expected a number of at least 0, found -0.5"},
  };
  expect_errors(rows);
}

TEST(SpecErrors, OfShapes) {
  const ErrorRow rows[] = {
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "groups": 3})"),
       "/layers/0/groups",
       "conv2d: expected out_channels to be a multiple of groups, got 4 out_channels and "
       R"(3 groups, in layer "c" (conv2d))"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "groups": 2})"),
       "/layers/0/groups",
       "conv2d: expected input channels that are a multiple of groups, got 3 channels "
       R"((input 3x8x8) and 2 groups, in layer "c" (conv2d))"},
      {net(R"({"op": "conv2d", "out_channels": 4, "kernel": 9})"), "/layers/0/kernel",
       "conv2d: expected a kernel no larger than its padded input 8x8 (input 3x8x8, "
       R"(padding 0x0), got kernel 9x9, in layer "0" (conv2d))"},
      {net(R"({"op": "conv2d", "out_channels": 4, "kernel": 3, "dilation": 4})"),
       "/layers/0/kernel",
       "conv2d: expected a kernel no larger than its padded input 8x8 (input 3x8x8, "
       R"(padding 0x0), got kernel 3x3 (dilated to 9x9), in layer "0" (conv2d))"},
      {net(R"({"op": "max_pool", "kernel": [2, 9]})"), "/layers/0/kernel",
       "max_pool: expected a kernel no larger than its padded input 8x8 (input 3x8x8, "
       R"(padding 0x0), got kernel 2x9, in layer "0" (max_pool))"},
      {net(R"({"op": "avg_pool", "kernel": 2, "padding": 2})"), "/layers/0/padding",
       "avg_pool: expected padding of at most half the kernel (2x2), got 2x2, in layer "
       R"("0" (avg_pool))"},
      {net(R"({"op": "linear", "out_features": 4})"), "/layers/0",
       "linear: expected one dimension per sample (put a flatten in front), got 3x8x8, "
       R"(in layer "0" (linear))"},
      {net(R"({"op": "flatten"}, {"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3})"),
       "/layers/1",
       R"(conv2d: expected an input of shape CxHxW per sample, got 192, in layer "c" (conv2d))"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3}, {"op": "add", "in": ["input", "c"]})"),
       "/layers/1",
       R"(add: expected inputs of one shape, got 3x8x8 and 4x6x6, in layer "1" (add))"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3}, {"op": "concat", "in": ["input", "c"]})"),
       "/layers/1",
       "concat: expected inputs that differ in channels alone, got 3x8x8 and 4x6x6, in "
       R"(layer "1" (concat))"},
      {net(R"({"op": "conv2d", "out_channels": 2147483647, "kernel": 1, "padding": 2147483647})"),
       "/layers/0",
       "product of sizes: expected at most 2^63 - 1, got 2147483647 * 4294967302, in "
       R"(layer "0" (conv2d))"},
      {net(R"({"op": "adaptive_avg_pool", "output": 1073741824}, {"op": "adaptive_avg_pool", "output": 1073741823})"),
       "/layers/0",
       "sizes beyond 64 bits: expected less than 2^63 bytes of layer outputs (as f64), "
       "found more at 3x1073741824x1073741824"},
  };
  expect_errors(rows);
}

TEST(SpecErrors, OfReferences) {
  const ErrorRow rows[] = {
      {net(R"({"op": "add"})"), "/layers/0",
       "wrong number of inputs: expected at least 2 for add, found 1, the layer before; "
       "list them in 'in'"},
      {net(R"({"op": "relu", "in": ["input", "input"]})"), "/layers/0/in",
       "wrong number of inputs: expected 1 for relu, found 2"},
      {net(R"({"op": "relu", "in": []})"), "/layers/0/in",
       "expected the name of an earlier layer or a list of names, found an empty array"},
      {net(R"({"op": "relu", "in": [3]})"), "/layers/0/in/0",
       "expected the name of an earlier layer or a list of names, found 3"},
      {net(R"({"name": "r", "op": "relu", "in": "r"})"), "/layers/0/in",
       "expected an earlier layer, found 'r', the layer itself"},
      {net(R"({"op": "relu", "in": "later"}, {"name": "later", "op": "relu"})"), "/layers/0/in",
       "expected an earlier layer, found 'later', which comes later (/layers/1)"},
      {net(R"({"name": "first", "op": "relu"}, {"op": "relu", "in": "frist"})"), "/layers/1/in",
       "undefined name: expected an input or an earlier layer, found 'frist' (did you "
       "mean 'first'?)"},
      {net(R"({"op": "relu", "in": "nowhere"})"), "/layers/0/in",
       "undefined name: expected an input or an earlier layer, found 'nowhere' (known: input)"},
      {net(R"({"op": "relu", "in": "labels"})"), "/layers/0/in",
       "undefined name: expected an input or an earlier layer, found 'labels' (known: input)"},
      {net(R"({"name": "dead", "op": "relu"}, {"op": "relu", "in": "input"})"), "/layers/0",
       "unused: expected a later layer that takes the output of 'dead', found none"},
      {net(R"({"op": "relu", "when": 1})"), "/layers/0/when", "expected true or false, found 1"},
      {net(R"({"op": "relu", "when": "$x"})"), "/layers/0/when",
       "no parameter 'x' here: expected a value, as there are no parameters outside "
       R"(blocks, found "$x")"},
  };
  expect_errors(rows);
}

TEST(SpecErrors, OfNames) {
  const ErrorRow rows[] = {
      {net(R"({"name": "r", "op": "relu"}, {"name": "r", "op": "relu"})"), "/layers/1/name",
       "duplicate layer name: expected a name used once, found 'r' at /layers/0 too"},
      {net(R"({"name": "input", "op": "relu"})"), "/layers/0/name",
       "duplicate layer name: expected a name used once, found 'input' which is an input"},
      {net(R"({"name": "loss", "op": "relu"})"), "/layers/0/name",
       "'loss' is reserved: expected another name"},
      {net(R"({"name": "a.b", "op": "relu"})"), "/layers/0/name",
       "layer name: expected 1 to 64 letters, digits, '_' and '-', found 'a.b'"},
      {net(R"({"name": "1", "op": "relu"}, {"op": "relu"})"), "/layers/1",
       "duplicate layer name: expected a name used once, found '1' at /layers/0 too"},
      {net(R"({"name": 1, "op": "relu"})"), "/layers/0/name", "expected a name, found 1"},
      {net(R"({"name": "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn", "op": "relu"})"),
       "/layers/0/name",
       "layer name: expected 1 to 64 letters, digits, '_' and '-', found "
       "'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...'"},
  };
  expect_errors(rows);
}

}  // namespace
}  // namespace arenagrad
