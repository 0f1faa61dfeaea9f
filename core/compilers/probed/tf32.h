#pragma once

#include <string_view>

#include "compilers/compiler.h"
#include "probe/probe_job.h"

namespace fusescope {

/// Adds to `readBack` that `compiler` may multiply f32 values in TF32, if its answer to `compile` says so: the member
/// "tf32" of the answer lists the kinds of calculations.
void addTf32Decision(const ProbeAnswer& compiled, std::string_view compiler, ReadBack& readBack);

}  // namespace fusescope
