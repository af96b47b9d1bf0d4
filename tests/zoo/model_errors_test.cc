// Errors of a model as a whole.
#include "tests/zoo/error_table.h"

namespace arenagrad {
namespace {

TEST(SpecErrors, OfTheWhole) {
  const ErrorRow rows[] = {
      {R"([1, 2])", "",
       R"(expected a model: a JSON object with "input", "classes" and "layers", found an )"
       "array of 2"},
      {R"(7)", "",
       R"(expected a model: a JSON object with "input", "classes" and "layers", found 7)"},
      {R"({"classes": 4, "layers": [{"op": "relu"}]})", "",
       R"(missing key 'input': expected a shape like [3, 224, 224] (or "inputs"), found )"
       "nothing"},
      {R"({"input": [3], "layers": [{"op": "relu"}]})", "",
       "missing key 'classes': expected the number of classes, found nothing"},
      {R"({"input": [3], "classes": 3})", "",
       "missing key 'layers': expected a list of one or more layers, found nothing"},
      {R"({"input": [3], "classes": 4, "layers": [{"op": "relu"}], "classes": 4})", "/classes",
       "duplicate key 'classes': expected once, found 4 and 4"},
      {net(R"({"op": "relu"})", R"("clases": 4, )"), "/clases",
       "unknown key 'clases' of a model (did you mean 'classes'?)"},
      {net(R"({"op": "relu"})", R"("name": "a/b", )"), "/name",
       "model name: expected 1 to 64 letters, digits, '_' and '-', found 'a/b'"},
      {net(R"({"op": "relu"})", R"("name": "", )"), "/name",
       "model name: expected 1 to 64 letters, digits, '_' and '-', found ''"},
      {net(R"({"op": "relu"})", R"("description": 3, )"), "/description",
       "expected a text, found 3"},
      {net(R"({"op": "relu"})", R"("$schema": 3, )"), "/$schema",
       "expected a path or an address, found 3"},
  };
  expect_errors(rows);
}

TEST(SpecErrors, OfInputs) {
  const ErrorRow rows[] = {
      {R"({"input": [3], "inputs": {"a": [3]}, "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/inputs", "expected either 'input' or 'inputs', found both"},
      {R"({"input": 3, "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/input", "expected a shape: a list of 1 to 4 integers, like [3, 224, 224], found 3"},
      {R"({"input": [], "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/input",
       "expected a shape: a list of 1 to 4 integers, like [3, 224, 224], found an empty array"},
      {R"({"input": [1, 2, 3, 4, 5], "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/input",
       "expected a shape: a list of 1 to 4 integers, like [3, 224, 224], found an array of 5"},
      {R"({"input": [3, 0, 8], "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/input/1", "expected an integer of at least 1, found 0"},
      {R"({"input": [3, 8.0, 8], "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/input/1",
       "expected an integer of at least 1, found 8.0: write it without fraction and exponent"},
      {R"({"input": [3, 1e1, 8], "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/input/1",
       "expected an integer of at least 1, found 1e1: write it without fraction and exponent"},
      {R"({"input": [3, "8", 8], "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/input/1", R"(expected an integer of at least 1, found "8")"},
      {R"({"input": [3, "$h", 8], "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/input/1",
       "no parameter 'h' here: expected a value, as there are no parameters outside "
       R"(blocks, found "$h")"},
      {R"({"input": [18446744073709551616], "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/input/0",
       "expected an integer of at least 1, found 18446744073709551616, which is no "
       "signed 64-bit integer"},
      {R"({"input": [9223372036854775808], "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/input/0",
       "expected an integer of at least 1, found 9223372036854775808, which is no signed "
       "64-bit integer"},
      {R"({"input": [4294967296, 4294967296, 2], "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/input",
       "sizes beyond 64 bits: product of sizes: expected at most 2^63 - 1, got "
       "4294967296 * 4294967296"},
      {R"({"input": [1152921504606846976], "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/input",
       "sizes beyond 64 bits: product of sizes: expected at most 2^63 - 1, got "
       "1152921504606846976 * 8"},
      {R"({"inputs": {}, "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/inputs", "expected an object with a shape for each input's name, found an empty object"},
      {R"({"inputs": [3], "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/inputs", "expected an object with a shape for each input's name, found an array of 1"},
      {R"({"inputs": {"a b": [3]}, "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/inputs/a b", "input name: expected 1 to 64 letters, digits, '_' and '-', found 'a b'"},
      {R"({"inputs": {"labels": [3]}, "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/inputs/labels", "'labels' is reserved: expected another name"},
      {R"({"inputs": {"a": [3, 8, 8], "b": [3]}, "classes": 4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/layers/0",
       "missing key 'in': expected an input's name, as there are several to start from, "
       "found nothing"},
      {R"({"inputs": {"a": [3, 8, 8], "b": [3]}, "classes": 4, "layers": [{"op": "flatten", "in": "a"}, {"op": "linear", "out_features": 4}]})",
       "/inputs/b", "unused: expected a layer that takes input 'b', found none"},
  };
  expect_errors(rows);
}

TEST(SpecErrors, OfClasses) {
  const ErrorRow rows[] = {
      {R"({"input": [3, 8, 8], "classes": 0, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/classes", "expected an integer from 1 to 2147483647, found 0"},
      {R"({"input": [3, 8, 8], "classes": -4, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/classes", "expected an integer from 1 to 2147483647, found -4"},
      {R"({"input": [3, 8, 8], "classes": 1e1, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/classes",
       "expected an integer from 1 to 2147483647, found 1e1: write it without fraction "
       "and exponent"},
      {R"({"input": [3, 8, 8], "classes": 4.0, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/classes",
       "expected an integer from 1 to 2147483647, found 4.0: write it without fraction "
       "and exponent"},
      {R"({"input": [3, 8, 8], "classes": true, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/classes", "expected an integer from 1 to 2147483647, found true"},
      {R"({"input": [3, 8, 8], "classes": "$n", "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/classes",
       "no parameter 'n' here: expected a value, as there are no parameters outside "
       R"(blocks, found "$n")"},
      {R"({"input": [3, 8, 8], "classes": 5, "layers": [{"op": "flatten"}, {"op": "linear", "out_features": 4}]})",
       "/classes",
       "the last layer has to give one number per class: expected shape 5, found 4 from "
       "layer '1'"},
      {R"({"input": [3, 8, 8], "classes": 4, "layers": [{"name": "r", "op": "relu"}]})", "/classes",
       "the last layer has to give one number per class: expected shape 4, found 3x8x8 "
       "from layer 'r'"},
  };
  expect_errors(rows);
}

TEST(SpecErrors, OfInit) {
  const ErrorRow rows[] = {
      {net(R"({"op": "relu"})", R"("init": "xavier", )"), "/init",
       R"(expected "pytorch", "kaiming_fan_out" or {"normal": STANDARD_DEVIATION}, found )"
       R"("xavier")"},
      {net(R"({"op": "relu"})", R"("init": {"conv": "pytorch"}, )"), "/init/conv",
       R"(unknown key 'conv' of "init" (did you mean 'conv2d'?))"},
      {net(R"({"op": "relu"})", R"("init": {"normal": -1}, )"), "/init/normal",
       "expected a number of at least 0, found -1"},
      {net(R"({"op": "relu"})", R"("init": {"normal": 1, "bias": 0}, )"), "/init",
       R"(expected "pytorch", "kaiming_fan_out" or {"normal": STANDARD_DEVIATION}, found )"
       "an object"},
      {net(R"({"op": "relu"})", R"("init": {"linear": {"normal": "$x"}}, )"), "/init/linear/normal",
       "no parameter 'x' here: expected a value, as there are no parameters outside "
       R"(blocks, found "$x")"},
      {net(R"({"op": "relu"})", R"("init": {"conv2d": 0}, )"), "/init/conv2d",
       R"(expected "pytorch", "kaiming_fan_out" or {"normal": STANDARD_DEVIATION}, found 0)"},
  };
  expect_errors(rows);
}

TEST(SpecErrors, OfTheLoss) {
  const ErrorRow rows[] = {
      {net(R"({"op": "relu"})", R"("loss": "mean", )"), "/loss",
       R"(expected a loss like {"op": "softmax_cross_entropy", "reduction": "mean"}, found )"
       R"("mean")"},
      {net(R"({"op": "relu"})", R"("loss": {"reduction": "avg"}, )"), "/loss/reduction",
       R"(expected "mean" or "sum", found "avg")"},
      {net(R"({"op": "relu"})", R"("loss": {"op": "mse"}, )"), "/loss/op",
       R"(expected "softmax_cross_entropy", "cross_entropy_of_mean_logits", "variance" or )"
       R"("contrastive", found "mse")"},
      {net(R"({"op": "relu"})", R"("loss": {"op": "contrastive", "margin": 0}, )"), "/loss/margin",
       R"(expected a number above 0, found 0)"},
      {net(R"({"op": "relu"})", R"("loss": {"op": "variance", "margin": 1}, )"), "/loss/margin",
       R"(unknown key 'margin' of this loss (known: op))"},
      {net(R"({"op": "relu"})", R"("loss": {"reduce": "sum"}, )"), "/loss/reduce",
       R"(unknown key 'reduce' of "loss" (did you mean 'reduction'?))"},
  };
  expect_errors(rows);
}

}  // namespace
}  // namespace arenagrad
