// Small steps of reading an object's members, each with the error it can end in.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "zoo/json.h"

namespace arenagrad {

void require_object(const JsonValue& json, std::string_view expected);
/// Fails at the first member that is not in `known`; `owner` is for the message: "conv2d".
void refuse_unknown_keys(const JsonValue& object, std::span<const std::string_view> known,
                         std::string_view owner);
/// Fails at the object when the member is missing; `expected` says what belongs there.
const JsonValue& required(const JsonValue& object, std::string_view key, std::string_view expected);
const std::string& string_of(const JsonValue& json, std::string_view expected);
/// A name: letters, digits, '_' and '-'. No dots: those join names of layers inside each other.
void check_name(const JsonValue& json, std::string_view name, std::string_view what);
/// Checks "description", if there is one.
void check_description(const JsonValue& object);

}  // namespace arenagrad
