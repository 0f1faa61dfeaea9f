#pragma once

#include <vector>

#include "analysis/liveness.h"
#include "engine/program/program.h"

namespace fusescope {

/// Returns for each buffer of a program, then for the scratch of each step, when it is in an arena and how many bytes
/// it needs there. The bytes are 0 if it is elsewhere or within another buffer.
std::vector<BufferLife> arenaLives(const Program& program);

/// Returns the bytes of inputs and outputs, which belong to the caller and are in memory during the whole run.
std::size_t bytesOfCaller(const Program& program);

}  // namespace fusescope
