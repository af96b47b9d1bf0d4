// What each verb does: load, experiment, document. One file per verb.
#pragma once

#include "cli/exit_code.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "experiments/data_feed.h"
#include "experiments/host_memory.h"
#include "zoo/model.h"

namespace arenagrad::cli {

/// Each emits its result and says how it ended. They throw what the experiments throw, except that
/// a run that doesn't fit is a result.
ExitCode models(const Flags& flags, const Console& console);
ExitCode devices(const Flags& flags, const Console& console);
ExitCode summary(const Flags& flags, const Console& console);
ExitCode plan(const Flags& flags, const Console& console);
ExitCode run(const Flags& flags, const Console& console);
ExitCode compare(const Flags& flags, const Console& console);
ExitCode sweep(const Flags& flags, const Console& console);
ExitCode fit(const Flags& flags, const Console& console);
ExitCode allocators(const Flags& flags, const Console& console);
ExitCode trace(const Flags& flags, const Console& console);
ExitCode report(const Flags& flags, const Console& console);

// --- shared by the verbs -------------------------------------------------------------------------

/// Samples of a step when --batch doesn't say.
inline constexpr std::int64_t kDefaultBatch = 8;

/// The spec of the command line, with its --input.
Model load(const Flags& flags);

/// The data set of --data and --labels, if given, with a note on what is done to it.
std::optional<DataFeed> load_data(const Flags& flags, const Model& model, const Console& console);

/// The document of a run that doesn't fit, emitted; the reason goes to stderr too. `timeline` is
/// what happened until then, or null.
ExitCode emit_out_of_memory(const std::string& verb, const OutOfMemoryReport& report,
                            const Json& timeline, const Model& model, const Flags& flags,
                            const Console& console);
ExitCode emit_not_enough(const std::string& verb, const NotEnoughMemory& error, const Model& model,
                         const Settings& settings, const Flags& flags, const Console& console);

}  // namespace arenagrad::cli
