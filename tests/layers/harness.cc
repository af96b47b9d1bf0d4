#include "tests/layers/harness.h"

#include <algorithm>

#include "tests/layers/backend_under_test.h"
#include "tests/layers/contexts.h"

namespace arenagrad::testing {
namespace {

constexpr RandomStream kDropout{
    .seed = 7, .purpose = RandomPurpose::dropout, .node = 3, .step = 2, .first_sample = 5};

bool is_labels(const Subject& subject, std::size_t input) {
  return subject.layer.is_loss() && input + 1 == subject.inputs.size();
}

class Bench {
 public:
  Bench(const Subject& subject, const Scenario& scenario, const Values& values)
      : subject_(subject),
        scenario_(scenario),
        signature_(subject.layer.signature(subject.inputs)),
        memory_(scenario.fill),
        backend_(make_backend_under_test(scenario.threads)) {
    b_.backend = backend_.get();
    b_.dropout = kDropout;
    b_.batch = subject.batch;
    b_.mode = scenario.mode;
    b_.dtype = scenario.dtype;
    b_.needs = needs_of(subject, scenario);
    b_.input_shapes = subject.inputs;
    b_.output_shape = signature_.output;
    b_.saves = scenario.saves;
    b_.updates_state = scenario.updates_state;
    b_.momentum = scenario.momentum;
    b_.seed = values.seed;
    b_.write = scenario.write;

    for (std::size_t i = 0; i < subject.inputs.size(); ++i)
      b_.inputs.push_back(memory_.tensor(whole(subject.inputs[i]),
                                         is_labels(subject, i) ? DType::i64 : scenario.dtype,
                                         values.inputs[i]));
    for (std::size_t i = 0; i < signature_.parameters.size(); ++i)
      b_.parameters.push_back(
          memory_.tensor(signature_.parameters[i].shape, scenario.dtype, values.parameters[i]));
    for (std::size_t i = 0; i < signature_.states.size(); ++i) {
      const StateSpec& state = signature_.states[i];
      b_.states.push_back(
          memory_.tensor(state.shape, state.dtype.value_or(scenario.dtype), values.states[i]));
    }
    if (scenario.saves)
      for (const StashSpec& stash : b_.needs.stashes)
        b_.stashes.push_back(stash.replaces_input0 ? b_.inputs[0]
                                                   : memory_.tensor(stash.shape, stash.dtype));
    make_output();
    b_.workspace = memory_.workspace(b_.needs.forward_workspace);
  }

  void forward() {
    ForwardPass pass(b_);
    if (!b_.needs.alias) subject_.layer.forward(pass);
    memory_.check_red_zones();
  }

  /// What does not live until backward dies.
  void end_forward() {
    const bool stash_in_input0 =
        std::any_of(b_.needs.stashes.begin(), b_.needs.stashes.end(),
                    [](const StashSpec& stash) { return stash.replaces_input0; });
    const bool shared = b_.output.data == b_.inputs[0].data;
    for (std::size_t i = 0; i < b_.inputs.size(); ++i) {
      const bool lives_on = b_.needs.reads_inputs[i] ||
                            (i == 0 && (stash_in_input0 || (shared && b_.needs.reads_output)));
      if (!lives_on) memory_.kill(b_.inputs[i]);
    }
    if (!b_.needs.reads_output && !shared) memory_.kill(b_.output);
  }

  void backward(const std::vector<double>& output_gradient) {
    if (!subject_.layer.is_loss())
      b_.output_gradient =
          memory_.tensor(whole(signature_.output), scenario_.dtype, output_gradient);
    make_gradients();
    b_.workspace = memory_.workspace(backward_workspace());
    if (b_.needs.alias || b_.needs.gradient_passes_through) {
      for (const Tensor& dx : b_.input_gradients)
        if (dx && dx.data != b_.output_gradient.data)
          backend_->add({b_.output_gradient.data, dx.shape, dx.dtype}, dx, b_.write);
    } else {
      BackwardPass pass(b_);
      subject_.layer.backward(pass);
    }
    memory_.check_red_zones();
  }

  const LayerBuffers& buffers() const { return b_; }

 private:
  std::size_t backward_workspace() const {
    const Needs& needs = b_.needs;
    if (scenario_.write == Write::overwrite) return needs.backward_workspace;
    return std::max(
        {needs.backward_workspace, needs.add_to_input_workspace, needs.add_to_parameter_workspace});
  }

  Shape whole(const Shape& sample) const { return sample.with_batch(subject_.batch); }

  void make_output() {
    const Shape shape = subject_.layer.is_loss() ? signature_.output : whole(signature_.output);
    check_contract(!scenario_.forward_in_place || b_.needs.forward_in_place,
                   "the layer does not run in place");
    if (b_.needs.alias || scenario_.forward_in_place)
      b_.output = {b_.inputs[0].data, shape, scenario_.dtype};
    else
      b_.output = memory_.tensor(shape, scenario_.dtype);
  }

  Tensor make_gradient(const Shape& shape) {
    const Tensor t = memory_.tensor(shape, scenario_.dtype);
    if (scenario_.write == Write::overwrite) return t;
    std::vector<double> prior(static_cast<std::size_t>(shape.elements()));
    for (std::size_t i = 0; i < prior.size(); ++i) prior[i] = prior_gradient(i);
    return memory_.tensor(shape, scenario_.dtype, prior);
  }

  void make_gradients() {
    for (std::size_t i = 0; i < b_.inputs.size(); ++i) {
      const bool wanted = scenario_.input_gradients && !is_labels(subject_, i);
      b_.input_gradients.push_back(wanted ? make_gradient(b_.inputs[i].shape) : Tensor{});
    }
    for (const Tensor& parameter : b_.parameters)
      b_.parameter_gradients.push_back(
          scenario_.parameter_gradients ? make_gradient(parameter.shape) : Tensor{});
    if (!scenario_.backward_in_place) return;
    check_contract(b_.needs.backward_in_place && scenario_.write == Write::overwrite,
                   "the layer's backward does not run in place");
    b_.input_gradients[0] = {b_.output_gradient.data, b_.inputs[0].shape, scenario_.dtype};
  }

  const Subject& subject_;
  const Scenario& scenario_;
  Signature signature_;
  GuardedMemory memory_;
  std::unique_ptr<Backend> backend_;
  LayerBuffers b_;
};

std::vector<std::vector<double>> all_values(const std::vector<Tensor>& tensors) {
  std::vector<std::vector<double>> values;
  for (const Tensor& t : tensors) values.push_back(t ? values_of(t) : std::vector<double>{});
  return values;
}

}  // namespace

double prior_gradient(std::size_t element) { return 0.5 + 0.25 * static_cast<double>(element % 7); }

Needs needs_of(const Subject& subject, const Scenario& scenario) {
  Profile profile = profile_under_test();
  profile.dropout_mask_is_float = scenario.mask_is_float;
  std::vector<bool> wanted;
  for (std::size_t i = 0; i < subject.inputs.size(); ++i)
    wanted.push_back(scenario.input_gradients && !is_labels(subject, i));
  return subject.layer.needs({.batch = subject.batch,
                              .inputs = subject.inputs,
                              .output = subject.layer.signature(subject.inputs).output,
                              .dtype = scenario.dtype,
                              .mode = scenario.mode,
                              .policy = scenario.policy,
                              .profile = profile,
                              .input_needs_gradient = wanted});
}

Outcome run(const Subject& subject, const Scenario& scenario, const Values& values) {
  Bench bench(subject, scenario, values);
  bench.forward();
  Outcome outcome;
  outcome.output = values_of(bench.buffers().output);
  outcome.states = all_values(bench.buffers().states);
  if (!scenario.saves || scenario.mode == RunMode::no_grad) return outcome;
  outcome.stashes = all_values(bench.buffers().stashes);
  bench.end_forward();
  bench.backward(values.output_gradient);
  outcome.input_gradients = all_values(bench.buffers().input_gradients);
  outcome.parameter_gradients = all_values(bench.buffers().parameter_gradients);
  return outcome;
}

}  // namespace arenagrad::testing
