// From points to pieces. Points carry their own lines; here they are only put together.
#include <cstdlib>

#include "experiments/sweep.h"

namespace arenagrad {
namespace {

constexpr auto kWorkspace = static_cast<std::size_t>(Category::workspace);

bool differ_in_scratch_alone(BatchLine a, BatchLine b) {
  a.fixed[kWorkspace] = b.fixed[kWorkspace] = 0;
  return a == b;
}

bool outgrown(const CategoryBytes& bytes) {
  const auto of = [&](Category category) { return bytes[static_cast<std::size_t>(category)]; };
  return of(Category::activation) + of(Category::stash) > of(Category::parameter);
}

void add_point(std::vector<SweepPiece>& pieces, const SweepPoint& point) {
  const auto where = point.peak.where();
  if (!pieces.empty() && pieces.back().line == point.peak.line && pieces.back().peak_at == where) {
    pieces.back().to = point.batch;
  } else {
    pieces.push_back({point.batch, point.batch, where, point.peak.line});
  }
}

/// The line of the last piece also rules pieces before it that differ by scratch alone.
void find_ruler(Decomposition& result) {
  const auto& last = result.pieces.back();
  result.line = last.line;
  result.valid_from = last.from;
  for (auto piece = result.pieces.rbegin(); piece != result.pieces.rend(); ++piece) {
    if (piece->peak_at != last.peak_at || !differ_in_scratch_alone(piece->line, last.line)) break;
    result.valid_from = piece->from;
  }
}

void find_residuals(const std::vector<SweepPoint>& points, const SweepOptions& options,
                    Decomposition& result) {
  for (const auto& point : points) {
    if (!point.error.empty() || point.batch < result.valid_from) continue;
    const auto plan =
        at_batch(in_mode(options.settings, point.mode), point.batch, options.micro_batch).plan;
    const auto expected = total(result.line.at(point.batch, forwards(plan)));
    const auto residual = static_cast<std::size_t>(
        std::llabs(static_cast<std::int64_t>(point.peak.requested) - expected));
    result.largest_rounding =
        std::max(result.largest_rounding, point.granted - point.peak.requested);
    if (residual <= result.largest_residual) continue;
    result.largest_residual = residual;
    result.residual_at = point.batch;
    result.residual_cause =
        point.peak.whole ? "scratch that changes with the batch" : "an uneven last micro-batch";
  }
}

}  // namespace

Decomposition decompose(const std::vector<SweepPoint>& points, const SweepOptions& options) {
  Decomposition result;
  if (points.empty()) return result;
  result.mode = points.front().mode;
  const bool whole = result.mode == GradientMode::full_batch;
  result.micro_batch = whole ? 0 : options.micro_batch.value_or(1);
  for (const auto& point : points) {
    if (!point.error.empty()) continue;
    if (point.peak.whole) add_point(result.pieces, point);
    if (!result.activations_outgrow_parameters && outgrown(point.peak.by_category)) {
      result.activations_outgrow_parameters = point.batch;
      result.outgrown_from_the_start = &point == &points.front();
    }
  }
  if (result.pieces.empty()) return result;
  find_ruler(result);
  find_residuals(points, options, result);
  return result;
}

}  // namespace arenagrad
