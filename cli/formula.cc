#include "cli/formula.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>

#include "allocator/units.h"
#include "cli/output.h"

namespace arenagrad::cli {
namespace {

/// " + 1,234 x batch", " - 5", nothing for 0; without the sign's space in front.
std::string sum_text(std::int64_t fixed, std::int64_t per_sample, std::int64_t per_forward) {
  std::string text;
  const auto add = [&](std::int64_t value, const char* times) {
    if (value == 0) return;
    text += text.empty() ? (value < 0 ? "-" : "") : (value < 0 ? " - " : " + ");
    text += with_commas(std::int64_t{std::llabs(value)}) + times;
  };
  add(fixed, "");
  add(per_sample, " x batch");
  add(per_forward, " x micro-batches");
  return text.empty() ? "0" : text;
}

bool counts_forwards(const Decomposition& decomposition) {
  for (const auto& piece : decomposition.pieces)
    if (total(piece.line.per_forward) != 0) return true;
  return false;
}

/// Where the micro-batches are counted by the batch: what a reader has to know.
std::string micro_text(const Decomposition& d) {
  return counts_forwards(d)
             ? fmt::format("micro-batches = batch / {}, a whole number", d.micro_batch)
             : "";
}

std::string range_text(const SweepPiece& piece) {
  return piece.from == piece.to ? std::to_string(piece.from)
                                : fmt::format("{} to {}", piece.from, piece.to);
}

std::string as_text(const std::string& model, const Decomposition& d) {
  auto text = fmt::format("{}, {}: requested bytes at the peak, exact\n", model, name(d.mode));
  if (counts_forwards(d)) text += "  " + micro_text(d) + "\n";
  for (const auto& piece : d.pieces)
    text += fmt::format("  batch {}: {}  ({})\n", range_text(piece), line_text(piece.line),
                        piece.peak_at);
  text += fmt::format("by category, from batch {} on", d.valid_from);
  for (std::size_t c = 0; c < kCategoryCount; ++c) {
    const auto& line = d.line;
    if (line.fixed[c] == 0 && line.per_sample[c] == 0 && line.per_forward[c] == 0) continue;
    text += fmt::format("\n  {}: {}", kCategoryNames[c],
                        sum_text(line.fixed[c], line.per_sample[c], line.per_forward[c]));
  }
  return text;
}

std::string as_latex(const Decomposition& d) {
  const auto term = [](std::int64_t value, const char* symbol, bool first) -> std::string {
    if (value == 0) return "";
    return fmt::format("{}{}{}", value < 0 ? "-" : first ? "" : "+", std::llabs(value), symbol);
  };
  std::string text = "M(N) = \\begin{cases}\n";
  for (const auto& piece : d.pieces) {
    const auto fixed = total(piece.line.fixed), slope = total(piece.line.per_sample),
               forward = total(piece.line.per_forward);
    auto sum = term(fixed, "", true);
    sum += term(slope, "\\,N", sum.empty());
    sum += term(forward, "\\,K", sum.empty());
    text += fmt::format("  {} & ", sum.empty() ? "0" : sum);
    text += piece.from == piece.to ? fmt::format("N = {}", piece.from)
                                   : fmt::format("{} \\le N \\le {}", piece.from, piece.to);
    text += " \\\\\n";
  }
  text += "\\end{cases}";
  if (counts_forwards(d)) text += fmt::format(" \\qquad K = N / {}", d.micro_batch);
  return text;
}

std::string js_bytes(const SignedBytes& bytes) {
  std::string text;
  for (std::size_t c = 0; c < kCategoryCount; ++c)
    if (bytes[c] != 0)
      text += fmt::format("{}{}: {}n", text.empty() ? "" : ", ", kCategoryNames[c], bytes[c]);
  return "{" + text + "}";
}

/// "peakFullBatch".
std::string js_name(GradientMode mode) {
  std::string result = "peak";
  bool upper = true;
  for (const char c : name(mode)) {
    if (c == '-') {
      upper = true;
    } else {
      result += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      upper = false;
    }
  }
  return result;
}

std::string as_js(const std::string& model, const Decomposition& d) {
  const auto micro = d.micro_batch == 0 ? "batch" : fmt::format("{}n", d.micro_batch);
  auto text = fmt::format(
      "// {}: bytes requested at the peak, by category; exact from {} to {}, beyond by the last "
      "line.\nfunction {}(samples) {{\n  const batch = BigInt(samples);\n"
      "  const forwards = (batch + {} - 1n) / {};\n  const pieces = [\n",
      Json(model).dump(-1, ' ', true, Json::error_handler_t::replace), d.pieces.front().from,
      d.pieces.back().to, js_name(d.mode), micro, micro);
  for (const auto& piece : d.pieces)
    text += fmt::format("    {{from: {}n, fixed: {}, perSample: {}, perForward: {}}},\n",
                        piece.from, js_bytes(piece.line.fixed), js_bytes(piece.line.per_sample),
                        js_bytes(piece.line.per_forward));
  return text +
         "  ];\n"
         "  const {fixed, perSample, perForward} = pieces.findLast((p) => p.from <= batch);\n"
         "  const bytes = {total: 0n};\n"
         "  const add = (part, times) => {\n"
         "    for (const [category, value] of Object.entries(part)) {\n"
         "      bytes[category] = (bytes[category] ?? 0n) + value * times;\n"
         "      bytes.total += value * times;\n"
         "    }\n"
         "  };\n"
         "  add(fixed, 1n);\n"
         "  add(perSample, batch);\n"
         "  add(perForward, forwards);\n"
         "  return bytes;\n"
         "}";
}

}  // namespace

std::string line_text(const BatchLine& line) {
  return sum_text(total(line.fixed), total(line.per_sample), total(line.per_forward));
}

std::string formula(const std::string& model, const Decomposition& decomposition,
                    FormulaStyle style) {
  if (decomposition.pieces.empty()) return "";
  switch (style) {
    case FormulaStyle::text: return as_text(model, decomposition);
    case FormulaStyle::latex: return as_latex(decomposition);
    case FormulaStyle::js: return as_js(model, decomposition);
  }
  return "";
}

}  // namespace arenagrad::cli
