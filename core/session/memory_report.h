#pragma once

#include "base/json.h"
#include "base/result.h"
#include "engine/memory_timeline.h"

namespace fusescope {

/// {arena_bytes, caller_bytes, boxed, holders, steps[{name, identity}], pieces[{name, bytes, first, last, scratch}]}:
/// as in a session and in what the worker answers a build with.
Json toJson(const MemoryTimeline& memory);
/// The inverse. Errors name the field; a piece of steps that are not there.
Result<MemoryTimeline> memoryTimelineFromJson(const Json& json);

/// The same for `inspect --memory`: besides, of each step `taken_bytes`, and `peak{step, name, bytes, pieces[]}` with
/// the pieces that are there, the largest first.
Json memoryJson(const MemoryTimeline& memory);

}  // namespace fusescope
