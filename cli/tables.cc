#include "cli/tables.h"

#include <fmt/format.h>

#include <numeric>

namespace arenagrad::cli {
namespace {

std::string yes_no(bool value) { return value ? "yes" : "NO"; }

std::string optimizer_text(const OptimizerSpec& optimizer) {
  using Kind = OptimizerSpec::Kind;
  std::string text(name(optimizer.kind));
  if (optimizer.kind == Kind::none) return text;
  text += fmt::format(", lr {}", optimizer.learning_rate);
  if (optimizer.momentum != 0) text += fmt::format(", momentum {}", optimizer.momentum);
  if (optimizer.nesterov) text += ", nesterov";
  if (optimizer.weight_decay != 0) text += fmt::format(", weight decay {}", optimizer.weight_decay);
  return text;
}

std::string batching_text(const PlanOptions& plan) {
  const auto& batching = plan.batching;
  if (plan.mode == GradientMode::full_batch || batching.count() == 1)
    return fmt::format("{} at once", batching.batch);
  return fmt::format("{} in {} micro-batches of {}{}", batching.batch, batching.count(),
                     batching.micro_batch,
                     batching.batch % batching.micro_batch
                         ? fmt::format(", the last of {}", batching.samples(batching.count() - 1))
                         : "");
}

Cell unless(bool opaque, Cell cell) { return opaque ? Cell{std::string("opaque")} : cell; }

Share share(std::size_t part, std::size_t whole) {
  return {whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole)};
}

}  // namespace

std::string subject(const std::string& model, const Settings& settings) {
  const auto& plan = settings.plan;
  auto text = fmt::format("{}, batch {}, {}", model, plan.batching.batch, name(plan.mode));
  if (plan.mode != GradientMode::full_batch)
    text += fmt::format(" in {}s", plan.batching.micro_batch);
  return text;
}

Table settings_table(const Measurement& m) {
  const auto& plan = m.settings.plan;
  auto table = Table::of_quantities(m.name);
  table.add("parameters", "parameters", Count{m.parameters});
  table.add("batch", "batch", batching_text(plan));
  table.add("mode, pass", "mode", fmt::format("{}, {}", name(plan.mode), name(plan.run)));
  table.add("policy", "policy", std::string(name(plan.policy)));
  if (plan.recompute.kind != Recompute::Kind::none)
    table.add("recompute", "recompute", text(plan.recompute));
  table.add("strategy", "strategy", m.settings.strategy);
  table.add("optimizer", "optimizer", optimizer_text(plan.optimizer));
  table.add("dtype", "dtype", std::string(name(plan.dtype)));
  table.add("device, backend", "device",
            fmt::format("{}, {}", m.device, m.backend == "none" ? "none (dry run)" : m.backend));
  if (m.settings.capacity) table.add("capacity", "capacity", Bytes{*m.settings.capacity});
  return table;
}

Table bytes_table(const Measurement& m) {
  const auto& bytes = m.bytes;
  auto table = Table::of_quantities("bytes");
  table.add("persistent", "bytes.persistent", Bytes{bytes.persistent});
  table.add("saved for backward", "bytes.saved", Bytes{bytes.saved});
  table.add("  per sample", "bytes.saved_per_sample", Bytes{bytes.saved_per_sample});
  table.add("  fixed", "bytes.saved_fixed", Bytes{bytes.saved_fixed});
  table.add("peak requested", "bytes.peak_requested", Bytes{bytes.peak_requested});
  table.add("peak granted", "bytes.peak_granted", unless(m.opaque, Bytes{bytes.peak_granted}));
  table.add("footprint", "bytes.footprint", unless(m.opaque, Bytes{bytes.footprint}));
  table.add("reserved", "bytes.reserved", unless(m.opaque, Bytes{bytes.reserved}));
  table.add("lower bound", "bytes.lower_bound", Bytes{bytes.lower_bound});
  table.add("aligned bound", "bytes.aligned_bound", Bytes{bytes.aligned_bound});
  table.add(
      "footprint / lower bound", "footprint_over_lower_bound",
      unless(m.opaque, Real{bytes.lower_bound == 0 ? 1.0
                                                   : static_cast<double>(bytes.footprint) /
                                                         static_cast<double>(bytes.lower_bound),
                            5}));
  if (m.pool) {
    table.add("pool reserved, now", "pool.reserved", Bytes{m.pool->reserved});
    table.add("  at its highest", "pool.reserved_high", Bytes{m.pool->reserved_high});
    table.add("pool used, now", "pool.used", Bytes{m.pool->used});
    table.add("  at its highest", "pool.used_high", Bytes{m.pool->used_high});
  }
  if (m.backend != "none") {
    table.add("context (libraries)", "bytes.context", Bytes{bytes.context});
    table.add("host arrays", "bytes.host", Bytes{bytes.host});
  }
  table.add("unaccounted", "bytes.unaccounted", unless(m.opaque, Bytes{bytes.unaccounted}));
  const auto& at = m.peak_at;
  table.add("peak set by", "peak_at",
            fmt::format("{}{}{}: {}", at.step ? fmt::format("step {}, ", at.step) : "", at.phase,
                        at.layer.empty() ? "" : " of " + at.layer, at.buffer));
  table.add("books balanced", "balanced", yes_no(m.balanced));
  if (m.planned_equals_observed)
    table.add("planned == observed", "planned_equals_observed", yes_no(*m.planned_equals_observed));
  return table;
}

Table category_table(const CategoryBytes& bytes, std::string title) {
  Table table{std::move(title),
              {{"category", "category"}, {"bytes", "bytes", true}, {"share", "share", true}},
              {},
              {}};
  const auto total = std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
  for (std::size_t i = 0; i < kCategoryCount; ++i)
    if (bytes[i] > 0)
      table.rows.push_back(
          {std::string(kCategoryNames[i]), Bytes{bytes[i]}, share(bytes[i], total)});
  table.totals.push_back({std::string("total"), Bytes{total}, share(total, total)});
  return table;
}

Table top_table(const std::vector<LiveBuffer>& top, std::string_view when) {
  Table table{fmt::format("largest live buffers {} ({})", when, top.size()),
              {{"buffer", "name"},
               {"shape", "shape", true},
               {"category", "category"},
               {"bytes", "bytes", true},
               {"born", "born"},
               {"dies after", "dies"}},
              {},
              {}};
  for (const auto& buffer : top)
    table.rows.push_back(
        {buffer.name, fmt::format("{} {}", buffer.shape.text(), name(buffer.dtype)),
         std::string(name(buffer.category)), Bytes{buffer.bytes}, buffer.born, buffer.dies});
  return table;
}

Table time_table(const Measurement& m) {
  auto table =
      Table::of_quantities(m.settings.steps > 1 ? "time (medians over steps, the first left out)"
                                                : "time (one step, the first)");
  if (!m.seconds) return table;
  table.add("forward", "seconds.forward", Duration{m.seconds->forward});
  if (m.settings.plan.run != RunMode::no_grad)
    table.add("backward", "seconds.backward", Duration{m.seconds->backward});
  table.add("update", "seconds.update", Duration{m.seconds->update});
  table.add("step", "seconds.step_median", Duration{m.seconds->step_median});
  return table;
}

Table loss_table(const Measurement& m) {
  Table table{"loss", {{"step", "step", true}, {"loss", "loss", true}}, {}, {}};
  const auto count = m.losses.size();
  // A long run is shown thinned out; JSON has every step.
  const std::size_t stride = count <= 20 ? 1 : (count + 19) / 20;
  for (std::size_t i = 0; i < count; ++i)
    if (i % stride == 0 || i + 1 == count)
      table.rows.push_back({Count{static_cast<std::int64_t>(i) + 1}, Real{m.losses[i], 9}});
  return table;
}

Table layers_table(const LayerTable& layers, const std::string& title) {
  Table table{title,
              {{"layer", "name"},
               {"op", "op"},
               {"output", "output", true},
               {"parameters", "parameters", true},
               {"multiply-adds", "multiply_adds", true},
               {"output B", "output_bytes", true},
               {"saved B", "saved", true},
               {"workspace B", "workspace", true}},
              {},
              {}};
  // Counts rather than units: columns of a long table compare better in one unit.
  const auto plain = [](std::size_t bytes) { return Count{static_cast<std::int64_t>(bytes)}; };
  const auto row = [&](const LayerRow& layer) -> std::vector<Cell> {
    const bool total = layer.op.empty();
    return {layer.name,
            layer.op,
            total ? Cell{} : Cell{layer.output.text()},
            Count{layer.parameters},
            Count{layer.multiply_adds},
            plain(layer.output_bytes),
            plain(layer.saved),
            plain(layer.workspace)};
  };
  for (const auto& layer : layers.rows) table.rows.push_back(row(layer));
  table.totals.push_back(row(layers.total));
  return table;
}

}  // namespace arenagrad::cli
