// A timeline as JSON: tables of names, and one text in which each event is a number or a few, as
// differences to the event before. What repeats step by step then takes two letters an event.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "allocator/error.h"
#include "cli/report/digits.h"
#include "cli/report/timeline.h"

namespace arenagrad::cli {
namespace {

using What = TimelineEvent::What;

/// The low three bits of a number say what it is, the others, zigzag, a difference.
enum class Tag : std::uint8_t { free, again, allocate, scope, step, micro, driver };

/// Where the last allocation of a buffer was.
struct Place {
  std::uint32_t kind = 0;
  std::uint64_t offset = 0, granted = 0;
  bool live = false;
  std::int64_t micro = -1;
};

/// What differences are taken to; writer and reader keep the same.
struct State {
  std::int64_t buffer = -1, kind = -1, scope = -1, step = 0, micro = 0;
  std::uint64_t end = 0, driver = 0;  // of the last allocation; the last driver call's offset
  std::unordered_map<std::uint32_t, Place> places;
};

class Writer {
 public:
  std::string code(const Timeline& timeline) {
    for (const auto& event : timeline.events) {
      move(Tag::step, state_.step, event.step);
      move(Tag::scope, state_.scope, event.scope);
      if (event.what == What::free) {
        tagged(Tag::free, event.buffer - state_.buffer);
        state_.buffer = event.buffer;
      } else if (event.what == What::allocate) {
        allocate(timeline, event);
      } else {
        tagged(Tag::driver, static_cast<std::int64_t>(event.what));
        put_digits(text_, zigzag(static_cast<std::int64_t>(event.offset - state_.driver)));
        put_digits(text_, event.granted);
        state_.driver = event.offset;
      }
    }
    return std::move(text_);
  }

 private:
  void tagged(Tag tag, std::int64_t difference) {
    put_digits(text_, zigzag(difference) * 8 + static_cast<std::uint64_t>(tag));
  }
  void move(Tag tag, std::int64_t& from, std::int64_t to) {
    if (from != to) tagged(tag, to - from);
    from = to;
  }

  void allocate(const Timeline& timeline, const TimelineEvent& event) {
    const auto& kind = timeline.kinds[event.kind];
    if (kind.micro) move(Tag::micro, state_.micro, event.micro);
    const auto found = state_.places.find(event.buffer);
    if (found != state_.places.end() && found->second.kind == event.kind &&
        found->second.offset == event.offset && found->second.granted == event.granted) {
      tagged(Tag::again, event.buffer - state_.buffer);
    } else {
      tagged(Tag::allocate, event.buffer - state_.buffer);
      put_digits(text_, zigzag(event.kind - state_.kind));
      put_digits(text_, zigzag(static_cast<std::int64_t>(event.offset - state_.end)));
      put_digits(text_, zigzag(static_cast<std::int64_t>(event.granted - kind.bytes)));
      state_.places[event.buffer] = {event.kind, event.offset, event.granted};
      state_.kind = event.kind;
    }
    state_.buffer = event.buffer;
    state_.end = event.offset + event.granted;
  }

  State state_;
  std::string text_;
};

class Reader {
 public:
  explicit Reader(Timeline& timeline) : timeline_(timeline) {}

  void read(std::string_view code) {
    DigitReader digits(code);
    while (!digits.done()) {
      const auto number = digits.next();
      const auto difference = unzigzag(number / 8);
      switch (static_cast<Tag>(number % 8)) {
        case Tag::step: state_.step = plus(state_.step, difference); break;
        case Tag::micro: state_.micro = plus(state_.micro, difference); break;
        case Tag::scope:
          state_.scope = inside(plus(state_.scope, difference), timeline_.scopes.size(), "scope");
          break;
        case Tag::free: free(difference); break;
        case Tag::again: again(difference); break;
        case Tag::allocate: allocate(difference, digits); break;
        case Tag::driver: driver(difference, digits); break;
        default: refuse("a tag below 7", number % 8);
      }
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& expected, std::int64_t got) const {
    throw Error(fmt::format("events: expected {}, got {} after event {}", expected, got,
                            timeline_.events.size()));
  }
  /// Sums that wrap around are caught where they are used.
  static std::int64_t plus(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
  std::int64_t inside(std::int64_t value, std::size_t size, const char* what) const {
    if (value < 0 || value >= static_cast<std::int64_t>(size))
      refuse(fmt::format("a {} below {}", what, size), value);
    return value;
  }
  std::uint32_t buffer(std::int64_t difference) {
    state_.buffer = inside(plus(state_.buffer, difference),
                           std::numeric_limits<std::uint32_t>::max(), "buffer");
    return static_cast<std::uint32_t>(state_.buffer);
  }
  void add(What what, std::uint32_t id, const Place& place) {
    if (state_.scope < 0) refuse("a scope first", state_.scope);
    timeline_.events.push_back({what, static_cast<std::uint32_t>(state_.scope), state_.step,
                                place.micro, id, place.kind, place.offset, place.granted});
  }

  void free(std::int64_t difference) {
    const auto id = buffer(difference);
    const auto found = state_.places.find(id);
    if (found == state_.places.end() || !found->second.live) refuse("a live buffer", id);
    found->second.live = false;
    add(What::free, id, found->second);
  }
  void born(std::uint32_t id, Place& place) {
    if (place.live) refuse("a buffer that isn't live", id);
    place.live = true;
    place.micro = timeline_.kinds[place.kind].micro ? state_.micro : -1;
    state_.end = place.offset + place.granted;
    add(What::allocate, id, place);
  }
  void again(std::int64_t difference) {
    const auto id = buffer(difference);
    const auto found = state_.places.find(id);
    if (found == state_.places.end()) refuse("a buffer that was live before", id);
    born(id, found->second);
  }
  void allocate(std::int64_t difference, DigitReader& digits) {
    const auto id = buffer(difference);
    auto& place = state_.places[id];
    state_.kind = inside(plus(state_.kind, digits.next_signed()), timeline_.kinds.size(), "kind");
    place.kind = static_cast<std::uint32_t>(state_.kind);
    place.offset = state_.end + static_cast<std::uint64_t>(digits.next_signed());
    place.granted =
        timeline_.kinds[place.kind].bytes + static_cast<std::uint64_t>(digits.next_signed());
    born(id, place);
  }
  void driver(std::int64_t which, DigitReader& digits) {
    if (which < static_cast<std::int64_t>(What::reserve) ||
        which > static_cast<std::int64_t>(What::unmap))
      refuse("a driver call from 2 to 7", which);
    Place place;
    state_.driver += static_cast<std::uint64_t>(digits.next_signed());
    place.offset = state_.driver;
    place.granted = digits.next();
    add(static_cast<What>(which), 0, place);
  }

  Timeline& timeline_;
  State state_;
};

Category category_of(const std::string& text) {
  const auto at = std::find(kCategoryNames.begin(), kCategoryNames.end(), text);
  if (at == kCategoryNames.end())
    throw Error("timeline/kinds: expected a category, got '" + text + "'");
  return static_cast<Category>(at - kCategoryNames.begin());
}

std::int64_t layer_of(const Json& json, const Timeline& timeline) {
  const auto layer = json.get<std::int64_t>();
  if (layer < -1 || layer >= static_cast<std::int64_t>(timeline.layers.size()))
    throw Error(
        fmt::format("timeline: expected a layer below {}, got {}", timeline.layers.size(), layer));
  return layer;
}

}  // namespace

Json to_json(const Timeline& timeline) {
  Json json = {{"alignment", timeline.alignment}, {"events", timeline.events.size()}};
  json["layers"] = timeline.layers;
  json["scopes"] = Json::array();
  for (const auto& scope : timeline.scopes)
    json["scopes"].push_back({{"phase", scope.phase}, {"layer", scope.layer}});
  json["kinds"] = Json::array();
  for (const auto& kind : timeline.kinds)
    json["kinds"].push_back({{"name", kind.name},
                             {"category", name(kind.category)},
                             {"shape", kind.shape},
                             {"bytes", kind.bytes},
                             {"layer", kind.layer},
                             {"micro", kind.micro}});
  json["code"] = Writer().code(timeline);
  return json;
}

Timeline read_timeline(const Json& json) try {
  Timeline timeline;
  timeline.alignment = json.at("alignment").get<std::size_t>();
  for (const auto& layer : json.at("layers")) timeline.layers.push_back(layer.get<std::string>());
  for (const auto& scope : json.at("scopes"))
    timeline.scopes.push_back(
        {scope.at("phase").get<std::string>(), layer_of(scope.at("layer"), timeline)});
  for (const auto& kind : json.at("kinds"))
    timeline.kinds.push_back(
        {kind.at("name").get<std::string>(), category_of(kind.at("category").get<std::string>()),
         kind.at("shape").get<std::string>(), kind.at("bytes").get<std::size_t>(),
         layer_of(kind.at("layer"), timeline), kind.at("micro").get<bool>()});
  Reader(timeline).read(json.at("code").get_ref<const std::string&>());
  if (const auto events = json.at("events").get<std::size_t>(); events != timeline.events.size())
    throw Error(fmt::format("timeline/events: expected {}, got {} in the code", events,
                            timeline.events.size()));
  return timeline;
} catch (const Json::exception& error) {
  throw Error(std::string("timeline: ") + error.what());
}

}  // namespace arenagrad::cli
