#pragma once

#include "base/json_fwd.h"
#include "base/result.h"
#include "compilers/probed/compiler_input.h"

namespace fusescope {

/// Returns how TensorRT is asked for the types of a plan. For a target with strongly typed networks it is {typing:
/// "strong"}, because the network contains the types. Otherwise it is {typing: "layers", allowed[…], constraints:
/// "obey" | "prefer", precisions{node: type}, output_types{node: type}}: pins become types of layers, by the numbers of
/// their nodes, and TensorRT chooses the types of other layers among f32 and the allowed types. Also completes
/// `network.pins`. Errors: some pins must be obeyed and others are preferred, because TensorRT has one flag for all.
Result<Json> requestedTypes(CompilerInput& network);

}  // namespace fusescope
