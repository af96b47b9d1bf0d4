#include "cli/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "allocator/units.h"
#include "cli/report/html.h"

namespace arenagrad::cli {
namespace {

constexpr double kWidth = 960, kHeight = 320, kLeft = 84, kRight = 12, kTop = 14, kBottom = 34;

/// From values to places.
struct Frame {
  double x0, x1, y1;  // y begins at 0

  double x(double value) const {
    return kLeft + (value - x0) / std::max(x1 - x0, 1e-9) * (kWidth - kLeft - kRight);
  }
  double y(double value) const {
    return kHeight - kBottom - value / std::max(y1, 1.0) * (kHeight - kTop - kBottom);
  }
};

std::string opened(const std::string& description) {
  return fmt::format("<svg class=\"still\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                     kWidth, kHeight, escaped(description));
}

/// A step between lines that makes at most six of them: a power of two of bytes, or a round number.
double step_of(double most, bool bytes) {
  double step = 1;
  if (bytes) {
    while (most / step > 6) step *= 2;
    return step;
  }
  for (int i = 0; most / step > 8; ++i) step *= i % 3 == 1 ? 2.5 : 2;
  return step;
}

std::string lines_across(const Frame& frame) {
  std::string svg;
  const double down = step_of(frame.y1, true);
  for (double value = 0; value <= frame.y1; value += down)
    svg += fmt::format(
        "<path d=\"M{} {:.1f}H{}\"/><text x=\"{}\" y=\"{:.1f}\" class=\"end\">{}</text>\n", kLeft,
        frame.y(value), kWidth - kRight, kLeft - 6, frame.y(value) + 4,
        human_bytes(static_cast<std::size_t>(value)));
  return svg;
}

std::string label_below(double x, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{}\" class=\"middle\">{}</text>\n", x,
                     kHeight - kBottom + 15, escaped(text));
}

std::string axes(const Frame& frame, const std::string& x_title) {
  std::string svg = "<g class=\"axis\">\n" + lines_across(frame);
  const double across = step_of(frame.x1 - frame.x0, false);
  for (double value = std::ceil(frame.x0 / across) * across; value <= frame.x1; value += across)
    svg += label_below(frame.x(value), with_commas(static_cast<std::int64_t>(value)));
  return svg + fmt::format("<text x=\"{}\" y=\"{}\" class=\"end\">{}</text></g>\n", kWidth - kRight,
                           kHeight - 3, escaped(x_title));
}

/// Parts with their names; of many, steps, and not all of them.
std::string axes(const Frame& frame, const std::vector<AxisPart>& parts) {
  constexpr std::size_t kMostParts = 14, kMostSteps = 20;
  std::string svg = "<g class=\"axis\">\n" + lines_across(frame);
  const auto line = [&](double x) {
    svg += fmt::format("<path d=\"M{:.1f} {}V{}\"/>\n", frame.x(x), kTop, kHeight - kBottom + 4);
  };
  const bool named = parts.size() <= kMostParts;
  const auto steps =
      parts.empty()
          ? 0
          : static_cast<std::size_t>(std::max_element(parts.begin(), parts.end(),
                                                      [](const AxisPart& a, const AxisPart& b) {
                                                        return a.step < b.step;
                                                      })
                                         ->step);
  const auto every = static_cast<std::int64_t>(steps / kMostSteps + 1);
  for (std::size_t i = 0; i < parts.size();) {
    std::size_t end = i + 1;
    while (!named && end < parts.size() && parts[end].step == parts[i].step) ++end;
    const auto& part = parts[i];
    const bool shown = named || part.step == 0 || part.step % every == 0;
    if (shown) {
      line(part.begin);
      const double middle = frame.x((part.begin + parts[end - 1].end) / 2);
      svg += label_below(middle, named            ? part.label
                                 : part.step == 0 ? std::string()
                                                  : with_commas(part.step));
      if (named && part.step > 0 && (i == 0 || parts[i - 1].step != part.step))
        svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\">step {}</text>\n", frame.x(part.begin) + 3,
                           kHeight - 3, with_commas(part.step));
    }
    i = end;
  }
  if (!named)
    svg += fmt::format("<text x=\"{}\" y=\"{}\" class=\"end\">step</text>\n", kWidth - kRight,
                       kHeight - 3);
  return svg + "</g>\n";
}

std::size_t total(const CategoryBytes& bytes) {
  std::size_t sum = 0;
  for (const auto value : bytes) sum += value;
  return sum;
}

/// The band of a category between the sum of those below it and with it.
std::string band(const AreaChart& chart, const Frame& frame, std::size_t category) {
  std::string up = "M", down;
  double last = -1;
  for (std::size_t i = 0; i < chart.columns.size(); ++i) {
    const auto& bytes = chart.columns[i].bytes;
    double low = 0;
    for (std::size_t c = 0; c < category; ++c) low += static_cast<double>(bytes[c]);
    const double high = low + static_cast<double>(bytes[category]);
    const double from = frame.x(chart.columns[i].begin);
    const double to =
        frame.x(i + 1 < chart.columns.size() ? chart.columns[i + 1].begin : chart.end);
    up += fmt::format("{:.1f} {:.1f}H{:.1f}L", from, frame.y(high), to);
    down = fmt::format("{:.1f} {:.1f}H{:.1f}L", to, frame.y(low), from) + down;
    last = to;
  }
  if (last < 0) return "";
  down.pop_back();
  return fmt::format("<path class=\"fill c{}\" d=\"{}{}Z\"><title>{}</title></path>\n", category,
                     up, down, kCategoryNames[category]);
}

}  // namespace

std::string area_chart(const AreaChart& chart, const std::string& description) {
  CategoryBytes most{};
  std::size_t peak = 0;
  for (const auto& column : chart.columns) {
    peak = std::max(peak, total(column.bytes));
    for (std::size_t c = 0; c < kCategoryCount; ++c) most[c] = std::max(most[c], column.bytes[c]);
  }
  const Frame frame{chart.columns.empty() ? 0 : chart.columns.front().begin, chart.end,
                    static_cast<double>(peak) * 1.08};
  auto svg = opened(description) + axes(frame, chart.x_title);
  for (std::size_t c = 0; c < kCategoryCount; ++c)
    if (most[c] > 0) svg += band(chart, frame, c);
  if (!chart.mark_text.empty()) {
    const double x = frame.x(chart.mark), y = frame.y(static_cast<double>(peak));
    svg += fmt::format(
        "<path class=\"mark\" d=\"M{0:.1f} {1:.1f}V{2}\"/>"
        "<text class=\"{3}\" x=\"{4:.1f}\" y=\"{5:.1f}\">{6}</text>\n",
        x, y, kHeight - kBottom, x > kWidth / 2 ? "end" : "start", x > kWidth / 2 ? x - 5 : x + 5,
        y - 4, escaped(chart.mark_text));
  }
  return svg + "</svg>\n";
}

std::string bar_chart(const std::vector<Bar>& bars, const std::string& description) {
  std::size_t most = 1;
  for (const auto& bar : bars) most = std::max(most, total(bar.bytes));
  auto html = fmt::format("<div class=\"still bars\" role=\"img\" aria-label=\"{}\">\n",
                          escaped(description));
  for (const auto& bar : bars) {
    html += fmt::format("<div class=\"row\"><span class=\"name\">{}</span><span class=\"bar\">",
                        escaped(bar.label));
    for (std::size_t c = 0; c < kCategoryCount; ++c)
      if (bar.bytes[c] > 0)
        html +=
            fmt::format("<span class=\"b{}\" style=\"width:{:.2f}%\" title=\"{}: {}: {}\"></span>",
                        c, static_cast<double>(bar.bytes[c]) / static_cast<double>(most) * 100,
                        escaped(bar.label), kCategoryNames[c], exact_bytes(bar.bytes[c]));
    html +=
        fmt::format("</span><span class=\"size\">{}</span></div>\n", human_bytes(total(bar.bytes)));
  }
  return html + "</div>\n";
}

namespace {

/// Curves in their frame, on axes that are drawn already, and what they are called.
std::string drawn(const std::vector<Curve>& curves, const Frame& frame) {
  std::string svg;
  for (const auto& curve : curves) {
    if (curve.points.empty()) continue;
    std::string path;
    bool pen = false;
    for (const auto& [x, y] : curve.points) {
      if (!std::isnan(y))
        path += fmt::format("{}{:.1f} {:.1f}", pen ? "L" : "M", frame.x(x), frame.y(y));
      pen = !std::isnan(y);
    }
    svg += fmt::format("<path class=\"curve s{}{}\" d=\"{}\"><title>{}</title></path>\n",
                       curve.colour, curve.dashed ? " dashed" : "", path, escaped(curve.label));
  }
  double y = kTop + 10;
  for (const auto& curve : curves) {
    svg += fmt::format(
        "<path class=\"curve s{}{}\" d=\"M{} {}h24\"/><text x=\"{}\" y=\"{}\">{}</text>\n",
        curve.colour, curve.dashed ? " dashed" : "", kLeft + 10, y - 4, kLeft + 40, y,
        escaped(curve.label));
    y += 15;
  }
  return svg;
}

Frame frame_of(const std::vector<Curve>& curves) {
  Frame frame{0, 1, 1};
  bool first = true;
  for (const auto& curve : curves)
    for (const auto& [x, y] : curve.points) {
      frame.x0 = first ? x : std::min(frame.x0, x);
      frame.x1 = first ? x : std::max(frame.x1, x);
      if (!std::isnan(y)) frame.y1 = std::max(frame.y1, y * 1.05);
      first = false;
    }
  return frame;
}

}  // namespace

std::string curve_chart(const std::vector<Curve>& curves, const std::string& x_title,
                        const std::string& description) {
  const auto frame = frame_of(curves);
  return opened(description) + axes(frame, x_title) + drawn(curves, frame) + "</svg>\n";
}

std::string curve_chart(const std::vector<Curve>& curves, const std::vector<AxisPart>& parts,
                        const std::string& description) {
  const auto frame = frame_of(curves);
  return opened(description) + axes(frame, parts) + drawn(curves, frame) + "</svg>\n";
}

std::string life_chart(const std::vector<Life>& lives, double end, double top,
                       const std::string& description) {
  const Frame frame{0, end, top};
  auto svg = opened(description) + axes(frame, "event");
  std::string paths[kCategoryCount];
  for (const auto& life : lives)
    paths[static_cast<std::size_t>(life.category)] +=
        fmt::format("M{:.1f} {:.1f}H{:.1f}V{:.1f}H{:.1f}Z", frame.x(life.from), frame.y(life.low),
                    std::max(frame.x(life.to), frame.x(life.from) + 0.5), frame.y(life.high),
                    frame.x(life.from));
  for (std::size_t c = 0; c < kCategoryCount; ++c)
    if (!paths[c].empty())
      svg += fmt::format("<path class=\"fill edged c{}\" d=\"{}\"><title>{}</title></path>\n", c,
                         paths[c], kCategoryNames[c]);
  return svg + "</svg>\n";
}

std::string legend(const CategoryBytes& bytes) {
  std::string html = "<ul class=\"legend\">";
  for (std::size_t c = 0; c < kCategoryCount; ++c)
    if (bytes[c] > 0)
      html += fmt::format("<li><span class=\"swatch b{}\"></span>{}</li>", c, kCategoryNames[c]);
  return html + "</ul>\n";
}

}  // namespace arenagrad::cli
