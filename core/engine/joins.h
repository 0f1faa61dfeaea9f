#pragma once

#include "engine/program.h"

namespace fusescope {

/// Lets each Concat be made in place whose operands are plain, lie together in it, and are made by kernels for the
/// arena: they are written where they are wanted, and the step goes. For a program whose outputs have their places.
void joinInPlace(Program& program, const Plan& plan);

/// After extents changed: where the operands of a join begin. False where they do not lie together any more.
bool placeJoin(Program& program, const Join& join);

}  // namespace fusescope
