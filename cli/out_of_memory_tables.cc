#include <fmt/format.h>

#include "cli/tables.h"

namespace arenagrad::cli {
namespace {

Table request_table(const OutOfMemoryReport& report) {
  auto table = Table::of_quantities("out of memory");
  table.add("strategy", "strategy", report.settings.strategy);
  table.add("device", "device", report.device);
  table.add("tensor", "tensor", report.tensor);
  table.add("layer", "layer", report.layer.empty() ? Cell{} : Cell{report.layer});
  table.add("phase", "phase", report.phase);
  table.add("category", "category", std::string(name(report.category)));
  table.add("shape", "shape", fmt::format("{} {}", report.shape.text(), name(report.dtype)));
  table.add("requested", "requested", Bytes{report.requested});
  if (!report.opaque) {
    table.add("granted if it had fitted", "granted", Bytes{report.granted});
    table.add(report.whole_plan ? "the whole plan" : "footprint that would serve it", "needed",
              Bytes{report.needed});
  }
  table.add("capacity", "capacity", Bytes{report.capacity});
  table.add("lower bound of the run", "lower_bound", Bytes{report.lower_bound});
  table.add("aligned bound of the run", "aligned_bound", Bytes{report.aligned_bound});
  table.add("fits without fragmentation", "fits_without_fragmentation",
            std::string(report.fits_without_fragmentation ? "yes" : "no"));
  return table;
}

/// Where the capacity went, from the bottom up.
Table waste_table(const OutOfMemoryReport& report) {
  auto table = Table::of_quantities("where the memory was");
  table.add("live, as requested", "live_total", Bytes{report.live_total});
  table.add("internal waste (rounding)", "waste.internal", Bytes{report.internal_waste});
  table.add("external waste (holes)", "waste.external", Bytes{report.external_waste});
  table.add("  the largest hole", "largest_hole", Bytes{report.largest_hole});
  table.add("footprint, the sum of these", "footprint", Bytes{report.footprint});
  table.add("reserved", "reserved", Bytes{report.reserved});
  return table;
}

Table alternatives_table(const OutOfMemoryReport& report) {
  Table table{"other strategies on the same run",
              {{"strategy", "strategy"}, {"fits", "fits"}, {"footprint", "footprint", true}}};
  for (const auto& other : report.alternatives)
    table.rows.push_back({other.strategy, std::string(other.fits ? "yes" : "no"),
                          other.footprint ? Cell{Bytes{*other.footprint}} : Cell{}});
  return table;
}

}  // namespace

std::vector<Table> out_of_memory_tables(const OutOfMemoryReport& report) {
  std::vector<Table> tables{request_table(report)};
  if (!report.whole_plan) {
    if (!report.opaque) tables.push_back(waste_table(report));
    tables.push_back(category_table(report.live, "live when it was refused"));
  }
  tables.push_back(
      top_table(report.top, report.whole_plan ? "at the peak" : "when it was refused"));
  tables.push_back(alternatives_table(report));
  return tables;
}

}  // namespace arenagrad::cli
