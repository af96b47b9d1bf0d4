#include "cli/fit_tables.h"

#include <fmt/format.h>

#include "cli/frontier_tables.h"
#include "cli/to_json.h"

namespace arenagrad::cli {
namespace {

std::string text(const BatchRange& range) {
  return range.first == range.second ? std::to_string(range.first)
                                     : fmt::format("{} to {}", range.first, range.second);
}

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json to_json(const BatchRange& range) { return Json::array({range.first, range.second}); }

/// How many times too large (or small) a formula's batch is; nothing to compare with is null.
std::optional<double> ratio(const BatchFormula& formula, const Fit& fit) {
  if (fit.found.largest == 0) return std::nullopt;
  return static_cast<double>(formula.batch) / static_cast<double>(fit.found.largest);
}

std::string wrong_by(const BatchFormula& formula, const Fit& fit) {
  const auto times = ratio(formula, fit);
  if (!times) return formula.batch == 0 ? "" : "nothing fits";
  if (formula.batch == 0) return "finds none";
  const bool is_largest = fit.found.next_is_refused();
  if (formula.batch == fit.found.largest) return is_largest ? "right" : "fits, maybe more does";
  if (*times < 1)
    return fmt::format("{:.2f} times too small{}", 1 / *times,
                       formula.fits == false ? ", and does not fit" : "");
  return fmt::format("{:.2f} times {}", *times,
                     formula.fits == false  ? "too large: does not fit"
                     : formula.fits == true ? "the largest looked at, and fits"
                                            : "the largest looked at");
}

Json or_null_at_0(std::int64_t count) { return count == 0 ? Json(nullptr) : Json(count); }

Json to_json(const Route& route) {
  return {{"mode", name(route.mode)},
          {"batch", route.batch},
          {"micro_batch", route.micro_batch},
          {"fits", route.fits},
          {"refused", or_null(route.refused)},
          {"footprint", or_null(route.footprint)},
          {"lower_bound", route.lower_bound == 0 ? Json(nullptr) : Json(route.lower_bound)},
          {"passes", route.passes},
          {"multiply_adds", or_null_at_0(route.cost.multiply_adds)},
          {"kernel_calls", or_null_at_0(route.cost.kernel_calls)}};
}

}  // namespace

std::string text(const std::vector<BatchRange>& ranges) {
  std::string result;
  for (const auto& range : ranges) result += (result.empty() ? "" : ", ") + text(range);
  return result;
}

Table fit_table(const Fit& fit, const FitOptions& options) {
  auto table = Table::of_quantities("the largest batch that fits");
  const auto& found = fit.found;
  table.add("memory", "memory", Bytes{options.memory});
  if (options.reserve > 0) table.add("  reserved for others", "reserve", Bytes{options.reserve});
  table.add("capacity", "capacity", Bytes{fit.capacity});
  const bool at_least = found.largest > 0 && !found.next_is_refused();
  table.add(at_least ? "largest batch, at least" : "largest batch", "largest_batch",
            found.largest == 0 ? Cell{std::string("none")} : Cell{Count{found.largest}});
  if (found.largest > 0) {
    table.add("  footprint", "footprint_at_largest", Bytes{fit.footprint_at_largest});
    table.add("  of the next batch", "footprint_at_next",
              fit.footprint_at_next ? Cell{Bytes{*fit.footprint_at_next}} : Cell{fit.next_refused});
  }
  table.add(found.stopped_by_most ? "none above is looked at" : "none above can fit", "bound",
            Count{found.bound});
  if (found.examined.second > 0) {
    table.add("examined", "examined", text(found.examined));
    table.add("  of these fit", "fits", found.fits.empty() ? "none" : text(found.fits));
  }
  if (found.unexamined) table.add("not examined", "unexamined", text(*found.unexamined));
  if (const auto& proof = fit.proof) {
    table.add("run for real", "proof_ran", std::string(proof->ran ? "yes" : "NO"));
    table.add("  ledger is the plan's", "proof_same_ledger",
              std::string(proof->same_ledger ? "yes" : "NO"));
    table.add("  one more is refused", "proof_next_refused",
              std::string(proof->next_refused ? "yes"
                          : at_least          ? "not tried"
                                              : "NO"));
    table.add("  what it says", "proof_message", proof->message);
  }
  return table;
}

Table formulas_table(const Fit& fit) {
  Table table{"what others compute",
              {{"formula", "name"},
               {"batch", "batch", true},
               {"so it is", "wrong_by"},
               {"it takes for granted", "claims"},
               {"source", "source"}},
              {},
              {}};
  for (const auto& formula : fit.formulas)
    table.rows.push_back({formula.name, Count{formula.batch}, wrong_by(formula, fit),
                          formula.claims, formula.source});
  return table;
}

Table routes_table(const Fit& fit) {
  Table table{fmt::format("ways to a gradient over {} samples; the multiply-adds are the same",
                          fit.routes.empty() ? 0 : fit.routes.front().batch),
              {{"mode", "mode"},
               {"micro-batch", "micro_batch", true},
               {"fits", "fits"},
               {"needs at least", "lower_bound", true},
               {"footprint", "footprint", true},
               {"passes", "passes", true},
               {"kernel calls", "kernel_calls", true}},
              {},
              {}};
  for (const auto& route : fit.routes)
    table.rows.push_back(
        {std::string(name(route.mode)), Count{route.micro_batch},
         !route.refused.empty() ? route.refused
         : route.fits           ? "yes"
                                : "no",
         route.lower_bound == 0 ? Cell{} : Cell{Bytes{route.lower_bound}},
         route.footprint ? Cell{Bytes{*route.footprint}} : Cell{}, Count{route.passes},
         route.cost.kernel_calls == 0 ? Cell{} : Cell{Count{route.cost.kernel_calls}}});
  return table;
}

Table remedies_table(const Fit& fit) {
  Table table{"what makes it take less",
              {{"change", "what"}, {"fits", "fits"}, {"footprint", "footprint", true}},
              {},
              {}};
  for (const auto& remedy : fit.remedies)
    table.rows.push_back({remedy.what, std::string(remedy.fits ? "yes" : "no"),
                          remedy.footprint ? Cell{Bytes{*remedy.footprint}} : Cell{}});
  return table;
}

void put(Json& object, const Fit& fit, const FitOptions& options) {
  const auto& found = fit.found;
  object["memory"] = options.memory;
  object["reserve"] = options.reserve;
  object["capacity"] = fit.capacity;
  object["largest_batch"] = found.largest;
  object["fits"] = Json::array();
  for (const auto& range : found.fits) object["fits"].push_back(to_json(range));
  object["examined"] = found.examined.second == 0 ? Json(nullptr) : to_json(found.examined);
  object["unexamined"] = found.unexamined ? to_json(*found.unexamined) : Json(nullptr);
  object["bound"] = found.bound;
  object["stopped_by_max"] = found.stopped_by_most;
  object["footprint_at_largest"] =
      found.largest == 0 ? Json(nullptr) : Json(fit.footprint_at_largest);
  object["footprint_at_next"] = or_null(fit.footprint_at_next);
  object["proven"] = nullptr;
  if (const auto& proof = fit.proof)
    object["proven"] = {{"ran", proof->ran},
                        {"planned_equals_observed", proof->same_ledger},
                        {"next_refused", proof->next_refused},
                        {"message", proof->message}};
  object["formulas"] = Json::array();
  for (const auto& formula : fit.formulas)
    object["formulas"].push_back({{"name", formula.name},
                                  {"batch", formula.batch},
                                  {"times_largest", or_null(ratio(formula, fit))},
                                  {"claims", formula.claims},
                                  {"source", formula.source}});
  object["routes"] = Json::array();
  for (const auto& route : fit.routes) object["routes"].push_back(to_json(route));
  object["frontier"] = nullptr;
  if (options.frontier) {
    object["frontier"] = Json::array();
    for (const auto& way : fit.frontier) object["frontier"].push_back(to_json(way));
  }
  object["error"] = fit.why_not ? to_json(*fit.why_not) : Json(nullptr);
  object["remedies"] = Json::array();
  for (const auto& remedy : fit.remedies)
    object["remedies"].push_back(
        {{"what", remedy.what}, {"fits", remedy.fits}, {"footprint", or_null(remedy.footprint)}});
}

}  // namespace arenagrad::cli
