// Each online strategy once more, as its rule reads and without a thought for speed: what the real
// ones are held against.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "allocator/caching.h"
#include "allocator/driver.h"

namespace arenagrad::testing {

using Pieces = std::vector<Driver::Piece>;

class Model {
 public:
  virtual ~Model() = default;
  /// The memory that the request gets, nothing when it is refused.
  virtual std::optional<Pieces> place(const Request& request) = 0;
  virtual void release(BufferId id) = 0;
  virtual std::size_t footprint() const = 0;
};

struct ModelContext {
  std::size_t capacity, granule, alignment;
  CachingSettings settings{};
};

/// Null for a strategy without one.
std::unique_ptr<Model> make_model(std::string_view strategy, const ModelContext& context);

// Used by the above.
std::unique_ptr<Model> make_heap_model(std::string_view strategy, const ModelContext& context);
std::unique_ptr<Model> make_caching_model(const ModelContext& context);
std::unique_ptr<Model> make_expandable_model(const ModelContext& context);
std::unique_ptr<Model> make_stitch_model(const ModelContext& context);

/// A request's size to PyTorch's rules.
std::size_t caching_size(const ModelContext& context, std::size_t bytes);

}  // namespace arenagrad::testing
