#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// The plan as a graph for Graphviz: a cluster per segment, fused node and body, an edge per value and reader with the
/// type it is stored at; values that live in registers are dashed, casts are named on their edges.
Result<Exported> writeDot(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
