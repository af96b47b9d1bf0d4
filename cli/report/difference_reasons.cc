#include "cli/report/difference_reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "allocator/units.h"

namespace arenagrad::cli {
namespace {

using Changes = std::array<bool, kCategoryCount>;

Changes of(std::initializer_list<Category> categories) {
  Changes changes{};
  for (const auto category : categories) changes[static_cast<std::size_t>(category)] = true;
  return changes;
}

/// What a step makes and lets go of again; how much of it is live depends on where in a step a run
/// is.
const Changes kPassing = of({Category::parameter_gradient, Category::input, Category::activation,
                             Category::stash, Category::activation_gradient, Category::workspace});

std::string text_of(const Json& json, const char* key) {
  if (!json.contains(key) || json[key].is_null()) return "none";
  return json[key].is_string() ? json[key].get<std::string>() : json[key].dump();
}

std::string samples(std::int64_t count) {
  return count == 1 ? "1 sample" : with_commas(count) + " samples";
}

/// Forward alone: nothing is kept for a backward, and what is said of one would be wrong.
bool without_backward(const Json& json) { return text_of(json, "run") == "no-grad"; }

/// What a step keeps at once: "takes all 8 samples at once".
std::string keeping(const Json& json) {
  const auto mode = text_of(json, "mode");
  const auto batch = json.value("batch", std::int64_t{1});
  const auto micro = std::max<std::int64_t>(json.value("micro_batch", batch), 1);
  const auto forwards = (batch + micro - 1) / micro;
  if (without_backward(json))
    return mode == "full-batch" || forwards == 1
               ? fmt::format("takes {} at once, forward alone, and keeps nothing for a backward",
                             samples(batch))
               : fmt::format(
                     "runs {} forwards of {} each, one after the other, and keeps nothing for a "
                     "backward",
                     with_commas(forwards), samples(micro));
  if (mode == "full-batch" || forwards == 1)
    return fmt::format("takes {} at once and keeps one forward of them until its backward",
                       samples(batch));
  if (mode == "accumulated-graph")
    return fmt::format("runs {} forwards of {} each and keeps all of them until the first backward",
                       with_commas(forwards), samples(micro));
  if (mode == "per-step")
    return fmt::format(
        "keeps one forward of {} at a time, {} times, and from the second on the gradients of all "
        "parameters beside it, to add to them",
        samples(micro), with_commas(forwards));
  return fmt::format(
      "gathers the outputs of {} forwards of {} without keeping more of them, then keeps one at a "
      "time, and the gradients of all parameters beside it, to add to them",
      with_commas(forwards), samples(micro));
}

std::string keeping_of_policy(const Json& json) {
  if (without_backward(json)) return "nothing, as it has no backward";
  const auto policy = text_of(json, "policy");
  return fmt::format(
      "{} ({})",
      policy == "pytorch" ? "what PyTorch's autograd keeps" : "what its own kernels read again",
      policy);
}

std::string keeping_of_recompute(const Json& json) {
  if (without_backward(json)) return "nothing for a backward, as it has none";
  const auto recompute = text_of(json, "recompute");
  return recompute == "none"
             ? "everything that backward reads"
             : fmt::format("the inputs of segments ({}), and runs their forward again in backward",
                           recompute);
}

std::string place(const Json& json) {
  if (!json.contains("peak_at") || json["peak_at"].is_null()) return "";
  const auto& at = json["peak_at"];
  const auto step = at.value("step", std::int64_t{0});
  auto text = at.at("phase").get<std::string>();
  if (at.contains("layer") && !at["layer"].is_null())
    text += " of " + at["layer"].get<std::string>();
  return step > 0 ? fmt::format("step {}, {}", step, text) : text;
}

/// The shape of a sample that is fed: "3x224x224"; empty where it isn't known, without events.
std::string image_of(const ReportInput& input) {
  if (!input.timeline) return "";
  for (const auto& kind : input.timeline->kinds)
    if (kind.category == Category::input)
      if (const auto cut = kind.shape.find('x'); cut != std::string::npos)
        return kind.shape.substr(cut + 1, kind.shape.find(' ') - cut - 1);
  return "";
}

std::string footprint(const Json& json) {
  const auto& bytes = json.at("bytes");
  return bytes.contains("footprint") && !bytes["footprint"].is_null()
             ? exact_bytes(bytes["footprint"].get<std::size_t>())
             : "none";
}

}  // namespace

std::vector<Reason> reasons(const ReportInput& a, const ReportInput& b) {
  using enum Category;
  std::vector<Reason> found;
  const auto both = [&](const char* key) {
    return std::pair(text_of(a.json, key), text_of(b.json, key));
  };
  const auto differ = [&](const char* key) {
    const auto [one, other] = both(key);
    return one != other;
  };
  const auto add = [&](std::string cause, Changes changes, std::string text) {
    found.push_back({std::move(cause), std::move(text), changes});
  };

  const auto hash = [](const Json& json) {
    return json.contains("spec") ? text_of(json["spec"], "hash") : std::string();
  };
  Changes all{};
  all.fill(true);
  if (differ("name") || hash(a.json) != hash(b.json))
    add("model", all,
        fmt::format("The models are not the same ({} and {}): anything may differ.",
                    both("name").first, both("name").second));
  if (differ("dtype"))
    add("dtype", all,
        fmt::format("A number is {} in A and {} in B.", both("dtype").first, both("dtype").second));
  if (const auto one = image_of(a), other = image_of(b);
      !one.empty() && !other.empty() && one != other)
    add("image size",
        of({input, activation, stash, activation_gradient, workspace, parameter, parameter_gradient,
            optimizer_state}),
        fmt::format("A sample is {} in A and {} in B.", one, other));

  std::string cause;
  for (const char* key : {"mode", "batch", "micro_batch"})
    if (differ(key)) cause += fmt::format("{}{}", cause.empty() ? "" : ", ", key);
  if (!cause.empty()) {
    std::replace(cause.begin(), cause.end(), '_', '-');
    auto changes = kPassing;
    changes[static_cast<std::size_t>(parameter_gradient)] = differ("mode");
    add(cause, changes, fmt::format("A {}; B {}.", keeping(a.json), keeping(b.json)));
  }
  const bool backward = !without_backward(a.json) || !without_backward(b.json);
  if (backward && differ("policy"))
    add("policy", of({input, activation, stash, workspace}),
        fmt::format("From forward to backward A keeps {}, B {}.", keeping_of_policy(a.json),
                    keeping_of_policy(b.json)));
  if (backward && differ("recompute"))
    add("recompute", of({input, activation, stash, activation_gradient, workspace}),
        fmt::format("A keeps {}; B {}.", keeping_of_recompute(a.json),
                    keeping_of_recompute(b.json)));
  if (differ("optimizer_settings") || differ("optimizer"))
    add("optimizer", of({optimizer_state}),
        fmt::format(
            "The optimizer is {} in A and {} in B: its state stays live from the first update on.",
            both("optimizer").first, both("optimizer").second));
  if (differ("run"))
    add("pass", kPassing,
        fmt::format("A runs in {}, B in {}.", both("run").first, both("run").second) +
            (without_backward(a.json) != without_backward(b.json)
                 ? fmt::format(
                       " {} has no backward: it keeps nothing for one and makes no gradients.",
                       without_backward(a.json) ? "A" : "B")
                 : ""));
  if (backward && differ("steps"))
    add("steps", of({parameter_gradient, optimizer_state}),
        fmt::format(
            "The number of steps is {} in A and {} in B: what the first update makes is there in "
            "later ones.",
            both("steps").first, both("steps").second));
  if (differ("device") || differ("workspace_included"))
    add("device", of({workspace, library, stash}),
        fmt::format("Kernels of {} and of {} ask for other scratch, and masks have other types.",
                    both("device").first, both("device").second));
  if (a.json.contains("layout") && b.json.contains("layout") && differ("layout"))
    add("layout", of({workspace, activation, activation_gradient}),
        fmt::format("Images lie as {} in A and as {} in B: engines ask for other scratch, and "
                    "flatten is a copy with the channels innermost.",
                    both("layout").first, both("layout").second));
  const auto at = std::pair(place(a.json), place(b.json));
  if (at.first != at.second)
    add("place of the peak", kPassing,
        fmt::format("A peaks in {}, B in {}: other buffers are live there.", at.first, at.second));
  if (differ("strategy"))
    add("strategy", {},
        fmt::format("The strategy ({} and {}) decides where buffers lie, not which are live: it "
                    "changes no peak, only the footprint, {} in A and {} in B.",
                    both("strategy").first, both("strategy").second, footprint(a.json),
                    footprint(b.json)));
  return found;
}

std::string causes(const std::vector<Reason>& reasons, std::size_t category) {
  std::string list;
  for (const auto& reason : reasons)
    if (reason.changes[category])
      list += fmt::format("{}{}", list.empty() ? "" : "; ", reason.cause);
  return list;
}

}  // namespace arenagrad::cli
