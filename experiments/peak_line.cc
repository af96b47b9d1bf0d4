#include "experiments/peak_line.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "allocator/error.h"

namespace arenagrad {
namespace {

/// Calls visit(instruction) for each of a horizon that has every peak: a repeat is walked once,
/// since each of its rounds begins and ends with the same bytes live.
template <class Visit>
void walk_horizon(const Program& program, std::int64_t steps, const Visit& visit) {
  const auto section = [&](const Section& one) {
    for (const auto& instruction : one.code) visit(instruction);
  };
  section(program.setup);
  section(program.first_step);
  if (steps > 1) section(program.step);
  section(program.teardown);
}

bool is_recorded(const Buffer& buffer) {
  return buffer.micro >= 0 &&
         (buffer.category == Category::input || buffer.category == Category::activation ||
          buffer.category == Category::stash);
}

/// Live bytes at an instant, taken apart.
struct Terms {
  SignedBytes fixed{};               // independent of the batch
  SignedBytes at_work{};             // of the micro-batch at work, all its samples
  std::int64_t samples = 0;          // of it
  SignedBytes whole{};               // of the step's samples together (two-pass's outputs)
  SignedBytes kept{}, kept_fixed{};  // by recorded forwards that wait, and their fixed part
  std::int64_t waiting = 0;          // how many

  Terms(const Program& program, const std::vector<BufferId>& live) {
    std::int32_t working = -1;
    for (const auto id : live) working = std::max(working, program.buffer(id).micro);
    std::set<std::int32_t> others;
    for (const auto id : live) {
      const auto& buffer = program.buffer(id);
      const auto category = static_cast<std::size_t>(buffer.category);
      const auto bytes = static_cast<std::int64_t>(buffer.bytes);
      if (is_recorded(buffer) && buffer.micro < working) {
        (buffer.samples > 0 ? kept : kept_fixed)[category] += bytes;
        others.insert(buffer.micro);
      } else if (buffer.samples > 0 && buffer.micro < 0) {
        whole[category] += bytes;
      } else if (buffer.samples > 0) {
        check_contract(samples == 0 || samples == buffer.samples,
                       "two micro-batches are at work at once");
        at_work[category] += bytes;
        samples = buffer.samples;
      } else {
        fixed[category] += bytes;
      }
    }
    waiting = static_cast<std::int64_t>(others.size());
  }
};

/// An exact quotient.
SignedBytes divided(const SignedBytes& bytes, std::int64_t by) {
  SignedBytes result{};
  if (by == 0) return result;
  for (std::size_t c = 0; c < kCategoryCount; ++c) {
    check_contract(bytes[c] % by == 0, "bytes that are not proportional to samples");
    result[c] = bytes[c] / by;
  }
  return result;
}

void add(SignedBytes& to, const SignedBytes& bytes, std::int64_t times) {
  for (std::size_t c = 0; c < kCategoryCount; ++c) to[c] += bytes[c] * times;
}

BatchLine line_of(const Terms& terms, const SignedBytes& per_sample_at_work,
                  const PlanOptions& options) {
  const auto count = forwards(options);
  BatchLine line;
  line.fixed = terms.fixed;
  const SignedBytes whole = divided(terms.whole, options.batching.batch);
  if (count == 1 && terms.samples == options.batching.batch) {
    line.per_sample = per_sample_at_work;
    add(line.per_sample, whole, 1);
    return line;
  }
  add(line.fixed, per_sample_at_work, terms.samples);
  if (terms.waiting == 0) {
    line.per_sample = whole;
    return line;
  }
  // Those that wait are `count` less a few that are gone or at work; all of them are whole.
  const auto n = options.batching.micro_batch;
  line.per_sample = divided(terms.kept, terms.waiting * n);
  line.per_forward = divided(terms.kept_fixed, terms.waiting);
  add(line.fixed, line.per_sample, terms.waiting * n - options.batching.batch);
  add(line.fixed, line.per_forward, terms.waiting - count);
  add(line.per_sample, whole, 1);
  return line;
}

struct Peak {
  std::size_t requested = 0;
  std::vector<BufferId> live;
  BufferId set_by = kNoBuffer;
};

Peak find_peak(const Program& program, std::int64_t steps) {
  // Two walks: the peak's height and place first, then what is live there.
  std::size_t live = 0, highest = 0;
  std::int64_t at = 0, peak_at = -1;
  using Op = Instruction::Op;
  walk_horizon(program, steps, [&](const Instruction& instruction) {
    if (instruction.op == Op::allocate) {
      live += program.buffers[instruction.index].bytes;
      if (live > highest) highest = live, peak_at = at;
    } else if (instruction.op == Op::free) {
      live -= program.buffers[instruction.index].bytes;
    }
    ++at;
  });
  Peak peak{highest, {}, kNoBuffer};
  std::vector<bool> is_live(program.buffers.size(), false);
  at = 0;
  walk_horizon(program, steps, [&](const Instruction& instruction) {
    if (at <= peak_at && (instruction.op == Op::allocate || instruction.op == Op::free))
      is_live[instruction.index] = instruction.op == Op::allocate;
    if (at == peak_at) peak.set_by = BufferId{instruction.index};
    ++at;
  });
  for (std::uint32_t i = 0; i < is_live.size(); ++i)
    if (is_live[i]) peak.live.push_back(BufferId{i});
  return peak;
}

}  // namespace

std::int64_t total(const SignedBytes& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

SignedBytes BatchLine::at(std::int64_t batch, std::int64_t forwards) const {
  SignedBytes result = fixed;
  add(result, per_sample, batch);
  add(result, per_forward, forwards);
  return result;
}

std::string PlannedPeak::where() const { return phase + (layer.empty() ? "" : " of " + layer); }

std::int64_t forwards(const PlanOptions& options) {
  return options.mode == GradientMode::full_batch ? 1 : options.batching.count();
}

PlannedPeak planned_peak(const Program& program, const Tape& tape, std::int64_t steps) {
  const auto peak = find_peak(program, steps);
  PlannedPeak result;
  result.requested = peak.requested;
  if (peak.set_by == kNoBuffer) return result;
  for (const auto id : peak.live) {
    const auto& buffer = program.buffer(id);
    result.by_category[static_cast<std::size_t>(buffer.category)] += buffer.bytes;
  }
  const auto& set_by = program.buffer(peak.set_by);
  result.phase = name(set_by.phase);
  if (set_by.node != kNoNode) result.layer = tape.node(set_by.node).name;
  result.buffer = describe_alike(program, tape, peak.set_by);

  const auto& options = program.options;
  const Terms terms(program, peak.live);
  result.per_sample_at_work = divided(terms.at_work, terms.samples);
  result.line = line_of(terms, result.per_sample_at_work, options);
  result.whole = options.mode != GradientMode::accumulated_graph ||
                 options.batching.batch % options.batching.micro_batch == 0;
  const auto again = result.line.at(options.batching.batch, forwards(options));
  for (std::size_t c = 0; c < kCategoryCount; ++c)
    check_contract(again[c] == static_cast<std::int64_t>(result.by_category[c]),
                   "a peak is not what its line says");
  return result;
}

std::size_t rising_bound(const Program& program, std::int64_t steps) {
  std::size_t live = 0, highest = 0;
  walk_horizon(program, steps, [&](const Instruction& instruction) {
    if (instruction.op != Instruction::Op::allocate && instruction.op != Instruction::Op::free)
      return;
    const auto& buffer = program.buffers[instruction.index];
    if (buffer.category == Category::workspace || buffer.holds == Holds::temporary) return;
    if (instruction.op == Instruction::Op::free) {
      live -= buffer.bytes;
    } else {
      live += buffer.bytes;
      highest = std::max(highest, live);
    }
  });
  return highest;
}

}  // namespace arenagrad
