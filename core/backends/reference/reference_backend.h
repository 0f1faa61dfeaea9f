#pragma once

#include <string_view>

#include "backends/backend.h"

namespace fusescope {

/// The name of the reference backend.
inline constexpr std::string_view kReferenceBackend = "reference";

/// Returns the backend of plain C++ kernels, which run one operator after another: the reference for every other
/// backend, and the executor of fallback segments. It runs any fused node in any types of a plan, including those for
/// which no other kernel exists: operands are rounded to the fused node's compute type, nodes calculate in float32,
/// inner edges are rounded only if the plan says that they are real, and outputs are stored in the plan's types. If
/// floats are narrower than float32, or a region is quantised, its tactic is marked `emulated` on every machine: the
/// result is right, but its time is meaningless. Its kernels allocate memory while they run, because the reference
/// kernels of operators return tensors. It exists for the whole run of the process.
const Backend& referenceBackend();

}  // namespace fusescope
