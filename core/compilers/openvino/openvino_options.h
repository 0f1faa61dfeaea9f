#pragma once

#include "compilers/probed/probed_kind.h"

namespace fusescope {

/// The option "hint": the type that OpenVINO may calculate floats in.
inline constexpr const char* kHintAsPlanned = "as_planned";

/// The hint that OpenVINO is asked with for a plan; Undefined: its option names no type.
DataType openvinoHint(const Plan& plan);

/// What OpenVINO is asked with: {hint, keep[], threads}. OpenVINO knows one type below f32 for a whole network, its
/// hint, and operators that are kept from it. As planned, the hint is the type below f32 of most nodes. Kept are nodes
/// that are pinned to f32; where nothing but pins asks for the hint's type, all nodes that the plan has in f32.
/// Completes `network.pins`. Errors: a hint that there is not.
Result<Json> openvinoOptions(HandedNetwork& network, const BuildOptions& options);

}  // namespace fusescope
