// A validator for the part of JSON Schema (draft 7) that zoo/spec.schema.json uses. Knows nothing
// of specs, so that it can contradict their reader.
#pragma once

#include <string>

#include "zoo/json.h"

namespace arenagrad {

/// Empty when `value` is valid; else where and why not. Throws std::logic_error for a keyword that
/// it doesn't know: a schema must not be taken for stricter than it is.
std::string schema_violation(const JsonValue& schema, const JsonValue& value);

}  // namespace arenagrad
