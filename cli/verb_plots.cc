#include "cli/verb_plots.h"

#include <fmt/format.h>

#include <algorithm>

#include "allocator/units.h"

namespace arenagrad::cli {
namespace {

std::string words(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

/// A series for each category that occurs.
std::vector<PlotSeries> by_category(const std::vector<std::optional<CategoryBytes>>& places) {
  std::vector<PlotSeries> result;
  for (std::size_t c = 0; c < kCategoryCount; ++c) {
    const auto category = static_cast<Category>(c);
    PlotSeries series{words(name(category)), plot_colour(category), {}};
    bool occurs = false;
    for (const auto& place : places) {
      series.bytes.push_back(place ? std::optional((*place)[c]) : std::nullopt);
      occurs = occurs || series.bytes.back().value_or(0) != 0;
    }
    if (occurs) result.push_back(std::move(series));
  }
  return result;
}

bool planned(const SweepPoint& point) { return point.error.empty(); }

/// Batches, or heights.
std::int64_t place_of(const SweepPoint& point, bool over_inputs) {
  return over_inputs && point.input.rank() == 3 ? point.input[1] : point.batch;
}

std::optional<std::size_t> footprint(const SweepPoint& point) {
  return planned(point) && point.fits ? std::optional(point.footprint) : std::nullopt;
}

std::string size_and_excess(const LabRow& row, std::size_t bound) {
  const auto over =
      bound == 0 ? 0 : 100 * (static_cast<double>(row.footprint) / static_cast<double>(bound) - 1);
  return fmt::format("{} (+{:.2f} %)", human_bytes(row.footprint), over);
}

}  // namespace

std::optional<Plot> sweep_plot(const Sweep& sweep, const SweepOptions& options,
                               const std::string& model) {
  const bool over_inputs = !options.inputs.empty();
  const auto& plan = options.settings.plan;
  Plot plot;
  plot.title = fmt::format("{}: bytes live at the peak, {}, {} policy", model,
                           options.modes.size() == 1 ? name(options.modes.front()) : "by mode",
                           name(plan.policy));
  if (options.settings.profile.name != "cpu") plot.title += ", " + options.settings.profile.name;
  plot.x_title = over_inputs ? fmt::format("height and width of the images (pixels), batch {}",
                                           options.batches.front())
                             : "batch (samples)";
  plot.bytes_title = "bytes live at the peak";
  // Places that one mode could not be planned at are gaps in its curve.
  for (const auto& point : sweep.points)
    if (planned(point)) plot.x.push_back(place_of(point, over_inputs));
  std::sort(plot.x.begin(), plot.x.end());
  plot.x.erase(std::unique(plot.x.begin(), plot.x.end()), plot.x.end());
  if (plot.x.empty()) return std::nullopt;
  const auto point_of = [&](GradientMode mode, std::int64_t x) {
    const auto found =
        std::find_if(sweep.points.begin(), sweep.points.end(), [&](const SweepPoint& point) {
          return planned(point) && point.mode == mode && place_of(point, over_inputs) == x;
        });
    return found == sweep.points.end() ? nullptr : &*found;
  };
  if (plot.x.size() == 1) {  // no curve: a bar for each mode
    plot.kind = Plot::Kind::bars;
    std::vector<std::optional<CategoryBytes>> places;
    for (const auto mode : options.modes)
      if (const auto* point = point_of(mode, plot.x.front())) {
        places.emplace_back(point->peak.by_category);
        plot.labels.push_back(fmt::format("{}, {}", name(mode), plot.x.front()));
        plot.behind.push_back(human_bytes(point->peak.requested));
      }
    plot.series = by_category(places);
    plot.x.clear();
  } else if (options.modes.size() == 1) {
    plot.kind = Plot::Kind::areas;
    std::vector<std::optional<CategoryBytes>> places;
    PlotSeries top{"footprint", "#000000", {}};
    for (const auto x : plot.x) {
      const auto* point = point_of(options.modes.front(), x);
      places.emplace_back(point->peak.by_category);
      top.bytes.push_back(footprint(*point));
    }
    plot.series = by_category(places);
    plot.over = {top};
  } else {
    for (std::size_t i = 0; i < options.modes.size(); ++i) {
      PlotSeries curve{std::string(name(options.modes[i])), plot_colour(i), {}};
      for (const auto x : plot.x) {
        const auto* point = point_of(options.modes[i], x);
        curve.bytes.push_back(point ? std::optional(point->peak.requested) : std::nullopt);
      }
      plot.series.push_back(std::move(curve));
    }
  }
  if (const auto capacity = options.settings.capacity)
    plot.marks.push_back({"capacity, " + human_bytes(*capacity), *capacity});
  return plot;
}

std::optional<Plot> compare_plot(const Comparison& comparison, const std::string& model) {
  const auto& batching = comparison.settings.plan.batching;
  Plot plot;
  plot.kind = Plot::Kind::bars;
  plot.title = fmt::format("{}, batch {} in micro-batches of {}: the peak by category", model,
                           batching.batch, batching.micro_batch);
  plot.bytes_title = "bytes live at the peak";
  std::vector<std::optional<CategoryBytes>> places;
  for (const auto& mode : comparison.modes) {
    if (!mode.measurement) continue;
    const auto& bytes = mode.measurement->bytes;
    plot.labels.emplace_back(name(mode.mode));
    plot.behind.push_back(human_bytes(bytes.peak_requested));
    places.emplace_back(bytes.by_category_at_peak);
  }
  if (places.empty()) return std::nullopt;
  plot.series = by_category(places);
  return plot;
}

std::optional<Plot> lab_plot(const LabReport& report) {
  Plot plot;
  plot.kind = Plot::Kind::bars;
  plot.title = fmt::format("{}: what each strategy takes", report.trace.name);
  plot.bytes_title = "footprint";
  // At the peak of what is active; a footprint may be reached elsewhere, hence "the rest".
  PlotSeries asked{"asked for", plot_colour(Category::parameter), {}},
      rounding{"rounding", plot_colour(Category::stash), {}},
      holes{"holes", plot_colour(Category::activation_gradient), {}};
  for (const auto& row : report.rows) {
    if (!row.error.empty()) continue;
    plot.labels.push_back(row.strategy);
    plot.behind.push_back(size_and_excess(row, report.lower_bound));
    const auto requested = std::min(row.peak_requested, row.footprint);
    const auto active = std::clamp(row.peak_active, requested, row.footprint);
    asked.bytes.emplace_back(requested);
    rounding.bytes.emplace_back(active - requested);
    holes.bytes.emplace_back(row.footprint - active);
  }
  if (plot.labels.empty()) return std::nullopt;
  plot.series = {asked, rounding, holes};
  plot.marks = {{"lower bound, " + human_bytes(report.lower_bound), report.lower_bound}};
  return plot;
}

}  // namespace arenagrad::cli
