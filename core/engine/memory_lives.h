#pragma once

#include <vector>

#include "analysis/liveness.h"
#include "engine/program.h"

namespace fusescope {

/// When each buffer of a program, then each step's scratch, is in an arena, and how many bytes it needs there: 0 for
/// what lies elsewhere or in another buffer.
std::vector<BufferLife> arenaLives(const Program& program);

/// Of inputs and outputs, which are the caller's, and there all the time.
std::size_t bytesOfCaller(const Program& program);

}  // namespace fusescope
