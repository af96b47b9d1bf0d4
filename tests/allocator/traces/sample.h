#pragma once

#include "allocator/traces/formats.h"

namespace arenagrad::testing {

/// A step of training in small: everything an event can say, and a buffer that outlives the end.
inline constexpr const char* kSmallTrace =
    R"({"arenagrad_trace":1,"name":"small \"net\"","alignment":64}
{"op":"scope","phase":"setup"}
{"op":"reserve","offset":0,"bytes":4194304}
{"op":"commit","offset":0,"bytes":2097152}
{"op":"allocate","id":0,"bytes":100,"granted":128,"offset":0,"category":"parameter","name":"conv1.weight"}
{"op":"scope","step":1,"phase":"forward","layer":"conv1"}
{"op":"allocate","id":1,"bytes":4000,"granted":4032,"offset":128,"category":"activation","name":"conv1 output \u00e9"}
{"op":"allocate","id":2,"bytes":64,"granted":64,"offset":4160,"category":"workspace","name":"conv1 workspace"}
{"op":"free","id":2}
{"op":"scope","step":1,"phase":"backward","layer":"conv1"}
{"op":"commit","offset":2097152,"bytes":2097152}
{"op":"allocate","id":3,"bytes":2097152,"granted":2097152,"offset":1048576,"category":"activation_gradient","name":"big"}
{"op":"refuse","id":4,"bytes":9000000,"category":"stash","name":"too much"}
{"op":"free","id":3}
{"op":"free","id":1}
{"op":"decommit","offset":2097152,"bytes":2097152}
{"op":"scope","step":2,"phase":"forward","layer":"conv1"}
{"op":"allocate","id":1,"bytes":50,"granted":64,"offset":128,"name":"plain"}
)";

}  // namespace arenagrad::testing
