// What a page consists of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/report/timeline.h"

namespace arenagrad::cli {

/// A document that a verb wrote, as read from a file.
struct ReportInput {
  std::string path;
  std::string verb;   // of its schema
  std::string title;  // "resnet18, batch 8, full-batch"
  Json json;
  std::optional<Timeline> timeline;
};

/// Complete without a script; one may put a live picture in the place of a still one.
struct Section {
  std::string id, title;
  std::string html;
};

/// Whether it is of what ran out of memory: there is an error in the place of a measurement.
bool did_not_fit(const ReportInput& input);

/// Reads and checks a document. Throws Error for a file that no verb of this program wrote, or
/// whose timeline is none.
ReportInput read_report_input(const std::string& path);

// Each makes the sections of one sort of document; none where it has nothing to show. All of them
// throw Json::exception for documents that lack what docs/json.md promises.

/// Memory over time, addresses and layers of a run with events.
std::vector<Section> timeline_sections(const ReportInput& input, std::size_t index);
/// What a measurement (plan, run) says in numbers.
std::vector<Section> measurement_sections(const ReportInput& input, std::size_t index);
std::vector<Section> summary_sections(const ReportInput& input, std::size_t index);
std::vector<Section> compare_sections(const ReportInput& input, std::size_t index);
std::vector<Section> sweep_sections(const ReportInput& input, std::size_t index);
/// Ways to recompute of a sweep or a fit with --frontier.
std::vector<Section> frontier_sections(const ReportInput& input, std::size_t index);
/// Two of plan and run beside each other, with the difference of their peaks explained; where one
/// did not fit, what is known of both.
std::vector<Section> difference_sections(const ReportInput& a, const ReportInput& b);
/// A panel that evaluates the formulas of sweeps. What they were made under keeps them apart.
std::vector<Section> what_if_sections(const std::vector<const ReportInput*>& sweeps);

}  // namespace arenagrad::cli
