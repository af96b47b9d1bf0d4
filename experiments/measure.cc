// From a ledger's record to a measurement.
#include <algorithm>
#include <map>

#include "experiments/experiment.h"
#include "experiments/lives.h"

namespace arenagrad {
namespace {

ByteReport byte_report(const Experiment& experiment, const LedgerRecord& record) {
  const auto saved = saved_bytes(experiment.program, experiment.model->tape);
  ByteReport bytes;
  bytes.by_category_at_peak = record.peak.by_category;
  bytes.persistent = persistent_bytes(experiment.program);
  bytes.saved = saved.total;
  bytes.saved_per_sample = saved.per_sample;
  bytes.saved_fixed = saved.fixed;
  bytes.peak_requested = record.peak.requested;
  bytes.lower_bound = experiment.lower_bound;
  bytes.aligned_bound = experiment.aligned_bound;
  if (find_strategy(experiment.settings.strategy).opaque) return bytes;
  bytes.peak_granted = record.totals.peak_granted;
  bytes.footprint = record.totals.footprint;
  bytes.reserved = record.totals.peak_reserved;
  const auto known = record.totals.reserved;
  bytes.unaccounted =
      std::max(record.driver_reserved, known) - std::min(record.driver_reserved, known);
  return bytes;
}

PeakAt peak_at(const Experiment& experiment, const LedgerRecord& record) {
  PeakAt result;
  if (record.peak.event == 0) return result;
  const auto& tape = experiment.model->tape;
  const auto position = decode(record.peak.position);
  const auto place = place_of(experiment.program, position);
  const bool in_step =
      position.part == Position::Part::first_step || position.part == Position::Part::step;
  result.step = in_step ? position.step + 1 : 0;
  result.phase = name(place.phase);
  if (place.node != kNoNode) result.layer = tape.node(place.node).name;
  if (place.buffer != kNoBuffer) result.buffer = describe(experiment.program, tape, place.buffer);
  return result;
}

}  // namespace

std::vector<LiveBuffer> largest(const Experiment& experiment, std::vector<BufferId> buffers) {
  const auto& program = experiment.program;
  const auto kept = std::min(buffers.size(), experiment.settings.top);
  std::partial_sort(buffers.begin(), buffers.begin() + static_cast<std::ptrdiff_t>(kept),
                    buffers.end(), [&](BufferId a, BufferId b) {
                      const auto x = program.buffer(a).bytes, y = program.buffer(b).bytes;
                      return x != y ? x > y : a < b;
                    });
  buffers.resize(kept);

  const auto& tape = experiment.model->tape;
  const Lives lives(program, tape, experiment.settings.steps);
  std::map<BufferId, const Lifetime*> lifetime;
  for (const auto& life : experiment.lifetimes) lifetime[life.id] = &life;
  std::vector<LiveBuffer> result;
  for (const auto id : buffers) {
    const auto& buffer = program.buffer(id);
    const auto found = lifetime.find(id);
    check_contract(found != lifetime.end(), "a buffer is live that has no lifetime");
    result.push_back({describe(program, tape, id), buffer.shape, buffer.dtype, buffer.category,
                      buffer.bytes, lives.born(found->second->begin),
                      lives.dies(found->second->end)});
  }
  return result;
}

Measurement measure(const Experiment& experiment, const LedgerRecord& record) {
  Measurement m;
  m.name = experiment.model->name;
  m.device = experiment.profile.name;
  m.backend = "none";
  m.workspace_included = experiment.profile.kernels->complete();
  m.opaque = find_strategy(experiment.settings.strategy).opaque;
  m.settings = experiment.settings;
  m.parameters = experiment.model->tape.parameter_count();
  m.events = record.events;
  m.digest = record.digest;
  m.bytes = byte_report(experiment, record);
  // The ledger has thrown if an identity failed at any event; what remains is the end of the run.
  m.balanced = record.totals.requested == 0 && record.totals.allocations == record.totals.frees &&
               m.bytes.unaccounted == 0 &&
               (m.opaque || (m.bytes.aligned_bound <= m.bytes.footprint &&
                             m.bytes.footprint <= m.bytes.reserved));
  m.peak_at = peak_at(experiment, record);
  m.top = largest(experiment, record.live_at_peak);
  return m;
}

}  // namespace arenagrad
