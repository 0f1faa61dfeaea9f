#pragma once

#include "engine/program/program.h"

namespace fusescope {

/// Removes Concat steps whose operands can be written directly into the result: each operand must be plain, contiguous
/// in the result, and made by a kernel in the arena. The outputs of the program must have their places already.
void joinInPlace(Program& program, const Plan& plan);

/// Recomputes where the operands of a join begin after extents changed. Returns false if the operands are no longer
/// contiguous in the result.
bool placeJoin(Program& program, const Join& join);

}  // namespace fusescope
