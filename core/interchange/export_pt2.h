#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// Writes the exported program (.pt2) of the network with PyTorch's casts around the nodes that the plan lowers
/// (frontends/torch/program_casts.h). Everything else in the file keeps its bytes. The network must have been made from
/// the program by torch (`fusescope import`), because its nodes then refer to those of the program. Errors: the plan is
/// of another file, quantises, lowers nothing, or lowers to two types.
Result<Exported> writePt2(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
