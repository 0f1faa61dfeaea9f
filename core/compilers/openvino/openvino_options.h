#pragma once

#include "compilers/probed/probed_kind.h"

namespace fusescope {

/// The default of the option "hint", which names the type in which OpenVINO may calculate floats.
inline constexpr const char* kHintAsPlanned = "as_planned";

/// Returns the type that OpenVINO gets as its hint for a plan; Undefined if the option names no type.
DataType openvinoHint(const Plan& plan);

/// Returns OpenVINO's options {hint, keep[], threads}. OpenVINO has one type narrower than f32 for a whole network, its
/// hint, and a list of operators that are excluded from it. With the default hint it is the narrow type of most nodes.
/// Excluded are nodes that are pinned to f32; if only pins ask for the hint's type, all nodes are excluded that the
/// plan calculates in f32. Also completes `network.pins`. Errors: an unknown hint.
Result<Json> openvinoOptions(CompilerInput& network, const BuildOptions& options);

}  // namespace fusescope
