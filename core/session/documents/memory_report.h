#pragma once

#include "base/json_fwd.h"
#include "base/result.h"
#include "engine/program/memory_timeline.h"

namespace fusescope {

/// Returns {arena_bytes, caller_bytes, boxed, holders, steps[{name, identity}], pieces[{name, bytes, first, last,
/// scratch}]}, the form in sessions and in the worker's answer to a build.
Json toJson(const MemoryTimeline& memory);
/// Reads what toJson() wrote. Errors name the field; a piece refers to a missing step.
Result<MemoryTimeline> memoryTimelineFromJson(const Json& json);

/// Returns the same for `inspect --memory`, with `taken_bytes` of each step and `peak{step, name, bytes, pieces[]}`,
/// whose pieces are listed with the largest first.
Json memoryJson(const MemoryTimeline& memory);

}  // namespace fusescope
