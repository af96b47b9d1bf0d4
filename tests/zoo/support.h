// Short ways to write specs in tests.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "zoo/model.h"

namespace arenagrad {

inline std::string read_source(const std::string& path_from_root) {
  std::ifstream file(std::string(ARENAGRAD_SOURCE_DIR) + "/" + path_from_root);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A model of 3x8x8 inputs and 4 classes; `more` are further members, each with its comma.
inline std::string spec_with(const std::string& layers, const std::string& more = "") {
  return R"({"input": [3, 8, 8], "classes": 4, )" + more + R"("layers": [)" + layers + "]}";
}

/// The same, ended by layers that give the 4 classes.
inline std::string net(const std::string& layers, const std::string& more = "") {
  return spec_with(layers + R"(, {"name": "flat", "op": "flatten"},
                                 {"name": "out", "op": "linear", "out_features": 4})",
                   more);
}

inline Model parse(const std::string& text, const ModelOptions& options = {}) {
  return parse_model(text, "test.json", options);
}

/// The node's output; the test fails by an exception when there is no such node.
inline const TapeTensor& output_of(const Model& model, const std::string& node) {
  return model.tape.tensor(model.tape.node(model.tape.find_node(node).value()).output);
}

}  // namespace arenagrad
