// One growing heap whose free blocks merge with their neighbours: best-fit and first-fit.
#include "allocator/fit_rule.h"
#include "allocator/growing_heap.h"

namespace arenagrad {

std::unique_ptr<AllocationStrategy> make_best_fit(const StrategyContext& context) {
  return std::make_unique<HeapStrategy<FitRule<Fit::best>>>(context);
}

std::unique_ptr<AllocationStrategy> make_first_fit(const StrategyContext& context) {
  return std::make_unique<HeapStrategy<FitRule<Fit::first>>>(context);
}

}  // namespace arenagrad
