#pragma once

#include <string_view>

#include "compilers/compiler.h"
#include "probe/probe_job.h"

namespace fusescope {

/// Adds to `told` that `compiler` may multiply values of f32 in TF32, where its answer to `compile` says so: its member
/// "tf32" lists in which calculations.
void tellTf32(const ProbeAnswer& compiled, std::string_view compiler, ReadBack& told);

}  // namespace fusescope
