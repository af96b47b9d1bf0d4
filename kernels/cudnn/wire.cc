#include "kernels/cudnn/wire.h"

#include <algorithm>
#include <sstream>

#include "allocator/error.h"
#include "kernels/backend.h"

namespace arenagrad::cudnn {
namespace {

template <class Number>
Number read(std::istream& in) {
  Number number{};
  in >> number;
  check_contract(!in.fail(), "a line from the other process that is none of ours");
  return number;
}

/// One line: whatever a library's message holds.
std::string flat(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// Every number of a problem, in one order for both directions.
template <class Problem, class Visit>
void each_number(Problem& p, Visit visit) {
  for (auto* number : {&p.batch, &p.in_channels, &p.in_h, &p.in_w, &p.out_channels, &p.kernel_h,
                       &p.kernel_w, &p.stride_h, &p.stride_w, &p.pad_h, &p.pad_w, &p.dilation_h,
                       &p.dilation_w, &p.groups, &p.out_h, &p.out_w})
    visit(*number);
}

}  // namespace

void write(std::ostream& out, const ConvKey& key) {
  each_number(key.problem, [&](std::int64_t number) { out << number << ' '; });
  out << static_cast<int>(key.problem.dtype) << ' ' << static_cast<int>(key.pass) << ' '
      << key.accumulate << ' ' << static_cast<int>(key.layout) << ' ' << key.alignment << ' '
      << static_cast<int>(key.type) << ' ';
}

void write(std::ostream& out, const EnginePolicy& policy) {
  out << policy.allow_tf32 << ' ' << policy.allow_nondeterministic << ' '
      << static_cast<int>(policy.workspace) << ' ' << policy.limit << ' ';
}

void write(std::ostream& out, const Engine& engine) {
  out << engine.id << ' ' << engine.workspace << ' ' << engine.notes.numerical << ' '
      << engine.notes.behaviour << ' ' << engine.knobs.size() << ' ';
  for (const auto& [kind, value] : engine.knobs) out << kind << ' ' << value << ' ';
}

void write(std::ostream& out, const EngineAnswer& answer) {
  if (!answer.engine) {
    out << "none " << flat(answer.why);
    return;
  }
  out << "engine ";
  write(out, *answer.engine);
}

std::string lost(const std::string& why) { return "lost " + flat(why); }

ConvKey read_key(std::istream& in) {
  ConvKey key;
  each_number(key.problem, [&](std::int64_t& number) { number = read<std::int64_t>(in); });
  key.problem.dtype = static_cast<DType>(read<int>(in));
  key.pass = static_cast<ConvPass>(read<int>(in));
  key.accumulate = read<bool>(in);
  key.layout = static_cast<Layout>(read<int>(in));
  key.alignment = read<std::size_t>(in);
  key.type = static_cast<DataType>(read<int>(in));
  return key;
}

EnginePolicy read_policy(std::istream& in) {
  EnginePolicy policy;
  policy.allow_tf32 = read<bool>(in);
  policy.allow_nondeterministic = read<bool>(in);
  policy.workspace = static_cast<EnginePolicy::Workspace>(read<int>(in));
  policy.limit = read<std::size_t>(in);
  return policy;
}

Engine read_engine(std::istream& in) {
  Engine engine;
  engine.id = read<std::int64_t>(in);
  engine.workspace = read<std::size_t>(in);
  engine.notes.numerical = read<std::uint32_t>(in);
  engine.notes.behaviour = read<std::uint32_t>(in);
  for (auto knobs = read<std::size_t>(in); knobs > 0; --knobs) {
    const auto kind = read<std::int64_t>(in);
    engine.knobs.emplace_back(kind, read<std::int64_t>(in));
  }
  return engine;
}

EngineAnswer read_answer(const std::string& line) {
  std::istringstream in(line);
  std::string word, why;
  in >> word;
  if (word == "engine") return {read_engine(in), ""};
  std::getline(in >> std::ws, why);
  if (word == "lost") throw DeviceError(why);
  if (word == "none") return {std::nullopt, why};
  throw ContractError("expected \"engine\", \"none\" or \"lost\" from the other process, got \"" +
                      line + "\"");
}

}  // namespace arenagrad::cudnn
