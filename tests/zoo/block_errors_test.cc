// Errors of blocks, their parameters and rounds, and of shared weights.
#include "tests/zoo/error_table.h"

namespace arenagrad {
namespace {

TEST(SpecErrors, OfBlockDefinitions) {
  const ErrorRow rows[] = {
      {block_net(R"("b": {})"), "/blocks/b",
       "missing key 'layers': expected a list of one or more layers, found nothing"},
      {block_net(R"("b": 3)"), "/blocks/b",
       R"(expected a block: an object with "layers", found 3)"},
      {block_net(R"("a b": {"layers": [{"op": "relu"}]})"), "/blocks/a b",
       "block name: expected 1 to 64 letters, digits, '_' and '-', found 'a b'"},
      {block_net(R"("b": {"layer": []})"), "/blocks/b/layer",
       "unknown key 'layer' of a block (did you mean 'layers'?)"},
      {block_net(R"("b": {"parameters": {"n": "x"}, "layers": [{"op": "relu"}]})"),
       "/blocks/b/parameters/n",
       R"(expected a number, true, false, [height, width] or "$parameter", found "x")"},
      {block_net(R"("b": {"parameters": {"n": [1, 2, 3]}, "layers": [{"op": "relu"}]})"),
       "/blocks/b/parameters/n",
       R"(expected a number, true, false, [height, width] or "$parameter", found an array )"
       "of 3"},
      {block_net(R"("b": {"parameters": {"n": "$m"}, "layers": [{"op": "relu"}]})"),
       "/blocks/b/parameters/n",
       "no parameter 'm' here: expected a value, as there are no parameters outside "
       R"(blocks, found "$m")"},
      {block_net(R"("b": {"parameters": {"n!": 1}, "layers": [{"op": "relu"}]})"),
       "/blocks/b/parameters/n!",
       "parameter name: expected 1 to 64 letters, digits, '_' and '-', found 'n!'"},
      {block_net(R"("b": {"inputs": ["x", "x"], "layers": [{"op": "relu"}]})"),
       "/blocks/b/inputs/1", "duplicate input name: expected a name used once, found 'x' again"},
      {block_net(R"("b": {"inputs": [], "layers": [{"op": "relu"}]})"), "/blocks/b/inputs",
       "expected a list of one or more names, found an empty array"},
      {block_net(R"("b": {"inputs": ["x", "y"], "layers": [{"op": "relu"}]})"),
       "/blocks/b/layers/0",
       "missing key 'in': expected an input's name, as there are several to start from, "
       "found nothing"},
      {block_net(R"("b": {"layers": [{"op": "rleu"}]})", R"({"op": "relu"})"),
       "/blocks/b/layers/0/op",
       "unknown op: expected one of the ops, found 'rleu' (did you mean 'relu'?)"},
  };
  expect_errors(rows);
}

TEST(SpecErrors, OfBlockUses) {
  const ErrorRow rows[] = {
      {net(R"({"block": "nix"})"), "/layers/0/block",
       R"(unknown block: expected one of "blocks", found 'nix')"},
      {block_net(R"("basic": {"layers": [{"op": "relu"}]})", R"({"block": "basik"})"),
       "/layers/0/block",
       R"(unknown block: expected one of "blocks", found 'basik' (did you mean 'basic'?))"},
      {block_net(R"("b": {"layers": [{"op": "relu"}]})", R"({"block": "b", "stride": 2})"),
       "/layers/0/stride",
       "unknown key 'stride' of a layer made of a block (known: block, with, first, "
       "weights, repeat, shared, name, in, when, description)"},
      {block_net(R"("b": {"parameters": {"n": null}, "layers": [{"op": "relu"}]})"), "/layers/0",
       "missing parameter: expected 'n' in 'with' for block 'b', found nothing"},
      {block_net(R"("b": {"parameters": {"n": 1}, "layers": [{"op": "relu"}]})",
                 R"({"block": "b", "with": {"m": 2}})"),
       "/layers/0/with/m", "unknown parameter 'm' of block 'b' (known: n)"},
      {block_net(R"("b": {"parameters": {"n": 1}, "layers": [{"op": "relu"}]})",
                 R"({"block": "b", "with": {"n": "many"}})"),
       "/layers/0/with/n",
       R"(expected a number, true, false, [height, width] or "$parameter", found "many")"},
      {block_net(R"("b": {"parameters": {"n": 1}, "layers": [{"op": "relu"}]})",
                 R"({"block": "b", "with": [2]})"),
       "/layers/0/with", "expected an object with the block's parameters, found an array of 1"},
      {block_net(R"("b": {"parameters": {"n": null}, "layers": [{"op": "relu"}]})",
                 R"({"block": "b", "repeat": 2, "first": {"n": 1}})"),
       "/layers/0", "missing parameter: expected 'n' in 'with' for block 'b', found nothing"},
      {block_net(R"("b": {"inputs": ["x", "y"], "layers": [{"op": "add", "in": ["x", "y"]}]})"),
       "/layers/0",
       "wrong number of inputs: expected 2 for block 'b', found 1, the layer before; "
       "list them in 'in'"},
      {block_net(R"("b": {"inputs": ["x", "y"], "layers": [{"op": "add", "in": ["x", "y"]}]})",
                 R"({"block": "b", "repeat": 2, "in": ["input", "input"]})"),
       "/layers/0/repeat", "expected a block with one input to repeat, found block 'b' with 2"},
  };
  expect_errors(rows);
}

TEST(SpecErrors, OfCycles) {
  const ErrorRow rows[] = {
      {block_net(R"("b": {"layers": [{"block": "b"}]})"), "/blocks/b/layers/0/block",
       "blocks include each other: expected an end, found b -> b"},
      {block_net(
           R"("b": {"layers": [{"block": "c"}]}, "c": {"layers": [{"layers": [{"block": "b"}]}]})"),
       "/blocks/c/layers/0/layers/0/block",
       "blocks include each other: expected an end, found b -> c -> b"},
      {block_net(
           R"("b": {"parameters": {"n": false}, "layers": [{"op": "relu"}, {"when": "$n", "block": "b"}]})"),
       "/blocks/b/layers/1/block", "blocks include each other: expected an end, found b -> b"},
  };
  expect_errors(rows);
}

TEST(SpecErrors, OfParameters) {
  const ErrorRow rows[] = {
      {block_net(R"("b": {"parameters": {"p": 2}, "layers": [{"op": "dropout", "p": "$p"}]})"),
       "/blocks/b/layers/0/p",
       R"(expected a number from 0 to below 1, found 2, the value of "$p")"},
      {block_net(
           R"("b": {"parameters": {"channels": 2}, "layers": [{"op": "dropout", "p": "$chanels"}]})"),
       "/blocks/b/layers/0/p",
       "no parameter 'chanels' here: expected one of the block's parameters, found "
       R"("$chanels" (did you mean 'channels'?))"},
      {block_net(R"("b": {"parameters": {"p": 2}, "layers": [{"op": "dropout", "p": "$p +"}]})"),
       "/blocks/b/layers/0/p",
       R"(no parameter 'p +' here: expected one of the block's parameters, found "$p +" )"
       "(known: p)"},
      {block_net(R"("b": {"parameters": {"p": 2}, "layers": [{"op": "dropout", "p": "x * $p"}]})"),
       "/blocks/b/layers/0/p",
       R"(expected "$parameter" or a product like "4 * $parameter", found "x * $p")"},
      {block_net(
           R"("b": {"parameters": {"p": true}, "layers": [{"op": "conv2d", "out_channels": "2 * $p", "kernel": 1}]})"),
       "/blocks/b/layers/0/out_channels",
       R"(expected integers to multiply, found true in "2 * $p")"},
      {block_net(
           R"("b": {"parameters": {"p": 4611686018427387904}, "layers": [{"op": "conv2d", "out_channels": "2 * $p", "kernel": 1}]})"),
       "/blocks/b/layers/0/out_channels",
       R"(expected a product within 64 bits, found a larger one: the value of "2 * $p")"},
      {block_net(
           R"("b": {"parameters": {"p": [1, 2]}, "layers": [{"op": "conv2d", "out_channels": "$p", "kernel": 1}]})"),
       "/blocks/b/layers/0/out_channels",
       R"(expected an integer from 1 to 2147483647, found [1, 2], the value of "$p")"},
      {block_net(
           R"("b": {"parameters": {"p": [1, 0]}, "layers": [{"op": "conv2d", "out_channels": 1, "kernel": "$p"}]})"),
       "/blocks/b/layers/0/kernel",
       "expected an integer from 1 to 2147483647 or [height, width], found [1, 0], the "
       R"(value of "$p")"},
      {block_net(
           R"("b": {"parameters": {"p": 0.5}, "layers": [{"op": "conv2d", "out_channels": 1, "kernel": [1, "$p"]}]})"),
       "/blocks/b/layers/0/kernel/1",
       R"(expected an integer from 1 to 2147483647, found 0.5, the value of "$p")"},
      {block_net(R"("b": {"parameters": {"p": 3}, "layers": [{"when": "$p", "op": "relu"}]})"),
       "/blocks/b/layers/0/when", R"(expected true or false, found 3, the value of "$p")"},
      {block_net(
           R"("b": {"parameters": {"p": 0}, "layers": [{"repeat": "$p", "layers": [{"op": "relu"}]}]})"),
       "/blocks/b/layers/0/repeat",
       R"(expected an integer from 1 to 100000, found 0, the value of "$p")"},
  };
  expect_errors(rows);
}

TEST(SpecErrors, OfScopes) {
  const ErrorRow rows[] = {
      {block_net(R"("b": {"layers": [{"name": "inner", "op": "relu"}]})",
                 R"({"name": "o", "block": "b"}, {"op": "relu", "in": "o.inner"})"),
       "/layers/1/in",
       "expected a layer of this list, found 'o.inner', which is inside 'o': only its "
       "output can be used"},
      {block_net(R"("b": {"layers": [{"op": "relu", "in": "outer"}]})",
                 R"({"name": "outer", "op": "relu"}, {"block": "b"})"),
       "/blocks/b/layers/0/in",
       "undefined name: expected an input or an earlier layer of this block or group, "
       "found 'outer' (known: input)"},
  };
  expect_errors(rows);
}

TEST(SpecErrors, OfRounds) {
  const ErrorRow rows[] = {
      {block_net(R"("b": {"layers": [{"op": "relu"}]})", R"({"block": "b", "repeat": 0})"),
       "/layers/0/repeat", "expected an integer from 1 to 100000, found 0"},
      {block_net(R"("b": {"layers": [{"op": "relu"}]})", R"({"block": "b", "first": {}})"),
       "/layers/0/first", "'first' is about rounds: expected 'repeat' beside it, found none"},
      {net(R"({"layers": [{"op": "relu"}], "shared": true})"), "/layers/0/shared",
       "'shared' is about rounds: expected 'repeat' beside it, found none"},
      {net(R"({"layers": [{"op": "relu"}], "repeat": 100001})"), "/layers/0/repeat",
       "expected an integer from 1 to 100000, found 100001"},
      {net(R"({"repeat": 1000, "layers": [{"repeat": 1000, "layers": [{"op": "relu"}]}]})"),
       "/layers/0/layers/0/layers/0",
       "too many layers once blocks and repeats are unfolded: expected at most 100000, "
       "found more"},
      {net(R"({"repeat": 90000, "layers": [{"op": "add", "in": ["input", "input", "input", "input", "input", "input", "input", "input", "input", "input", "input", "input"]}]})"),
       "/layers/0/layers/0",
       "too many references once blocks and repeats are unfolded: expected at most "
       "1000000, found more"},
  };
  expect_errors(rows);
}

TEST(SpecErrors, OfSharedWeights) {
  const ErrorRow rows[] = {
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3}, {"op": "conv2d", "out_channels": 8, "kernel": 3, "weights": "c"})"),
       "/layers/1/weights",
       "shared weights don't fit: expected the parameters of a conv2d with 8x4x3x3, 8, "
       R"(got those of "c", a conv2d with 4x3x3x3, 4, in layer "1")"},
      {net(R"({"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "weights": "d"})"),
       "/layers/0/weights", "no weights to share: expected an earlier layer's name, found 'd'"},
      {net(R"({"name": "r", "op": "relu"}, {"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3, "weights": "r"})"),
       "/layers/1/weights",
       "shared weights don't fit: expected the parameters of a conv2d with 4x3x3x3, 4, "
       R"(got those of "r", a relu, in layer "c")"},
      {net(R"({"layers": [{"op": "relu"}], "weights": "q"})"), "/layers/0/weights",
       "no weights to share: expected the name of an earlier block or group, found 'q'"},
      {net(R"({"name": "a", "layers": [{"op": "relu"}]}, {"name": "z", "layers": [{"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3}], "weights": "a"})"),
       "/layers/1/weights", "no weights to share: expected a layer 'a.c' for 'z.c', found none"},
      {net(R"({"name": "a", "layers": [{"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3}]}, {"name": "z", "layers": [{"name": "c", "op": "batch_norm"}], "weights": "a"})"),
       "/layers/1/weights",
       "shared weights don't fit: expected the parameters of a batch_norm with 4, 4, got "
       R"(those of "a.c", a conv2d with 4x3x3x3, 4, in layer "z.c")"},
      {net(R"({"repeat": 2, "shared": true, "layers": [{"name": "c", "op": "conv2d", "out_channels": 4, "kernel": 3}]})"),
       "/layers/0/shared",
       "shared weights don't fit: expected the parameters of a conv2d with 4x4x3x3, 4, "
       R"(got those of "0.0.c", a conv2d with 4x3x3x3, 4, in layer "0.1.c")"},
  };
  expect_errors(rows);
}

}  // namespace
}  // namespace arenagrad
