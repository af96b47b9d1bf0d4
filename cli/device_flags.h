// The flags that name a device and say how its kernels are picked.
#pragma once

#include <memory>
#include <string>

#include "cli/output.h"
#include "experiments/chosen_device.h"

namespace CLI {
class App;
}

namespace arenagrad::cli {

struct Flags;

struct DeviceFlags {
  DeviceChoice choice;
  std::string save_engines;   // file; empty: none
  bool list_engines = false;  // plan
  ArenaKind arena = ArenaKind::growing;
  bool executes = false;  // the verb computes: a device that isn't here won't do

  /// The device, opened once; copies of the flags share it. `computes`: these flags make the verb
  /// compute though it needn't. Throws what ChosenDevice throws, and UsageError for flags that make
  /// no sense with it.
  const ChosenDevice& device(bool computes) const;
  /// The same where it has been opened, else null.
  const ChosenDevice* opened() const { return opened_->get(); }
  /// What computes on it, as JSON names it: "cpu" or "cuda".
  std::string backend() const;

 private:
  std::shared_ptr<std::unique_ptr<ChosenDevice>> opened_ =
      std::make_shared<std::unique_ptr<ChosenDevice>>();
};

void add_device_flags(CLI::App& command, Flags& flags);

/// At the end of a verb: says what is missing in its plan, and keeps cuDNN's answers if that was
/// asked for. Throws Error, WriteError.
void finish_device(const DeviceFlags& device, const OutputFlags& output, const Console& console);

}  // namespace arenagrad::cli
