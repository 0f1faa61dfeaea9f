#pragma once

#include <string_view>

#include "backends/backend.h"

namespace fusescope {

/// Its name.
inline constexpr std::string_view kReferenceBackend = "reference";

/// Plain C++ kernels, one operator after another: the oracle of every other backend and the fallback executor.
/// It runs any fused node at any types of a plan, also those that no kernel of ours has: operands are rounded to the
/// fused node's compute type, node math runs in float32, inner edges are rounded only where the plan says that they are
/// real, and outputs are stored at the plan's types. Where floats are narrower than float32, or a region is quantised,
/// its tactic is marked `emulated` on every machine, whatever the CPU has: right, its time means nothing. Its kernels
/// allocate while they run (ops' reference kernels return tensors). Lives for the whole program.
const Backend& referenceBackend();

}  // namespace fusescope
