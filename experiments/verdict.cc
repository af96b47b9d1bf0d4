#include "experiments/verdict.h"

#include <fmt/format.h>

namespace arenagrad {

double tolerance(DType dtype) { return dtype == DType::f64 ? 1e-11 : 1e-5; }

bool wants_f64(const Evidence& evidence, DType dtype) {
  return dtype != DType::f64 && evidence.same_computation && evidence.finite &&
         evidence.flips > 0 && !(evidence.rel_l2 <= tolerance(dtype)) && !evidence.rel_l2_f64;
}

Verdict judge(const Evidence& evidence, DType dtype) {
  if (!evidence.finite) return Verdict::different;
  if (evidence.rel_l2 <= tolerance(dtype)) return Verdict::equal;
  if (!evidence.same_computation) return Verdict::not_the_same;
  if (evidence.flips > 0 && evidence.rel_l2_f64 && *evidence.rel_l2_f64 <= tolerance(DType::f64))
    return Verdict::equal_up_to_flips;
  return Verdict::different;
}

std::string text(Verdict verdict, std::uint64_t flips) {
  switch (verdict) {
    case Verdict::equal: return "equal";
    case Verdict::equal_up_to_flips:
      return fmt::format("equal up to {} flip{}", flips, flips == 1 ? "" : "s");
    case Verdict::different: return "different";
    case Verdict::not_the_same: return "not the same computation";
  }
  return "";
}

}  // namespace arenagrad
