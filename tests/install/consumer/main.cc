// A training step with the installed package: first as a dry run, then for real.
#include <iostream>

#include "allocator/arena.h"
#include "graph/execute.h"
#include "graph/plan.h"
#include "kernels/cpu/backend.h"
#include "zoo/model.h"

using namespace arenagrad;

namespace {

/// The totals of one step. Without a backend nothing is computed or allocated.
Totals step(const Model& model, const Program& program, Driver& driver, Backend* backend) {
  Ledger ledger;
  Arena arena(driver, ledger, find_strategy("best-fit"), program.alignment, lifetimes(program, 1));
  NoiseFeed feed(0);
  ExecuteOptions options;
  options.backend = backend;
  options.feed = &feed;
  execute(program, model.tape, arena, options);
  return ledger.totals();
}

}  // namespace

int main() {
  const Model model = load_model(ZOO_DIR "/lenet5.json");
  const Profile profile = cpu_profile();
  const Program program = plan(model.tape, profile, {.batching = {.batch = 8, .micro_batch = 8}});

  SimulatedDriver simulated(profile.capacity, profile.granule);
  const Totals planned = step(model, program, simulated, nullptr);
  HostDriver host(profile.capacity, profile.granule);
  CpuBackend backend(2);
  const Totals observed = step(model, program, host, &backend);

  std::cout << model.name << ": " << model.tape.parameter_count() << " parameters, footprint "
            << planned.footprint << " bytes, "
            << (planned == observed ? "planned equals observed" : "planned DIFFERS from observed")
            << "\n";
  return planned == observed ? 0 : 1;
}
