#include "cli/report/timeline_recorder.h"

#include "experiments/trace_recording.h"

namespace arenagrad::cli {
namespace {

using What = TimelineEvent::What;

/// What a buffer belongs to: the layer that owns it or makes it, not the one at work.
std::string owner_of(const Buffer& buffer, const Tape& tape) {
  const auto without_member = [](const std::string& name) {
    return name.substr(0, name.rfind('.'));
  };
  switch (buffer.holds) {
    case Holds::parameter:
    case Holds::parameter_gradient:
    case Holds::momentum:
    case Holds::second_moment: return without_member(tape.parameters()[buffer.index].name);
    case Holds::state: return without_member(tape.states()[buffer.index].name);
    case Holds::tensor:
    case Holds::tensor_gradient: {
      const auto& tensor = tape.tensors()[buffer.index];
      return tensor.producer == kNoNode ? tensor.name : tape.node(tensor.producer).name;
    }
    case Holds::stash:
    case Holds::workspace:
    case Holds::temporary: return tape.nodes()[buffer.index].name;
    case Holds::library: break;
  }
  return "";
}

class Recorder final : public TraceSink {
 public:
  Recorder(const Program& program, const Tape& tape) : program_(program), tape_(tape) {}

  void begin(const TraceHeader& header) override { timeline_.alignment = header.alignment; }
  void end() override {}

  void event(const TraceEvent& event) override {
    using Kind = TraceEvent::Kind;
    switch (event.kind) {
      case Kind::scope: return enter(event);
      case Kind::refuse: return;  // nothing that a ledger has seen
      case Kind::allocate: return allocate(event);
      case Kind::free: {
        auto freed = born_.at(event.id);
        freed.what = What::free;
        return add(freed);
      }
      case Kind::reserve: return driver(What::reserve, event);
      case Kind::release: return driver(What::release, event);
      case Kind::commit: return driver(What::commit, event);
      case Kind::decommit: return driver(What::decommit, event);
      case Kind::map: return driver(What::map, event);
      case Kind::unmap: return driver(What::unmap, event);
    }
  }

  Timeline take() { return std::move(timeline_); }

 private:
  std::int64_t layer(std::string_view name) {
    if (name.empty()) return -1;
    const auto [at, fresh] =
        layers_.try_emplace(std::string(name), static_cast<std::int64_t>(layers_.size()));
    if (fresh) timeline_.layers.emplace_back(name);
    return at->second;
  }

  void enter(const TraceEvent& event) {
    const TimelineScope scope{std::string(event.phase), layer(event.name)};
    const auto [at, fresh] = scopes_.try_emplace(
        {scope.phase, scope.layer}, static_cast<std::uint32_t>(timeline_.scopes.size()));
    if (fresh) timeline_.scopes.push_back(scope);
    scope_ = at->second;
    step_ = event.step;
  }

  /// A buffer is born once in each round of a repeat, and each round is another micro-batch.
  void allocate(const TraceEvent& event) {
    const BufferId id{static_cast<std::uint32_t>(event.id)};
    const auto& buffer = program_.buffer(id);
    TimelineEvent out{.what = What::allocate,
                      .buffer = static_cast<std::uint32_t>(event.id),
                      .offset = event.offset,
                      .granted = event.granted};
    const auto alike = describe_alike(program_, tape_, id);
    const bool micro = event.name != alike;  // named after it where there are several
    auto& births = births_[event.id];
    births = {step_, births.step == step_ ? births.count + 1 : 1};
    if (micro) out.micro = buffer.micro + births.count - 1;
    const auto shape = buffer.category == Category::workspace
                           ? std::string("scratch")
                           : buffer.shape.text() + " " + std::string(name(buffer.dtype));
    BufferKind kind{alike, buffer.category, shape, buffer.bytes, layer(owner_of(buffer, tape_)),
                    micro};
    out.kind = kind_of(std::move(kind));
    born_[event.id] = out;
    add(out);
  }

  std::uint32_t kind_of(BufferKind kind) {
    const auto [at, fresh] = kinds_.try_emplace({kind.name, kind.shape, kind.bytes, kind.category},
                                                static_cast<std::uint32_t>(kinds_.size()));
    if (fresh) timeline_.kinds.push_back(std::move(kind));
    return at->second;
  }

  void driver(What what, const TraceEvent& event) {
    add({.what = what, .offset = event.offset, .granted = event.bytes});
  }

  void add(TimelineEvent event) {
    // A driver may be called before anything is at work.
    if (timeline_.scopes.empty()) enter({.phase = "setup"});
    event.scope = scope_;
    event.step = step_;
    timeline_.events.push_back(event);
  }

  const Program& program_;
  const Tape& tape_;
  Timeline timeline_;
  std::map<std::string, std::int64_t, std::less<>> layers_;
  std::map<std::pair<std::string, std::int64_t>, std::uint32_t> scopes_;
  std::map<std::tuple<std::string, std::string, std::size_t, Category>, std::uint32_t> kinds_;
  std::map<std::uint64_t, TimelineEvent> born_;
  struct Births {
    std::int64_t step = 0, count = 0;  // in that step
  };
  std::map<std::uint64_t, Births> births_;
  std::uint32_t scope_ = 0;
  std::int64_t step_ = 0;
};

}  // namespace

Timeline record_timeline(const Experiment& experiment, std::span<const Event> log) {
  Recorder recorder(experiment.program, experiment.model->tape);
  record_trace(experiment, log, recorder);
  return recorder.take();
}

}  // namespace arenagrad::cli
