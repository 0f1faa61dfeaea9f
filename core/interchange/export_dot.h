#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// Writes the plan as a graph for Graphviz: a cluster for each segment, fused node and body, and an edge for each value
/// and reader, labelled with the stored type. Values that exist only in registers are dashed; casts are written on
/// their edges.
Result<Exported> writeDot(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
