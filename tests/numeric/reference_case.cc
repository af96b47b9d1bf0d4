#include "tests/numeric/reference_case.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/numeric/npy.h"

namespace arenagrad::numeric {
namespace {

using nlohmann::json;

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::int64_t n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}

/// The files of one case.
class Files {
 public:
  explicit Files(std::string folder) : folder_(std::move(folder)) {}

  NpyArray read(const json& file, const std::vector<std::int64_t>& shape) const {
    const std::string path = folder_ + "/" + file.get<std::string>();
    NpyArray array = read_npy(path);
    // A single value is stored as a scalar or as one element.
    if (array.shape.empty()) array.shape.assign(shape.size(), 1);
    if (array.shape != shape)
      throw Error(path + ": expected shape " + shape_text(shape) + ", got " +
                  shape_text(array.shape));
    return array;
  }

  Values values(const json& file, const std::vector<std::int64_t>& shape) const {
    NpyArray array = read(file, shape);
    if (!array.integers.empty())
      throw Error(folder_ + "/" + file.get<std::string>() + ": expected floating-point data");
    return {std::move(array.values), array.type == DType::f32};
  }

 private:
  std::string folder_;
};

std::vector<std::int64_t> dims(const Shape& shape) {
  return {shape.dims().begin(), shape.dims().end()};
}

OptimizerSpec read_sgd(const json& sgd) {
  if (sgd.value("dampening", 0.0) != 0)
    throw Error("sgd: expected dampening 0, got " + sgd.at("dampening").dump());
  OptimizerSpec spec;
  spec.kind = OptimizerSpec::Kind::sgd;
  spec.learning_rate = sgd.at("lr");
  spec.momentum = sgd.value("momentum", 0.0);
  spec.weight_decay = sgd.value("weight_decay", 0.0);
  spec.nesterov = sgd.value("nesterov", false);
  return spec;
}

RunMode read_mode(const std::string& mode) {
  if (mode == "train") return RunMode::train;
  if (mode == "eval") return RunMode::eval;
  throw Error("mode: expected train or eval, got '" + mode + "'");
}

enum class Presence { required, optional };

/// Adds what a file of `entry` holds, where it has one: "grad_f32", or "grad_f64" without it.
void expect(Results& results, Kind kind, const std::string& name, const Files& files,
            const json& entry, const std::string& key, const std::string& type, const Shape& shape,
            Presence presence) {
  for (const std::string& file : {key + "_" + type, key + "_f64"}) {
    if (!entry.contains(file)) continue;
    results[kind][name] = files.values(entry.at(file), dims(shape));
    return;
  }
  if (presence == Presence::required)
    throw Error("files: expected " + key + "_" + type + " of '" + name + "', got none");
}

/// The entry of a parameter or state; every entry has to belong to one.
const json& entry_of(const json& entries, const std::string& name) {
  if (!entries.contains(name)) throw Error("files: expected an entry for '" + name + "', got none");
  return entries.at(name);
}

template <class Known>
void check_all_known(const json& entries, const Known& known, const char* what) {
  for (const auto& [name, unused] : entries.items()) {
    bool found = false;
    for (const auto& item : known) found = found || item.name == name;
    if (!found) throw Error(std::string("files: the net has no ") + what + " '" + name + "'");
  }
}

void read_start(const json& files_of, const Files& files, ReferenceCase& to) {
  const Tape& tape = to.net.tape;
  const Shape input = tape.tensor(to.net.samples).shape.with_batch(to.batch);
  to.samples = files.values(files_of.at("input"), dims(input)).values;
  to.labels = files.read(files_of.at("labels"), {to.batch}).integers;
  if (to.labels.size() != static_cast<std::size_t>(to.batch))
    throw Error("labels: expected 64-bit integers");

  for (const TapeParameter& parameter : tape.parameters()) {
    const json& entry = entry_of(files_of.at("params"), parameter.name);
    to.parameters.push_back(files.values(entry.at("init"), dims(parameter.shape)).values);
  }
  check_all_known(files_of.at("params"), tape.parameters(), "parameter");

  const json buffers = files_of.value("buffers", json::object());
  for (const TapeState& state : tape.states()) {
    // Counters are integers and start at 0; they decide nothing here.
    to.states.emplace_back();
    if (state.dtype) continue;
    const json& entry = entry_of(buffers, state.name);
    to.states.back() = files.values(entry.at("init"), dims(state.shape)).values;
  }
  check_all_known(buffers, tape.states(), "state");
}

Results read_expected(const json& of, const Files& files, const ReferenceCase& reference,
                      const std::string& type) {
  using enum Presence;
  const Tape& tape = reference.net.tape;
  const json& files_of = of.at("files");
  const auto whole = [&](TensorId id) { return tape.tensor(id).shape.with_batch(reference.batch); };
  Results results;
  results[Kind::loss]["losses"] = {of.at("losses_" + type).get<std::vector<double>>()};
  expect(results, Kind::logits, "logits", files, files_of, "logits", type,
         whole(tape.node(reference.net.layers.back()).output), required);
  expect(results, Kind::input_gradient, "x", files, files_of, "input_grad", type,
         whole(reference.net.samples), optional);
  const json activations = files_of.value("activations_f64", json::object());
  for (NodeId id : reference.net.layers) {
    const TapeNode& node = tape.node(id);
    if (activations.contains(node.name))
      results[Kind::activation][node.name] =
          files.values(activations.at(node.name), dims(whole(node.output)));
  }
  for (const TapeParameter& parameter : tape.parameters()) {
    const json& entry = files_of.at("params").at(parameter.name);
    expect(results, Kind::gradient, parameter.name, files, entry, "grad", type, parameter.shape,
           required);
    expect(results, Kind::parameter_after2, parameter.name, files, entry, "after2", type,
           parameter.shape, required);
  }
  for (const TapeState& state : tape.states()) {
    if (state.dtype) continue;
    const json& entry = files_of.at("buffers").at(state.name);
    expect(results, Kind::state_after1, state.name, files, entry, "after1", type, state.shape,
           optional);
    expect(results, Kind::state_after2, state.name, files, entry, "after2", type, state.shape,
           optional);
  }
  return results;
}

ReferenceCase read_case(const std::string& name, const json& of, const json& sgd,
                        const std::string& folder, std::optional<DType> dtype) {
  ReferenceCase result;
  result.name = name;
  result.run = read_mode(of.at("mode"));
  result.batch = of.at("batch");
  if (of.at("input_shape").at(0) != result.batch)
    throw Error("input_shape: expected the batch " + std::to_string(result.batch) +
                " in front, got " + of.at("input_shape").dump());
  result.optimizer = read_sgd(sgd);
  result.net = build_net(of);
  const Files files(folder + "/" + name);
  read_start(of.at("files"), files, result);
  if (dtype != DType::f64) result.f32 = read_expected(of, files, result, "f32");
  if (dtype != DType::f32) result.f64 = read_expected(of, files, result, "f64");
  return result;
}

}  // namespace

std::vector<ReferenceCase> read_cases(const std::string& folder, std::optional<DType> dtype) {
  const std::string path = folder + "/cases.json";
  std::ifstream file(path);
  if (!file) throw Error("cannot read " + path);
  std::vector<ReferenceCase> cases;
  std::string where = path;
  try {
    const json document = json::parse(file);
    for (const auto& [name, of] : document.at("cases").items()) {
      where = path + ": case " + name;
      cases.push_back(read_case(name, of, document.at("sgd"), folder, dtype));
    }
  } catch (const std::exception& error) {
    throw Error(where + ": " + error.what());
  }
  if (cases.empty()) throw Error(path + ": expected at least one case, got none");
  return cases;
}

}  // namespace arenagrad::numeric
