#pragma once

#include "base/json.h"
#include "base/result.h"
#include "compilers/probed/handed_network.h"

namespace fusescope {

/// How TensorRT is asked for the types of a plan. Planned for a target whose networks are strongly typed:
/// {typing: "strong"}, since the network that it is handed says them. Else {typing: "layers", allowed[…],
/// constraints: "obey" | "prefer", precisions{node: type}, output_types{node: type}}: pins are types of layers, by the
/// numbers of their nodes, and what is not pinned is TensorRT's own choice among f32 and the types that are allowed.
/// Also completes `network.pins`. Errors: some pins are to be obeyed and others preferred; it has one flag for all.
Result<Json> typesAsked(HandedNetwork& network);

}  // namespace fusescope
